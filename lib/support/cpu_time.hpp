// CPU time in nanoseconds of the calling thread, of this process, and of another process.
#ifndef ADAPTYST_LIB_SUPPORT_CPU_TIME_HPP
#define ADAPTYST_LIB_SUPPORT_CPU_TIME_HPP

#include <sys/types.h>

#include <cstdint>
#include <ctime>

namespace adaptyst::lib {

// 0: there is no such clock.
inline std::uint64_t read_cpu_clock(clockid_t clock) noexcept {
  timespec used{};
  if (clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(used.tv_nsec);
}
inline std::uint64_t thread_cpu_ns() noexcept { return read_cpu_clock(CLOCK_THREAD_CPUTIME_ID); }
inline std::uint64_t process_cpu_ns() noexcept { return read_cpu_clock(CLOCK_PROCESS_CPUTIME_ID); }
// 0: there is no such process.
inline std::uint64_t process_cpu_ns(pid_t process) noexcept {
  clockid_t clock{};
  return clock_getcpuclockid(process, &clock) == 0 ? read_cpu_clock(clock) : 0;
}

}  // namespace adaptyst::lib

#endif
