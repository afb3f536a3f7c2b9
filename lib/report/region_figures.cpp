// Formats the figures of a region. Estimates are marked with "~", and quantities that are absent with "—".
#include "region_figures.hpp"

#include <adaptyst/detail/histogram.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../model/unmarked.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t rounded_from = 10'000'000;  // calls

// An estimate is marked.
std::string calls_text(const region& row, const figure_form& form) {
  const std::string count =
      form.has_rounded_counts ? format_number(static_cast<double>(row.count)) : format_count(row.count);
  return row.timed_events ? "~" + count : count;
}

// Of the events' durations, as far as the buckets of their histogram tell them apart.
double find_standard_deviation(const region& row) {
  const std::vector<std::uint64_t>& buckets = row.durations.buckets();
  const auto count = static_cast<double>(row.durations.count());
  double sum = 0, squares = 0;
  for (unsigned at = 0; at != buckets.size(); ++at) {
    const double middle = 0.5 * (static_cast<double>(adaptyst_histogram_lower(at)) +
                                 static_cast<double>(adaptyst_histogram_lower(at + 1) - 1));
    sum += middle * static_cast<double>(buckets[at]);
    squares += middle * middle * static_cast<double>(buckets[at]);
  }
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

// Without decimals where there are many threads.
std::string share_text(double ns, double wall_ns) {
  if (wall_ns <= 0) return "—";
  const double fraction = ns / wall_ns;
  return fraction > 9.9995 && fraction < 99.995 ? fmt::format("{:.0f}%", 100 * fraction) : percent(fraction);
}

}  // namespace

figure_form find_figure_form(const profile& profile) {
  return {static_cast<double>(compute_wall_ns(profile)),
          std::any_of(profile.regions.begin(), profile.regions.end(),
                      [](const region& row) { return row.count >= rounded_from; })};
}

region_figures make_figures(const region& row, const figure_form& form) {
  region_figures made;
  made[0] = row.threads != 0 ? format_count(row.threads) : "—";
  made[1] = row.count != 0 ? calls_text(row, form) : "—";
  if (row.durations.count() == 0) return made;
  const auto total = static_cast<double>(row.total_ns);
  return {made[0],
          made[1],
          duration(total),
          duration(static_cast<double>(row.self_ns)),
          share_text(total, form.wall_ns),
          duration(total / static_cast<double>(row.count)),
          duration(row.quantile_ns(0.99))};
}

context_parts make_parts(const std::optional<kernel_context>& context) {
  const std::optional<std::uint64_t> on_ns = context ? context->on_cpu_ns() : std::nullopt;
  if (!on_ns || context->wall_ns == 0) return {"—", "—", "—"};
  const auto part = [&](std::uint64_t ns) {
    const double percent = 100 * static_cast<double>(ns) / static_cast<double>(context->wall_ns);
    return percent < 999.5 ? fmt::format("{:.0f}%", percent) : ">999%";
  };
  return {part(*on_ns), part(context->runnable_ns), part(context->blocked_ns())};
}

region_figures make_unmarked_figures(const profile& profile) {
  const unmarked_time rest = compute_unmarked(profile);
  if (rest.state != unmarked_state::known) return {"—", "—", "—", "—", "—", "—", "—"};
  const auto ns = static_cast<double>(rest.ns);
  const std::string time = (rest.is_estimate ? "~" : "") + duration(ns);
  return {"—", "—", time, time, share_text(ns, static_cast<double>(compute_wall_ns(profile))), "—", "—"};
}

std::string distribution_text(const region& row) {
  const std::optional<std::uint64_t> median = row.quantile_ns(0.5);
  if (!median || row.durations.count() < 2) return {};
  return fmt::format("min {}, median {}, σ {}, max {}", duration(static_cast<double>(row.min_ns)), duration(median),
                     duration(find_standard_deviation(row)), duration(static_cast<double>(row.max_ns)));
}

std::string unmarked_legend(const profile& profile) {
  const std::string what = fmt::format("{}: the run's wall time outside all regions", unmarked_name);
  const auto unknown = [&](const char* why) { return what + ", not known: " + why; };
  switch (compute_unmarked(profile).state) {
    case unmarked_state::no_time: return unknown("the run's duration is not known");
    case unmarked_state::unknown_threads: return unknown("which threads ran what was not recorded");
    case unmarked_state::several_threads:
      return unknown("several threads ran regions, and how long each thread lived was not recorded");
    case unmarked_state::open_regions: return unknown("regions are still open");
    case unmarked_state::lost_events: return unknown("events were lost");
    case unmarked_state::estimated:
      return unknown("the times of regions are estimates, and add up to more than the run");
    case unmarked_state::overlapping: return unknown("regions of one thread overlap");
    case unmarked_state::known: break;
  }
  return what + "; together with the outermost regions: 100 %";
}

std::string parts_legend(const profile& profile) {
  if (profile.context) return "parts of TIME on a core, waiting for one, waiting for something else";
  const auto context_option = profile.options.find("context");
  if (context_option != profile.options.end() && context_option->second == "none")
    return "the kernel was not asked: context=none";
  return "the kernel was not asked: context=cpu shows it, where eBPF is permitted (adaptyst doctor)";
}

}  // namespace adaptyst::lib
