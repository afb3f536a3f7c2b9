// Stack samples that programs take by timers of their threads and leave in memory of this process:
// <adaptyst/adapter/sample_ring.hpp>. For systems that refuse perf_event_open().
//
//   timer_samples samples({period_ns, stack_unwinder::needed_registers(), 16 << 10});
//   environment.emplace_back("ADAPTYST_SAMPLES", samples.file());      // with libadaptyst-timer.so preloaded
//   samples.read([](perf_sample& sample) { … });
//
// All content is the programs': process numbers and times are claims, and must be checked. The 16 MiB of memory are
// allocated at the start, so that a program does not fail when it writes. read() reads each slot once. Not thread-safe.
#ifndef ADAPTYST_LIB_SESSION_TIMER_SAMPLES_HPP
#define ADAPTYST_LIB_SESSION_TIMER_SAMPLES_HPP

#include <sys/types.h>

#include <adaptyst/adapter/sample_ring.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "../kernel/perf_sampler.hpp"
#include "../support/descriptor.hpp"

namespace adaptyst::lib {

struct timer_choice {
  std::uint64_t period_ns = 0;  // CPU time of a thread between two samples
  std::uint64_t registers = 0;  // a mask: samples have copies of these and of the stack; 0: samples have frames
  std::size_t stack_bytes = 0;  // the largest copy, also for frame pointers
};

struct timer_losses {
  std::uint64_t ring_full = 0, without_signal = 0, damaged = 0;  // samples
  std::uint64_t without_timer = 0;                               // threads
  std::uint64_t truncated = 0;                                   // stacks, by the size of the copy
};

class timer_samples {
 public:
  explicit timer_samples(const timer_choice& chosen);  // throws error
  ~timer_samples();
  timer_samples(const timer_samples&) = delete;
  timer_samples& operator=(const timer_samples&) = delete;

  // The value of the variable ADAPTYST_SAMPLES of programs that this process starts.
  std::string file() const;
  void read(const perf_records::taker& visit);
  // Whether any process has loaded the adapter, and whether one with this number has.
  bool has_begun() const { return !begun_.empty(); }
  bool has_begun(pid_t process) const { return begun_.count(process) != 0; }
  // The shortest time in which threads on all processors fill the memory.
  std::uint64_t fill_ns() const noexcept;
  timer_losses lost() const noexcept;

  std::uint64_t period_ns() const noexcept { return chosen_.period_ns; }
  std::size_t stack_bytes() const noexcept { return chosen_.stack_bytes; }

 private:
  // Returns the number of samples that are refused; 1: the content of the slot is damaged.
  std::uint64_t take(std::uint32_t slot, const perf_records::taker& visit);
  void fill_frames(const sample_slot& from);
  void free_abandoned(std::uint32_t slot, std::uint64_t state);
  // Threads on all processors can have had this number of samples by now.
  std::uint64_t max_samples() const noexcept;

  timer_choice chosen_;
  std::uint32_t slots_, slot_bytes_;
  descriptor file_;
  sample_ring* ring_;
  pid_t maker_;
  std::uint64_t processors_;  // found once: the C library opens a file
  std::set<pid_t> begun_;
  perf_sample sample_;  // its memory is used again
  std::uint64_t begun_ns_, taken_ = 0, damaged_ = 0, truncated_ = 0, searched_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
