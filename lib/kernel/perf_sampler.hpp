// Samples stacks by perf_event_open(), for users without privileges: the CPU clock of threads, in user space only.
//
// One ring per processor: the kernel maps no ring of inherited events of all processors. The rings of one user share
// kernel.perf_event_mlock_kb per processor, so each ring is halved until the kernel accepts it. Stacks follow frame
// pointers. The kernel writes the rings; addresses and numbers in a stack are the program's.
#ifndef ADAPTYST_LIB_KERNEL_PERF_SAMPLER_HPP
#define ADAPTYST_LIB_KERNEL_PERF_SAMPLER_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "../support/descriptor.hpp"
#include "../support/error.hpp"

namespace adaptyst::lib {

struct perf_sample {
  pid_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t time_ns = 0;          // CLOCK_MONOTONIC
  std::vector<std::uint64_t> frames;  // addresses, innermost first
};

// Losses that the kernel reports in the rings.
struct perf_losses {
  std::uint64_t ring_full = 0;  // samples
  std::uint64_t throttled = 0;  // times that the kernel stopped a clock until its next tick
};

// The content of a ring: `bytes` of records, a power of two, which the kernel overwrites after the read.
class perf_records {
 public:
  using taker = std::function<void(const perf_sample&)>;

  // Takes the records from `tail` to `head`. Ignores the rest after a damaged record, which counts as a lost sample.
  static void take(const char* ring, std::size_t bytes, std::uint64_t tail, std::uint64_t head, perf_losses& lost,
                   const taker& visit);
};

class perf_sampler {
 public:
  // Begin of the sampling of a process: when it becomes another program, or at once.
  enum class begin { at_exec, at_once };
  static constexpr std::size_t default_ring_pages = 8;  // so that the rings of 14 observers fit the default limit

  // `period_ns`: CPU time of a thread between two samples. `ring_pages`: a power of two.
  explicit perf_sampler(std::uint64_t period_ns, std::size_t ring_pages = default_ring_pages)
      : period_ns_(period_ns), ring_pages_(ring_pages) {}

  // Samples a process, and all threads and processes that it will start. A repeated call changes nothing. False: none
  // of its threads could be sampled, because they ended or there are too many. Throws error, and has then no effect.
  bool add(pid_t process, begin when);
  // Takes the samples since the last call.
  void read(const perf_records::taker& visit);
  void stop() noexcept;

  std::uint64_t period_ns() const noexcept { return period_ns_; }
  const perf_losses& lost() const noexcept { return lost_; }
  // Threads without descriptors for their events.
  std::uint64_t unsampled_threads() const noexcept { return unsampled_threads_; }

 private:
  struct ring {
    int event;  // the first event of the processor
    std::size_t bytes;
    void* mapped;
    std::size_t page;

    ring(int of, std::size_t pages);  // throws error
    ~ring();
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
  };

  // Number of threads that are sampled now. Throws error.
  std::size_t add_threads(pid_t process, begin when);
  // Opens the events of a thread on all processors; else false, with errno: ESRCH or EMFILE. Throws error.
  bool add_thread(pid_t thread, begin when);
  void close_events(std::size_t keep) noexcept;

  std::uint64_t period_ns_;
  std::size_t ring_pages_;
  std::vector<std::unique_ptr<ring>> rings_;  // by processor; null: none
  std::vector<descriptor> events_;
  std::set<pid_t> processes_;
  perf_losses lost_;
  std::uint64_t unsampled_threads_ = 0;
};

// Why this user cannot sample stacks without eBPF; empty: it can.
std::optional<error> find_perf_refusal();

}  // namespace adaptyst::lib

#endif
