// Selects how many events of a kind BPF programs record, so that recording them costs no more than a share of the CPU
// time. Only computes from counts.
#ifndef ADAPTYST_LIB_KERNEL_KERNEL_SAMPLING_HPP
#define ADAPTYST_LIB_KERNEL_KERNEL_SAMPLING_HPP

#include <cstdint>

namespace adaptyst::lib {

// Times are CPU time of an event.
struct event_kind {
  // In which the kernel calls the BPF programs, also for a skipped event. The program cannot measure it.
  std::uint64_t call_ns;
  // For recording: bounds of the measured time, because an interrupt in a measured run must not change the step, and the
  // time before the first measured run.
  double least_ns, longest_ns, expected_ns;
  unsigned coarsest;  // k, as below
};

// Calls were measured on the Intel machine of docs/overhead.md.
constexpr event_kind page_fault_events{50, 50, 500, 150, 12};
constexpr event_kind switch_events{130, 50, 1000, 200, 6};
constexpr event_kind wait_stack_events{110, 500, 20000, 5000, 8};

// Since the observation began.
struct event_load {
  std::uint64_t events = 0;        // including skipped ones
  std::uint64_t recording_ns = 0;  // CPU time for recorded ones, without calls

  // CPU time in which the kernel calls the BPF programs.
  std::uint64_t calling_ns(const event_kind& kind) const noexcept { return events * kind.call_ns; }
  std::uint64_t cost_ns(const event_kind& kind) const noexcept { return recording_ns + calling_ns(kind); }
};

struct used_time {
  std::uint64_t now_ns = 0;  // monotonic clock
  std::uint64_t cpu_ns = 0;  // CPU time of the observed processes since the observation began
};

class kernel_sampling {
 public:
  // `share`: of the CPU time, for all observation. `begin_ns`: when it began, on the monotonic clock.
  kernel_sampling(const event_kind& kind, double share, std::uint64_t begin_ns)
      : kind_(kind), share_(share), used_{begin_ns, 0} {}

  // Returns k: one of 2^k events is to be recorded. `other_cost_ns`: what the other data of the kernel has cost the
  // observed processes.
  unsigned decide(const used_time& used, const event_load& now, std::uint64_t other_cost_ns);

 private:
  event_kind kind_;
  double share_;
  unsigned step_ = 0;
  used_time used_;
  std::uint64_t other_cost_ns_ = 0;
  event_load last_;
  double recorded_ = 0;           // events so far
  std::uint64_t enough_ns_ = 0;   // CPU time for which a lower step has been enough
  unsigned coarsest_enough_ = 0;  // the coarsest of these lower steps
};

}  // namespace adaptyst::lib

#endif
