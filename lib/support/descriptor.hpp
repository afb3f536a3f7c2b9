// A file descriptor with an owner.
#ifndef ADAPTYST_LIB_SUPPORT_DESCRIPTOR_HPP
#define ADAPTYST_LIB_SUPPORT_DESCRIPTOR_HPP

#include <unistd.h>

#include <utility>

namespace adaptyst::lib {

class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}
  ~descriptor() { reset(); }
  descriptor(descriptor&& other) noexcept : number_(other.release()) {}
  descriptor& operator=(descriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }

  explicit operator bool() const noexcept { return number_ >= 0; }
  int get() const noexcept { return number_; }
  int release() noexcept { return std::exchange(number_, -1); }
  void reset(int number = -1) noexcept {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_;
};

}  // namespace adaptyst::lib

#endif
