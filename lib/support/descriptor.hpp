// A file descriptor with an owner, and system calls on descriptors that glibc before 2.34 lacks.
#ifndef ADAPTYST_LIB_SUPPORT_DESCRIPTOR_HPP
#define ADAPTYST_LIB_SUPPORT_DESCRIPTOR_HPP

#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

// The same on all architectures: include/uapi/asm-generic/unistd.h of Linux 5.1 to 5.9. Older kernels return ENOSYS.
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

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
