#include "overhead_budget.hpp"

#include <algorithm>
#include <cmath>

namespace adaptyst::lib {

namespace {

// In less, a rate says little.
constexpr std::uint64_t least_cpu_ns = 2'000'000;
constexpr std::uint64_t longest_look_ns = 1'000'000'000;
constexpr std::uint64_t before_growing_ns = 1'000'000'000;
// Of the budget, for events that are recorded, where leaving out all others takes the rest, or more: fewer would make
// the figures worse and the program hardly faster.
constexpr double least_share_of_recorded = 1.0 / 8;

}  // namespace

std::uint32_t overhead_budget::cheapest_step(const asked& one) const {
  std::uint32_t cheapest = ADAPTYST_STEP_ENGINE;
  for (std::uint32_t step = 0; step <= one.highest; ++step)
    if (costs_.on(step) < costs_.on(cheapest)) cheapest = step;
  return cheapest;
}

// The first on which the marker costs at most `cap` more than it must.
std::uint32_t overhead_budget::step_under(const asked& one, double cap) const {
  const std::uint32_t cheapest = cheapest_step(one);
  for (std::uint32_t step = 0; step <= one.highest; ++step)
    if (cost_of(one, step) - cost_of(one, cheapest) <= cap) return step;
  return cheapest;
}

double overhead_budget::attainable(const std::vector<asked>& all, double share) const {
  double least = 0;
  for (const asked& one : all) least += cost_of(one, cheapest_step(one));
  return std::max(share, least + share * least_share_of_recorded);
}

// All have the same to spend beyond what they cost anyway, as much as the share allows: so they get as many events
// recorded, whatever their rates.
std::vector<std::uint32_t> overhead_budget::steps_within(const std::vector<asked>& all, double share) const {
  double most = 0;
  double dearest = 0;
  for (const asked& one : all) {
    most += cost_of(one, ADAPTYST_STEP_ENGINE);
    dearest = std::max(dearest, cost_of(one, ADAPTYST_STEP_ENGINE));
  }
  std::vector<std::uint32_t> steps(all.size(), ADAPTYST_STEP_ENGINE);
  const double allowed = attainable(all, share);
  if (most <= allowed) return steps;
  double fits = 0;
  double too_high = dearest;
  for (int halvings = 0; halvings != 30; ++halvings) {
    const double cap = (fits + too_high) / 2;
    double sum = 0;
    for (const asked& one : all) sum += cost_of(one, step_under(one, cap));
    (sum <= allowed ? fits : too_high) = cap;
  }
  for (std::size_t at = 0; at != all.size(); ++at) steps[at] = step_under(all[at], fits);
  return steps;
}

std::vector<step_change> overhead_budget::decide(std::uint64_t now_ns, std::uint64_t cpu_ns,
                                                 const std::vector<marker_load>& all) {
  const std::uint64_t used_ns = cpu_ns - std::min(cpu_ns_, cpu_ns);
  if (used_ns < least_cpu_ns && looked_ns_ != 0 && now_ns - looked_ns_ < longest_look_ns) return {};
  looked_ns_ = now_ns;
  cpu_ns_ = cpu_ns;
  std::vector<asked> asking;
  asking.reserve(all.size());
  double cost = 0;
  for (const marker_load& one : all) {
    const auto [place, is_new] = markers_.try_emplace(one.marker);
    known& held = place->second;
    if (is_new) held.step = one.step;
    // Fewer than before: a new collection has begun.
    const std::uint64_t events = one.events >= held.events ? one.events - held.events : one.events;
    held.events = one.events;
    asking.push_back({one.marker, static_cast<double>(events) / static_cast<double>(std::max(used_ns, least_cpu_ns)),
                      one.highest, &held});
    cost += cost_of(asking.back(), held.step);
  }
  const std::vector<std::uint32_t> needed = steps_within(asking, share_);
  const std::vector<std::uint32_t> enough = steps_within(asking, share_ / 2);
  const bool too_dear = cost > attainable(asking, share_);
  std::vector<step_change> changes;
  for (std::size_t at = 0; at != asking.size(); ++at) {
    known& held = *asking[at].held;
    std::uint32_t to = held.step;
    if (held.step > asking[at].highest) {
      to = asking[at].highest;
    } else if (too_dear && needed[at] > held.step) {
      to = needed[at];
    } else if (enough[at] < held.step) {
      if (held.enough_since_ns == 0) {
        held.enough_since_ns = now_ns;
        held.lowest_enough = 0;
      }
      held.lowest_enough = std::max(held.lowest_enough, enough[at]);
      if (now_ns - held.enough_since_ns >= before_growing_ns) to = held.lowest_enough;
    } else {
      held.enough_since_ns = 0;
    }
    if (to == held.step) continue;
    held.step = to;
    held.enough_since_ns = 0;
    changes.push_back({asking[at].marker, to});
  }
  return changes;
}

}  // namespace adaptyst::lib
