// Computes the step of a kind of event from its events and the CPU time since the last decision. A coarser step applies
// at once, a finer one after a second of CPU time in which half of the permitted cost was enough.
#include "kernel_sampling.hpp"

#include <algorithm>

namespace adaptyst::lib {

namespace {

// In less CPU time, a rate is too inaccurate.
constexpr std::uint64_t min_cpu_ns = 10'000'000;
constexpr std::uint64_t before_growing_ns = 1'000'000'000;
// Events of a kind may use this share of the budget, with their calls and the other data of the kernel; recorded ones
// have at least an eighth.
constexpr double max_share = 1.0 / 2;
constexpr double min_recorded_share = 1.0 / 8;

std::uint64_t increase(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

}  // namespace

unsigned kernel_sampling::decide(const used_time& used, const event_load& now, std::uint64_t other_cost_ns) {
  const std::uint64_t used_ns = increase(used_.cpu_ns, used.cpu_ns);
  if (used_ns < min_cpu_ns) return step_;
  const auto cpu = static_cast<double>(used_ns);
  const auto events = static_cast<double>(increase(last_.events, now.events));
  const auto unavoidable = static_cast<double>(increase(last_.calling_ns(kind_), now.calling_ns(kind_)) +
                                               increase(other_cost_ns_, other_cost_ns));
  recorded_ += events / static_cast<double>(1U << step_);
  const auto elapsed = static_cast<double>(increase(used_.now_ns, used.now_ns));
  const double floor = kind_.min_recorded_per_s * std::max(cpu, elapsed) / 1e9;
  used_ = used;
  last_ = now;
  other_cost_ns_ = other_cost_ns;
  const double each_ns =
      recorded_ < 1 ? kind_.expected_ns
                    : std::clamp(static_cast<double>(now.recording_ns) / recorded_, kind_.least_ns, kind_.longest_ns);
  const double allowed = std::max(share_ * max_share - unavoidable / cpu, share_ * min_recorded_share);
  const auto find_step = [&](double limit) {
    unsigned step = 0;
    while (step != kind_.coarsest && events * each_ns / static_cast<double>(1U << step) > limit * cpu &&
           events / static_cast<double>(2U << step) >= floor)
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
