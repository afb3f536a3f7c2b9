// Declarations of C library and kernel functions. <time.h>, <errno.h>, <link.h>, <pthread.h>, <sys/mman.h> and
// <sys/syscall.h> would take longer to compile than a third of these headers.
//
// Our names are bound to the library's by labels: a program may include the real declarations as well. Types and
// constants: 64-bit Linux, glibc and musl.
#ifndef ADAPTYST_DETAIL_SYSTEM_HPP
#define ADAPTYST_DETAIL_SYSTEM_HPP

#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>

namespace adaptyst { inline namespace v1 { namespace detail { namespace system {

struct time {  // timespec
  int64_t seconds, nanoseconds;
};

constexpr int clock_monotonic = 1;
constexpr int read_only = 0x1, read_write = 0x1 | 0x2;  // PROT_
constexpr int private_memory = 0x02 | 0x20 | 0x4000;    // MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
constexpr int shared_file = 0x01 | 0x4000;              // MAP_SHARED, MAP_NORESERVE
constexpr int in_place = 0x10;                          // MAP_FIXED
constexpr int wipe_on_fork = 18;                        // MADV_
constexpr int not_in_core_dumps = 16;                   // MADV_
constexpr int populate_to_write = 23;                   // MADV_, from Linux 5.14
constexpr int no_such_process = 3;                      // ESRCH
constexpr int interrupted = 4;                          // EINTR

int get_time(int clock, time* now) noexcept __asm__("clock_gettime");
int* error_number() noexcept __asm__("__errno_location");
void* map(void* address, size_t bytes, int rights, int flags, int file, int64_t offset) noexcept __asm__("mmap");
int unmap(void* address, size_t bytes) noexcept __asm__("munmap");
int advise(void* address, size_t bytes, int advice) noexcept __asm__("madvise");
int make_key(unsigned* key, void (*destructor)(void*)) noexcept __asm__("pthread_key_create");
int delete_key(unsigned key) noexcept __asm__("pthread_key_delete");
void* get_value(unsigned key) noexcept __asm__("pthread_getspecific");
int set_value(unsigned key, const void* value) noexcept __asm__("pthread_setspecific");
char* environment(const char* name) noexcept __asm__("secure_getenv");
long call(long number, ...) noexcept __asm__("syscall");
// The argument of the callback is a dl_phdr_info.
int for_each_object(int (*callback)(void*, size_t, void*), void* data) __asm__("dl_iterate_phdr");

// Restores errno when its lifetime ends: a marker may be between a call of the program and its check of errno.
class errno_kept {
 public:
  errno_kept() noexcept : before_(*error_number()) {}
  ~errno_kept() { *error_number() = before_; }
  errno_kept(const errno_kept&) = delete;
  errno_kept& operator=(const errno_kept&) = delete;

 private:
  int before_;
};

}}}}  // namespace adaptyst::v1::detail::system

#endif
