// Selects how many events of a kind BPF programs record, so that recording them costs no more than a share of the CPU
// time. Only computes from counts.
#ifndef ADAPTYST_LIB_KERNEL_KERNEL_SAMPLING_HPP
#define ADAPTYST_LIB_KERNEL_KERNEL_SAMPLING_HPP

#include <algorithm>
#include <cstdint>

namespace adaptyst::lib {

// CPU time of an event, and the greatest k, as below.
struct event_kind {
  std::uint64_t call_ns;        // the kernel calls the BPF programs, also for a skipped event; they cannot measure it
  double least_ns, longest_ns;  // bounds of the measured time for recording: an interrupt must not change the step
  double expected_ns;           // for recording, before the first measurement
  // In a second of CPU time or, if that is longer, of elapsed time. Fewer page faults would hardly cost less. A few long
  // switches have most of the time off a core, so their estimates need more.
  double min_recorded_per_s;
  unsigned coarsest;
  std::uint64_t attach_ns = 0;  // for a window, before the first measurement; 0: the programs remain attached
};

// call_ns is measured on the Intel machines of docs/overhead.md. Page faults: ratio of CPU times in turns with an empty
// program and without it, at 280,000 faults a second (guest, Linux 6.18, retpolines): 5.4 %, or 210 ns. attach_ns: both
// programs, once in 100 ms, on the same guest.
constexpr event_kind page_fault_events{210, 50, 500, 150, 1000, 12, 700'000};
constexpr event_kind switch_events{130, 50, 1000, 200, 10'000, 6};
constexpr event_kind wait_stack_events{110, 500, 20'000, 5000, 1000, 8};

// Since the observation began.
struct event_load {
  std::uint64_t events = 0;        // including skipped ones
  std::uint64_t recording_ns = 0;  // CPU time for recorded ones, without calls
  // Sums over ended blocks of windows: length, estimated events, and estimated events while the programs were detached.
  std::uint64_t blocks_ns = 0, in_blocks = 0, uncalled = 0;
  // CPU time of the program for attaching and detaching the programs, and for reading windows.
  std::uint64_t attaching_ns = 0;
  // Ended blocks, each with one window, and the time for which the programs were attached in them.
  std::uint64_t windows = 0, attached_ns = 0;

  // CPU time in which the kernel calls the BPF programs, attaches and detaches them.
  std::uint64_t calling_ns(const event_kind& kind) const noexcept {
    return (events - std::min(events, uncalled)) * kind.call_ns + attaching_ns;
  }
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
  // The programs are to be attached in one of this many windows; 1: all the time.
  unsigned windows() const noexcept { return windows_; }
  unsigned step() const noexcept { return step_; }
  // Mean number of processors that the observed processes used between the last two decisions.
  double busy_cpus() const noexcept { return busy_cpus_; }
  // The mean delay of an event while the programs are attached. call_ns is measured with instructions between the events;
  // in a loop with page faults only, the delay was half of call_ns.
  double delay_ns() const noexcept {
    return 0.75 * static_cast<double>(kind_.call_ns) + recording_ns_ / static_cast<double>(1U << step_);
  }

 private:
  // In lengths of a window, before the first measurement: a timer closes windows late.
  static constexpr double expected_attached = 1.4;

  void measure_windows(const event_load& now);
  // `calls`: the share of the CPU time for calls by all events. `available`: the share for this kind of event.
  void choose_windows(double calls, double elapsed_per_cpu, double available);
  double calling_share(double calls, double elapsed_per_cpu) const;
  double estimate_events(const event_load& now, double elapsed) const;

  event_kind kind_;
  double share_;
  unsigned step_ = 0, windows_ = 1;
  // The time for which programs are attached for a window, in lengths of a window: a busy observer detaches late.
  double attached_per_window_ = expected_attached;
  // CPU time for attaching and detaching the programs for a window.
  double attaching_ns_ = static_cast<double>(kind_.attach_ns);
  double recording_ns_ = kind_.expected_ns;  // of an event
  double busy_cpus_ = 1;
  used_time used_;
  std::uint64_t other_cost_ns_ = 0;
  event_load last_;
  double recorded_ = 0;           // events so far
  std::uint64_t enough_ns_ = 0;   // CPU time for which a lower step has been enough
  unsigned coarsest_enough_ = 0;  // the coarsest of these lower steps
};

}  // namespace adaptyst::lib

#endif
