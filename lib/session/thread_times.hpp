// The time that the threads of a process have spent on and off their cores, from /proc while they exist.
#ifndef ADAPTYST_LIB_SESSION_THREAD_TIMES_HPP
#define ADAPTYST_LIB_SESSION_THREAD_TIMES_HPP

#include <sys/types.h>

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace adaptyst::lib {

class thread_times {
 public:
  // At most this many threads are read, each at a cost of about 10 microseconds.
  static constexpr std::size_t max_looked_at = 256;

  // Reads the threads of an existing process, if the last read is a second old, or a quarter of the time since the
  // first.
  void poll(pid_t process, std::uint64_t now_ns);
  // The threads with the longest time on a core, up to process_info::max_threads; includes ended threads as last read.
  std::vector<thread_info> list() const;

 private:
  std::uint64_t first_ns_ = 0, last_ns_ = 0;
  // By number and start: numbers are used again.
  std::map<std::pair<std::int64_t, std::uint64_t>, thread_info> threads_;
};

// Fields of the files stat and schedstat of a thread. Empty: their content is unexpected.
struct thread_stat {
  std::string name;
  std::uint64_t started_ticks = 0;
  std::optional<std::uint32_t> last_cpu{};
};
std::optional<thread_stat> parse_thread_stat(std::string_view text);
struct thread_schedstat {
  std::uint64_t on_cpu_ns = 0, runnable_ns = 0;
};
// Also empty if the kernel does not account for the time of threads.
std::optional<thread_schedstat> parse_thread_schedstat(std::string_view text);

}  // namespace adaptyst::lib

#endif
