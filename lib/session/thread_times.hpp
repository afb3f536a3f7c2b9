// What the threads of a process have spent on and off their cores, as /proc tells while they exist.
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
  // At most this many threads are looked at, each at the price of some 10 microseconds.
  static constexpr std::size_t max_looked_at = 256;

  // Looks at the threads of a process that exists, if the last look is a second old, or a quarter of the time since the first.
  void look_at(pid_t process, std::uint64_t now_ns);
  // Those that were longest on a core, up to process_info::max_threads; also of those that have ended what is known.
  std::vector<thread_info> list() const;

 private:
  std::uint64_t first_ns_ = 0, last_ns_ = 0;
  std::map<std::pair<std::int64_t, std::uint64_t>, thread_info> known_;  // by number and start: numbers are used again
};

// Of the files stat and schedstat of a thread. Empty: they say something else than they should.
struct thread_stat {
  std::string name;
  std::uint64_t started_ticks = 0;
  std::optional<std::uint32_t> last_cpu{};
};
std::optional<thread_stat> parse_thread_stat(std::string_view text);

}  // namespace adaptyst::lib

#endif
