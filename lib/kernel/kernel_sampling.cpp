// Computes the step of a kind of event from its events and the CPU time since the last decision. A coarser step applies
// at once, a finer one after a second of CPU time in which half of the permitted cost was enough.
#include "kernel_sampling.hpp"

#include <algorithm>
#include <cmath>

#include "window_sampling.hpp"

namespace adaptyst::lib {

namespace {

// In less CPU time, a rate is too inaccurate.
constexpr std::uint64_t min_cpu_ns = 10'000'000;
constexpr std::uint64_t before_growing_ns = 1'000'000'000;
// Events of a kind may use this share of the budget, with their calls and the other data of the kernel; recorded ones
// have at least an eighth.
constexpr double max_share = 1.0 / 2;
constexpr double min_recorded_share = 1.0 / 8;
// With windows. A rate from a shorter time is inaccurate, and would change the number of windows.
constexpr std::uint64_t min_windowed_cpu_ns = 500'000'000;
// Calls have most of the share: a further window reduces the error more than further recorded events.
constexpr double max_calling_share = 3.0 / 4;
constexpr double max_windows = 64;
constexpr double max_windows_if_late = 512;  // if windows close late: blocks of 5 s

}  // namespace

double kernel_sampling::calling_share(double calls, double elapsed_per_cpu) const {
  if (windows_ == 1) return calls;
  const double attaching = attaching_ns_ / static_cast<double>(window_ns) * elapsed_per_cpu;
  return (calls * attached_per_window_ + attaching) / windows_;
}

// The mean of earlier and new windows, because there may be only one new window.
void kernel_sampling::measure_windows(const event_load& now) {
  const auto windows = static_cast<double>(increase(last_.windows, now.windows));
  if (windows == 0) return;
  const double attached_ns = static_cast<double>(increase(last_.attached_ns, now.attached_ns)) / windows;
  const double attaching_ns = static_cast<double>(increase(last_.attaching_ns, now.attaching_ns)) / windows;
  attached_per_window_ = (attached_per_window_ + std::max(attached_ns / static_cast<double>(window_ns), 1.0)) / 2;
  attaching_ns_ = (attaching_ns_ + attaching_ns) / 2;
}

void kernel_sampling::choose_windows(double calls, double elapsed_per_cpu, double available) {
  const double limit = windows_ == 1 ? available : available / 2;
  windows_ = 1;
  if (calls <= limit) return;
  const double most =
      std::min(max_windows * std::max(attached_per_window_ / expected_attached, 1.0), max_windows_if_late);
  windows_ = 2;
  const double of_all = 2 * calling_share(calls, elapsed_per_cpu);
  windows_ = static_cast<unsigned>(std::clamp(std::ceil(of_all / (max_calling_share * available)), 2.0, most));
  // A program that hardly runs: attaching would cost as much as the calls.
  if (calling_share(calls, elapsed_per_cpu) > calls / 2) windows_ = 1;
}

// Since the last decision. Events of a block are not known before its end.
double kernel_sampling::estimate_events(const event_load& now, double elapsed) const {
  const std::uint64_t in_blocks = increase(last_.in_blocks, now.in_blocks);
  if (windows_ == 1) return static_cast<double>(increase(in_blocks, increase(last_.events, now.events)));
  const auto blocks_ns = static_cast<double>(increase(last_.blocks_ns, now.blocks_ns));
  return static_cast<double>(in_blocks) * elapsed / blocks_ns;
}

unsigned kernel_sampling::decide(const used_time& used, const event_load& now, std::uint64_t other_cost_ns) {
  const std::uint64_t used_ns = increase(used_.cpu_ns, used.cpu_ns);
  const bool has_windows = windows_ != 1;
  if (used_ns < (has_windows ? min_windowed_cpu_ns : min_cpu_ns)) return step_;
  if (has_windows && now.blocks_ns <= last_.blocks_ns) return step_;
  const auto cpu = static_cast<double>(used_ns);
  const auto elapsed = static_cast<double>(increase(used_.now_ns, used.now_ns));
  const double events = estimate_events(now, elapsed);
  recorded_ +=
      static_cast<double>(increase(increase(last_.uncalled, now.uncalled), increase(last_.events, now.events))) /
      static_cast<double>(1U << step_);
  const double other = static_cast<double>(increase(other_cost_ns_, other_cost_ns)) / cpu;
  const double calls = events * static_cast<double>(kind_.call_ns) / cpu;
  busy_cpus_ = cpu / std::max(elapsed, 1.0);
  measure_windows(now);
  if (kind_.attach_ns != 0)
    choose_windows(calls, elapsed / cpu, std::max(share_ * max_share - other, share_ * min_recorded_share));
  const double called = windows_ == 1 ? events : events * std::min(attached_per_window_ / windows_, 1.0);
  const double floor = kind_.min_recorded_per_s * std::max(cpu, elapsed) / 1e9;
  used_ = used;
  last_ = now;
  other_cost_ns_ = other_cost_ns;
  const double each_ns = recording_ns_ =
      recorded_ < 1 ? kind_.expected_ns
                    : std::clamp(static_cast<double>(now.recording_ns) / recorded_, kind_.least_ns, kind_.longest_ns);
  const double allowed =
      std::max(share_ * max_share - calling_share(calls, elapsed / cpu) - other, share_ * min_recorded_share);
  const auto find_step = [&](double limit) {
    unsigned step = 0;
    while (step != kind_.coarsest && called * each_ns / static_cast<double>(1U << step) > limit * cpu &&
           called / static_cast<double>(2U << step) >= floor)
      ++step;
    return step;
  };
  const unsigned needed = find_step(allowed);
  const unsigned enough = find_step(allowed / 2);
  if (needed > step_) {
    step_ = needed;
    enough_ns_ = 0;
  } else if (enough < step_) {
    coarsest_enough_ = enough_ns_ == 0 ? enough : std::max(coarsest_enough_, enough);
    enough_ns_ += used_ns;
    if (enough_ns_ >= before_growing_ns) {
      step_ = coarsest_enough_;
      enough_ns_ = 0;
    }
  } else {
    enough_ns_ = 0;
  }
  return step_;
}

}  // namespace adaptyst::lib
