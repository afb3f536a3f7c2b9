// Samples stacks by perf_event_open(), for users without privileges: the CPU clock of threads, in user space only unless
// include_kernel() is called.
//
// The sampler has one ring per processor: the kernel maps no ring of inherited events of all processors. The rings of a
// user share kernel.perf_event_mlock_kb per processor, so each ring is halved until the kernel accepts it. Stacks follow frame
// pointers, or are copied with the registers. The kernel writes the rings; addresses, numbers and copies are the
// program's.
#ifndef ADAPTYST_LIB_KERNEL_PERF_SAMPLER_HPP
#define ADAPTYST_LIB_KERNEL_PERF_SAMPLER_HPP

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "../support/descriptor.hpp"
#include "../support/error.hpp"

namespace adaptyst::lib {

// No ring is large enough: other observers of this user have the locked memory.
class no_ring_room : public error {
 public:
  using error::error;
};

struct perf_sample {
  pid_t process = 0;
  std::uint32_t thread = 0;
  std::uint64_t time_ns = 0;             // CLOCK_MONOTONIC
  std::uint32_t samples = 1;             // that have this stack
  std::uint64_t clock = 0;               // number of the opened clock that it is of, or was inherited from
  std::vector<std::uint64_t> frames;     // addresses, innermost first; only the kernel's if the stack was copied
  std::vector<std::uint64_t> registers;  // empty: not copied, or those of a program of 32 bits
  std::vector<char> stack;               // from the stack pointer on
};

// Losses that the kernel reports in the rings.
struct perf_losses {
  std::uint64_t ring_full = 0;  // samples
  std::uint64_t throttled = 0;  // times that the kernel stopped a clock until its next tick
};

// The content of a ring: `bytes` of records, a power of two, which the kernel overwrites after the read.
class perf_records {
 public:
  using taker = std::function<void(perf_sample&)>;  // may swap the sample; its memory is used again

  // Takes the records from `tail` to `head`. Ignores the rest after a damaged record, which counts as a lost sample.
  // `registers`: their number in samples with copies of stacks; 0: samples have frames only.
  static void take(const char* ring, std::size_t bytes, std::uint64_t tail, std::uint64_t head, std::size_t registers,
                   perf_losses& lost, const taker& visit);
};

class perf_sampler {
 public:
  // Begin of the sampling of a process: when it becomes another program, or at once.
  enum class begin { at_exec, at_once };
  static constexpr std::size_t default_ring_pages = 8;  // so that the rings of 14 observers fit the default limit
  static constexpr std::size_t max_stack_bytes = std::size_t{63} << 10U, min_stack_bytes = std::size_t{8} << 10U;

  // `period_ns`: CPU time of a thread between two samples. `ring_pages`: a power of two.
  explicit perf_sampler(std::uint64_t period_ns, std::size_t ring_pages = default_ring_pages)
      : period_ns_(period_ns), ring_pages_(ring_pages) {}

  // The default limit of one user, 129 pages, has room for one observer with large rings and one with small ones.
  static constexpr std::size_t large_ring_pages = 64, small_ring_pages = 32;

  // Samples have copies of these registers (a mask) and of the stack instead of frames. Call it before add(). The copies
  // are so small that a ring has room for eight, and for 80 ms; add() makes them smaller if another ring has less room.
  // Throws error; no_ring_room: there is not even room for two of the smallest copies.
  void copy_stacks(std::uint64_t registers, std::size_t ring_pages = large_ring_pages);
  // Samples with copies of stacks include time in the kernel, with frames of the kernel. Needs CAP_PERFMON. Call it
  // before copy_stacks().
  void include_kernel() noexcept { includes_kernel_ = true; }
  // The largest copy of a stack; 0: stacks are not copied.
  std::size_t stack_bytes() const noexcept { return stack_bytes_; }

  // Only this process is sampled: without its children (Linux 5.13), and with an eighth of the permitted descriptors.
  // Call it before add().
  void sample_own_process() noexcept { is_own_process_ = leaves_out_children_ = true; }

  // Samples a process, and all threads and processes that it will start. A repeated call changes nothing. False: none
  // of its threads could be sampled, because they ended or there are too many. Throws error, and has then no effect;
  // no_ring_room at the first call only. A thread that has clocks of its own and inherited ones is sampled once.
  bool add(pid_t process, begin when);
  // Whether add() has begun the sampling of a process that has not been removed.
  bool has(pid_t process) const noexcept { return processes_.count(process) != 0; }
  // Call it after the end of a process; the processes that it has started are still sampled.
  void remove(pid_t process) { processes_.erase(process); }
  // Takes the samples since the last call.
  void read(const perf_records::taker& visit);
  void stop() noexcept;

  std::uint64_t period_ns() const noexcept { return period_ns_; }
  // The shortest time in which samples fill a ring; the maximum if there is no ring.
  std::uint64_t fill_ns() const noexcept;
  // Complete only after count_losses(), which asks the kernel for each clock. Before Linux 6.0, losses of a ring
  // without a later sample are unknown.
  const perf_losses& lost() const noexcept { return lost_; }
  void count_losses() noexcept;
  // Threads without descriptors for their events.
  std::uint64_t unsampled_threads() const noexcept { return unsampled_threads_; }

 private:
  struct ring {
    int event;  // the first event of the processor
    std::size_t bytes;
    void* mapped;
    std::size_t page;
    pid_t maker;

    ring(int of, std::size_t pages, std::size_t min_bytes);  // throws error
    ~ring();
    ring(const ring&) = delete;
    ring& operator=(const ring&) = delete;
  };

  struct clock {
    descriptor event;
    std::uint64_t number;
  };
  // The clock from which samples of a thread are taken.
  struct taken_clock {
    pid_t opened_for;
    unsigned others;  // samples of other clocks since its last one
  };

  // Number of threads that are sampled now. Throws error.
  std::size_t add_threads(pid_t process, begin when);
  // Opens the events of a thread on all processors; else false, with errno: ESRCH or EMFILE. Throws error.
  bool add_thread(pid_t thread, begin when);
  // Invalid, with errno, if it fails.
  descriptor open_clock(pid_t thread, std::uint32_t processor, begin when);
  void close_events(std::size_t keep) noexcept;
  bool is_of_taken_clock(const perf_sample& sample);

  std::uint64_t period_ns_;
  std::size_t ring_pages_;
  std::uint64_t registers_ = 0;  // a mask
  std::size_t stack_bytes_ = 0;
  bool has_lost_counts_ = true;  // the kernel counts the losses of each clock
  bool is_own_process_ = false, leaves_out_children_ = false, includes_kernel_ = false;
  std::vector<std::unique_ptr<ring>> rings_;  // by processor; null: none
  std::vector<clock> clocks_;
  std::unordered_map<std::uint64_t, pid_t> opened_for_;   // threads by the number of the clock
  std::unordered_map<std::uint32_t, taken_clock> taken_;  // by thread
  std::set<pid_t> processes_;
  perf_losses lost_;
  std::uint64_t unsampled_threads_ = 0;
};

// Why this user cannot sample stacks without eBPF; empty: it can.
std::optional<error> find_perf_refusal();

}  // namespace adaptyst::lib

#endif
