// Computes the step of page fault sampling from the page faults and the CPU time since the last decision. A coarser
// step applies at once, a finer one after a second of CPU time in which half of the permitted cost was enough.
#include "fault_sampling.hpp"

#include <algorithm>

namespace adaptyst::lib {

namespace {

// Measured on the machine of docs/overhead.md. The program cannot measure the kernel's code around it.
constexpr std::uint64_t call_ns = 50;
// In less CPU time, a rate is too inaccurate.
constexpr std::uint64_t min_cpu_ns = 10'000'000;
constexpr std::uint64_t before_growing_ns = 1'000'000'000;
// Page faults may use this share of the budget, with their calls; recorded ones have at least an eighth.
constexpr double max_share = 1.0 / 2;
constexpr double min_recorded_share = 1.0 / 8;
// Fewer would hardly cost less.
constexpr double min_recorded_per_s = 1000;
// Bounds of the time for a recorded page fault: an interrupt in one measured run must not change the step.
constexpr double least_ns = 50, longest_ns = 500, expected_ns = 150;

std::uint64_t increase(std::uint64_t from, std::uint64_t to) { return to - std::min(from, to); }

}  // namespace

std::uint64_t fault_load::calling_ns() const noexcept { return faults * call_ns; }

unsigned fault_sampling::decide(std::uint64_t cpu_ns, const fault_load& now, std::uint64_t other_cost_ns) {
  const std::uint64_t used_ns = increase(cpu_ns_, cpu_ns);
  if (used_ns < min_cpu_ns) return step_;
  const auto cpu = static_cast<double>(used_ns);
  const auto faults = static_cast<double>(increase(last_.faults, now.faults));
  const auto unavoidable =
      static_cast<double>(increase(last_.calling_ns(), now.calling_ns()) + increase(other_cost_ns_, other_cost_ns));
  recorded_ += faults / static_cast<double>(1U << step_);
  cpu_ns_ = cpu_ns;
  last_ = now;
  other_cost_ns_ = other_cost_ns;
  const double each_ns =
      recorded_ < 1 ? expected_ns : std::clamp(static_cast<double>(now.recording_ns) / recorded_, least_ns, longest_ns);
  const double allowed = std::max(share_ * max_share - unavoidable / cpu, share_ * min_recorded_share);
  const auto find_step = [&](double limit) {
    unsigned step = 0;
    while (step != coarsest && faults * each_ns / static_cast<double>(1U << step) > limit * cpu &&
           faults / static_cast<double>(2U << step) >= min_recorded_per_s * cpu / 1e9)
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
