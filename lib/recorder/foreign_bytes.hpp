// How much of our memory is taken by what other processes have written.
#ifndef ADAPTYST_LIB_RECORDER_FOREIGN_BYTES_HPP
#define ADAPTYST_LIB_RECORDER_FOREIGN_BYTES_HPP

#include <cstddef>

namespace adaptyst::lib {

// Counts memory against two limits: 768 MiB for one holder, and 1 GiB for all holders of this process together. Thread-safe as far as
// different holders go.
class foreign_bytes {
 public:
  foreign_bytes() = default;
  ~foreign_bytes() { give_back(bytes_); }
  foreign_bytes(const foreign_bytes&) = delete;
  foreign_bytes& operator=(const foreign_bytes&) = delete;

  // False: a limit is reached.
  bool reserve(std::size_t more) noexcept;
  void give_back(std::size_t bytes) noexcept;
  // Reserves or gives back until it is as much. False: a limit is reached, and it is 0 now.
  bool hold(std::size_t bytes) noexcept;

 private:
  std::size_t bytes_ = 0;
};

}  // namespace adaptyst::lib

#endif
