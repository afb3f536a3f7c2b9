// Formats the figures of a region. Estimates have the mark "~", absent quantities "—".
#include "region_figures.hpp"

#include <adaptyst/detail/histogram.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "../model/unmarked.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t rounded_from = 10'000'000;  // calls

// Marks an estimate.
std::string calls_text(const region& row, const figure_form& form) {
  const std::string count =
      form.has_rounded_counts ? format_number(static_cast<double>(row.count)) : format_count(row.count);
  return row.timed_events ? "~" + count : count;
}

// The standard deviation of the durations; those of one bucket are taken as spread evenly over it.
double find_standard_deviation(const region& row) {
  const std::vector<std::uint64_t>& buckets = row.durations.buckets();
  const auto count = static_cast<double>(row.durations.count());
  double sum = 0, squares = 0;
  for (unsigned at = 0; at != buckets.size(); ++at) {
    if (buckets[at] == 0) continue;
    const double low = static_cast<double>(std::max(adaptyst_histogram_lower(at), row.min_ns));
    const double high = static_cast<double>(std::min(adaptyst_histogram_lower(at + 1) - 1, row.max_ns));
    const double middle = 0.5 * (low + high), width = std::max(0.0, high - low);
    sum += middle * static_cast<double>(buckets[at]);
    squares += (middle * middle + width * width / 12) * static_cast<double>(buckets[at]);
  }
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

// Without decimals if many threads make the share large.
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

// Whole percentages that add up to 100: those with the largest remainders are rounded up, as shareTexts() of the HTML
// report does.
context_parts make_parts(const std::optional<os_context>& context) {
  const std::optional<std::uint64_t> on_ns = context ? context->on_cpu_ns() : std::nullopt;
  if (!on_ns || context->wall_ns == 0) return {"—", "—", "—"};
  const std::array<double, std::tuple_size_v<context_parts>> parts_ns = {static_cast<double>(*on_ns),
                                                                         static_cast<double>(context->runnable_ns),
                                                                         static_cast<double>(context->blocked_ns())};
  const double whole_ns = parts_ns[0] + parts_ns[1] + parts_ns[2];
  if (!(whole_ns > 0)) return {"—", "—", "—"};
  std::array<double, parts_ns.size()> remainders{};
  std::array<int, parts_ns.size()> percents{};
  for (std::size_t at = 0; at != parts_ns.size(); ++at) {
    const double exact = 100 * (parts_ns[at] / whole_ns);
    percents[at] = static_cast<int>(exact);
    remainders[at] = exact - percents[at];
  }
  for (int left = 100 - percents[0] - percents[1] - percents[2]; left > 0; --left) {
    const auto largest = std::max_element(remainders.begin(), remainders.end());
    ++percents[static_cast<std::size_t>(largest - remainders.begin())];
    *largest = -1;
  }
  context_parts made;
  for (std::size_t at = 0; at != made.size(); ++at)
    made[at] = (context->voluntary_variance ? "~" : "") +
               (percents[at] == 0 && parts_ns[at] > 0 ? std::string("<1%") : fmt::format("{}%", percents[at]));
  return made;
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
  return "not recorded: " + explain_missing_parts(profile);
}

std::string explain_missing_parts(const profile& profile) {
  const auto context_option = profile.options.find("context");
  if (context_option != profile.options.end() && context_option->second == "none") return "context=none";
  return "context=cpu records it, if eBPF is permitted (adaptyst doctor)";
}

}  // namespace adaptyst::lib
