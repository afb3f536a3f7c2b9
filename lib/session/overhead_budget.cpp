// Distributes a share of CPU time among markers: finds the largest cost for each marker so that the sum fits, and then
// the step of each, from the outermost marker inwards.
#include "overhead_budget.hpp"

#include <adaptyst/detail/event_sampling.hpp>
#include <algorithm>
#include <cmath>
#include <utility>

#include "../support/never_destroyed.hpp"

namespace adaptyst::lib {

namespace {

// In less CPU time, a rate is too inaccurate.
constexpr std::uint64_t min_cpu_ns = 2'000'000;
constexpr std::uint64_t max_poll_ns = 1'000'000'000;
constexpr std::uint64_t before_growing_ns = 1'000'000'000;
// This share of the budget goes to recorded events even if skipped events, or the kernel's context, use all the rest or
// more: fewer recorded events would make the figures worse and the program hardly faster.
constexpr double min_recorded_share = 1.0 / 8;
// Each marker keeps at least this many recorded events in a second of CPU time: fewer would hardly cost less, and their
// figures would be too inaccurate. Without this bound, skipping a few large regions with all nested events would always
// be cheapest.
constexpr double min_recorded_per_s = 1000;

const std::unordered_map<std::uint64_t, std::uint64_t>& events_inside(const marker_load& load) {
  static const std::unordered_map<std::uint64_t, std::uint64_t>& none =
      never_destroyed(std::unordered_map<std::uint64_t, std::uint64_t>());
  return load.inside != nullptr ? *load.inside : none;
}

bool is_allowed(allowed_sampling allowed, std::uint32_t step) {
  switch (allowed) {
    case allowed_sampling::none: return step == ADAPTYST_STEP_ENGINE;
    case allowed_sampling::recorder: return step <= ADAPTYST_STEP_RECORDER;
    case allowed_sampling::single: return !detail::takes_subtree(step);
    case allowed_sampling::with_subtree: return step <= ADAPTYST_STEP_RECORDER || detail::takes_subtree(step);
  }
  return false;
}

}  // namespace

bool overhead_budget::is_sensible(const candidate& marker, std::uint32_t step, double reached) {
  const std::uint32_t k = detail::weight_log2(step);
  return k == 0 || 1e9 * marker.rate * reached / static_cast<double>(std::uint64_t{1} << k) >= min_recorded_per_s;
}

double overhead_budget::estimate_cost(const candidate& marker, std::uint32_t step, double reached) const {
  const bool is_sampled_with_another = reached < 1 && step <= ADAPTYST_STEP_RECORDER;
  const bool is_traced = step <= ADAPTYST_STEP_RECORDER && !is_sampled_with_another;
  const double taken = (is_sampled_with_another ? costs_.sampled_ns : costs_.on(step)) + (is_traced ? traced_ns_ : 0);
  return marker.rate * (reached * taken + (1 - reached) * costs_.left_out_ns + marker.extra_ns);
}

std::uint32_t overhead_budget::cheapest_step(const candidate& marker, double reached) const {
  std::uint32_t cheapest = ADAPTYST_STEP_ENGINE;
  for (std::uint32_t step = 0; step <= ADAPTYST_STEP_LAST; ++step)
    if (is_allowed(marker.allowed, step) && is_sensible(marker, step, reached) &&
        estimate_cost(marker, step, reached) < estimate_cost(marker, cheapest, reached))
      cheapest = step;
  return cheapest;
}

std::uint32_t overhead_budget::step_under(const candidate& marker, double reached, double cap) const {
  const std::uint32_t cheapest = cheapest_step(marker, reached);
  const double least = estimate_cost(marker, cheapest, reached);
  for (std::uint32_t step = 0; step <= ADAPTYST_STEP_LAST; ++step)
    if (is_allowed(marker.allowed, step) && is_sensible(marker, step, reached) &&
        estimate_cost(marker, step, reached) - least <= cap)
      return step;
  return cheapest;
}

// choose(marker, its number, reached) returns the step of each marker. In a cycle, where a marker calls itself through
// others, a marker comes before a region around it; that region then counts as recorded.
template <class Choose>
overhead_budget::plan overhead_budget::plan_all(const std::vector<candidate>& all, Choose&& choose) const {
  plan made;
  made.steps.reserve(all.size());
  std::vector<double> carried;  // share of a marker's events in which nested events are recorded
  carried.reserve(all.size());
  for (const candidate& marker : all) {
    double reached = 1;
    for (const nesting& in : marker.inside)
      if (in.around < carried.size()) reached -= in.share * (1 - carried[in.around]);
    reached = std::clamp(reached, 0.0, 1.0);
    if (reached > 1 - 1e-9) reached = 1;
    const std::uint32_t step = choose(marker, made.steps.size(), reached);
    made.cost += estimate_cost(marker, step, reached);
    made.steps.push_back(step);
    const std::uint32_t k = detail::weight_log2(step);
    const bool is_randomised = marker.has_nested && (k != 0 || reached < 1);
    carried.push_back(reached / static_cast<double>(std::uint64_t{1} << (k + (is_randomised ? 1 : 0))));
  }
  return made;
}

double overhead_budget::attainable(const std::vector<candidate>& all, allowance allowed) const {
  const plan least = plan_all(
      all, [this](const candidate& marker, std::size_t, double reached) { return cheapest_step(marker, reached); });
  return std::max(allowed.share, least.cost + allowed.recorded);
}

// All markers get the same cost limit beyond their unavoidable cost, within the share: so all have a similar number of
// recorded events, whatever their rates. Sampling of an event includes its nested events.
std::vector<std::uint32_t> overhead_budget::steps_within(const std::vector<candidate>& all, allowance budget) const {
  const auto under = [&](double cap) {
    return plan_all(
        all, [&](const candidate& marker, std::size_t, double reached) { return step_under(marker, reached, cap); });
  };
  double dearest = 0;
  double total = 0;
  for (const candidate& marker : all) {
    const double cost = estimate_cost(marker, ADAPTYST_STEP_ENGINE, 1);
    dearest = std::max(dearest, cost);
    total += cost;
  }
  const double allowed = attainable(all, budget);
  if (total <= allowed) return std::vector<std::uint32_t>(all.size(), ADAPTYST_STEP_ENGINE);
  double fits = 0;
  double too_high = dearest;
  for (int halvings = 0; halvings != 30; ++halvings) {
    const double cap = (fits + too_high) / 2;
    (under(cap).cost <= allowed ? fits : too_high) = cap;
  }
  return under(fits).steps;
}

std::vector<overhead_budget::candidate> overhead_budget::in_order(const std::vector<marker_load>& all,
                                                                  std::vector<candidate> candidates) {
  std::unordered_map<std::uint64_t, std::size_t> numbers;
  for (std::size_t at = 0; at != candidates.size(); ++at) numbers.emplace(candidates[at].marker, at);
  // Each marker after those around it: a depth-first walk.
  std::vector<std::size_t> order;
  order.reserve(candidates.size());
  enum class state : char { unknown, under_way, done };
  std::vector<state> states(candidates.size(), state::unknown);
  std::vector<std::size_t> open;
  for (std::size_t first = 0; first != candidates.size(); ++first) {
    open.push_back(first);
    while (!open.empty()) {
      const std::size_t now = open.back();
      if (states[now] == state::unknown) {
        states[now] = state::under_way;
        for (const auto& [marker, events] : events_inside(all[now]))
          if (const auto found = numbers.find(marker);
              found != numbers.end() && states[found->second] == state::unknown)
            open.push_back(found->second);
      } else {
        open.pop_back();
        if (states[now] == state::under_way) order.push_back(now);
        states[now] = state::done;
      }
    }
  }
  std::vector<std::size_t> places(candidates.size());
  for (std::size_t place = 0; place != order.size(); ++place) places[order[place]] = place;
  std::vector<candidate> ordered;
  ordered.reserve(candidates.size());
  for (const std::size_t at : order) {
    candidate candidate = std::move(candidates[at]);
    for (const auto& [marker, events] : events_inside(all[at])) {
      const auto found = numbers.find(marker);
      if (found == numbers.end() || all[at].events == 0) continue;
      candidate.inside.push_back(
          {places[found->second], std::min(1.0, static_cast<double>(events) / static_cast<double>(all[at].events))});
    }
    ordered.push_back(std::move(candidate));
  }
  for (const candidate& marker : ordered)
    for (const nesting& in : marker.inside) ordered[in.around].has_nested = true;
  return ordered;
}

std::vector<step_change> overhead_budget::decide(const budget_input& now, const std::vector<marker_load>& all) {
  const std::uint64_t now_ns = now.now_ns;
  const std::uint64_t used_ns = now.cpu_ns - std::min(cpu_ns_, now.cpu_ns);
  if (used_ns < min_cpu_ns && polled_ns_ != 0 && now_ns - polled_ns_ < max_poll_ns) return {};
  polled_ns_ = now_ns;
  cpu_ns_ = now.cpu_ns;
  traced_ns_ = now.traced_ns;
  std::vector<candidate> candidates;
  candidates.reserve(all.size());
  for (const marker_load& marker : all) {
    const auto [place, is_new] = markers_.try_emplace(marker.marker);
    marker_state& held = place->second;
    if (is_new) held.step = marker.step;
    // If the count has decreased, a new collection has begun.
    const std::uint64_t events = marker.events >= held.events ? marker.events - held.events : marker.events;
    held.events = marker.events;
    candidates.push_back({marker.marker,
                          static_cast<double>(events) / static_cast<double>(std::max(used_ns, min_cpu_ns)),
                          marker.allowed,
                          &held,
                          false,
                          marker.extra_ns,
                          {}});
  }
  candidates = in_order(all, std::move(candidates));
  const double cost =
      plan_all(candidates, [&](const candidate& marker, std::size_t, double) { return marker.held->step; }).cost;
  const double recorded = share_ * min_recorded_share;
  const allowance all_of_it{std::max(share_ - now.context_share, recorded), recorded};
  const allowance half{all_of_it.share / 2, recorded / 2};
  const std::vector<std::uint32_t> needed = steps_within(candidates, all_of_it);
  const std::vector<std::uint32_t> enough = steps_within(candidates, half);
  const bool is_too_expensive = cost > attainable(candidates, all_of_it);
  std::vector<step_change> changes;
  for (std::size_t at = 0; at != candidates.size(); ++at) {
    marker_state& held = *candidates[at].held;
    std::uint32_t step = held.step;
    const bool must_leave = !is_allowed(candidates[at].allowed, held.step);
    if (must_leave || (is_too_expensive && needed[at] > held.step)) {
      step = needed[at];
    } else if (enough[at] < held.step) {
      if (held.enough_since_ns == 0) {
        held.enough_since_ns = now_ns;
        held.coarsest_enough = 0;
      }
      held.coarsest_enough = std::max(held.coarsest_enough, enough[at]);
      if (now_ns - held.enough_since_ns >= before_growing_ns) step = held.coarsest_enough;
    } else {
      held.enough_since_ns = 0;
    }
    if (step == held.step) continue;
    held.step = step;
    held.enough_since_ns = 0;
    changes.push_back({candidates[at].marker, step});
  }
  return changes;
}

}  // namespace adaptyst::lib
