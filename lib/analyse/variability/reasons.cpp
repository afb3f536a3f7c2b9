// Compares each flagged window with the windows that are not flagged (kernels), and with the medians of its device or
// rank (copies, gaps and starts). Loops follow the order of windows, so results do not depend on threads and ranks.
#include "reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "../../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_causes = 5;
// A kernel took longer than usual if its extra time is beyond chance by this many standard errors.
constexpr double least_cause_errors = 3;
constexpr std::size_t max_name_columns = 60;

using group_and_name = std::pair<std::uint32_t, std::uint32_t>;

class reason_finder {
 public:
  reason_finder(variability_result& to, const reason_basis& basis) : to_(to), basis_(basis) {}

  void add(std::vector<flag_evidence> flagged) {
    choose(flagged);
    visit_entries();
    for (std::size_t at = 0; at != chosen_.size(); ++at) find_causes(chosen_[at], ranges_[at]);
    find_measures();
    for (variability_reason& reason : to_.reasons) reason.text = describe(reason);
  }

 private:
  struct entry_range {
    std::size_t first = 0, last = 0;
  };
  struct count_and_sum {
    std::uint64_t count = 0;
    wide_uint sum = 0;
  };

  // The windows with the greatest z; equal ones from the earliest. Reasons follow the order of windows.
  void choose(std::vector<flag_evidence>& flagged) {
    const auto is_stronger = [](const flag_evidence& a, const flag_evidence& b) {
      constexpr double most = std::numeric_limits<double>::max();
      const double x = a.z.value_or(most), y = b.z.value_or(most);
      return x != y ? x > y : a.window < b.window;
    };
    if (flagged.size() > max_reasons) {
      std::nth_element(flagged.begin(), flagged.begin() + max_reasons, flagged.end(), is_stronger);
      flagged.resize(max_reasons);
      to_.remarks.push_back(fmt::format("only the {} clearest flags have reasons", format_count(max_reasons)));
    }
    std::sort(flagged.begin(), flagged.end(),
              [](const flag_evidence& a, const flag_evidence& b) { return a.window < b.window; });
    for (const flag_evidence& evidence : flagged) {
      variability_reason made;
      made.window = evidence.window;
      made.z = evidence.z;
      made.z_limit = evidence.z_limit;
      made.usual = evidence.usual;
      made.compared = evidence.compared;
      const std::optional<double>& value = to_.windows[evidence.window].value;
      if (value && evidence.usual > 0) made.effect = *value / evidence.usual;
      to_.windows[evidence.window].reason = static_cast<std::uint32_t>(to_.reasons.size());
      to_.reasons.push_back(std::move(made));
      chosen_.push_back(evidence.window);
    }
    ranges_.resize(chosen_.size());
  }

  std::uint64_t number(const variability_window& window) const {
    return (window.start_ns - to_.grid.origin_ns) / to_.grid.width_ns;
  }

  // Finds the entries of the chosen windows, and the sums of all flagged windows. Entries follow the order of windows.
  void visit_entries() {
    const bool by_name = to_.settings.by_name();
    std::size_t entry = 0, next = 0;
    for (std::size_t at = 0; at != to_.windows.size(); ++at) {
      const variability_window& window = to_.windows[at];
      const std::uint64_t window_number = number(window);
      const std::size_t first = entry;
      for (; entry != basis_.entries.size() && basis_.entries[entry].window == window_number; ++entry) {
        const window_entry& found = basis_.entries[entry];
        const bool is_of_window =
            by_name ? basis_.texts[found.name].data() == window.name.data() : found.group == window.group;
        if (!is_of_window) break;
        if (!window.is_flagged) continue;
        count_and_sum& sums = flagged_[{found.group, found.name}];
        sums.count += found.count;
        sums.sum += found.sum;
      }
      if (next != chosen_.size() && chosen_[next] == at) ranges_[next++] = {first, entry};
    }
  }

  void find_causes(std::size_t at, const entry_range& range) {
    variability_reason& to = to_.reasons[to_.windows[at].reason];
    for (std::size_t number = range.first; number != range.last; ++number) {
      const window_entry& entry = basis_.entries[number];
      const name_sums& all = *basis_.sums.at({entry.group, entry.name});
      const count_and_sum& slow = flagged_.at({entry.group, entry.name});
      // A kernel that runs in flagged windows only has no usual duration.
      if (all.count == slow.count) continue;
      variability_cause made;
      made.name = basis_.texts[entry.name];
      made.group = entry.group;
      made.count = entry.count;
      made.mean = mean(entry.count, entry.sum);
      made.usual_mean = mean(all.count - slow.count, all.sum - slow.sum);
      const auto count = static_cast<double>(entry.count);
      made.extra_ns = static_cast<double>(entry.sum) - count * made.usual_mean;
      to.extra_ns = to.extra_ns.value_or(0) + std::max(0.0, made.extra_ns);
      const double error = deviation(all.count, all.sum, all.squares) * std::sqrt(count);
      if (made.extra_ns <= 0 || error <= 0 || made.extra_ns < least_cause_errors * error) continue;
      made.z = made.extra_ns / error;
      to.kernels.push_back(made);
    }
    std::sort(to.kernels.begin(), to.kernels.end(), [](const variability_cause& a, const variability_cause& b) {
      return a.extra_ns != b.extra_ns ? a.extra_ns > b.extra_ns : std::tie(a.name, a.group) < std::tie(b.name, b.group);
    });
    for (variability_cause& cause : to.kernels) cause.share = cause.extra_ns / *to.extra_ns;
    to.other_kernels = to.kernels.size() - std::min(to.kernels.size(), max_causes);
    to.kernels.resize(to.kernels.size() - to.other_kernels);
  }

  // The windows of a device or rank, or of a name: one list at a time is in memory.
  void find_measures() {
    std::map<std::pair<std::uint32_t, std::string_view>, std::vector<std::size_t>> series;
    for (const std::size_t at : chosen_) series[{to_.windows[at].group, to_.windows[at].name}];
    for (std::size_t at = 0; at != to_.windows.size(); ++at) {
      const variability_window& window = to_.windows[at];
      const auto found = series.find({window.group, window.name});
      if (found != series.end() && is_whole(to_, window)) found->second.push_back(at);
    }
    for (const auto& [key, windows] : series) {
      measure(windows, &variability_reason::starts, bad_side::low,
              [](const variability_window& window) { return std::optional(static_cast<double>(window.count)); });
      if (!to_.settings.has_stalls()) continue;
      measure(windows, &variability_reason::launch_gap, bad_side::high_mean,
              [this](const variability_window& window) { return find_launch_gap(to_, window); });
      measure(windows, &variability_reason::copy_time, bad_side::high,
              [](const variability_window& window) { return std::optional(static_cast<double>(window.copy_ns)); });
      measure(windows, &variability_reason::copied_bytes, bad_side::high, [this](const variability_window& window) {
        const std::optional<std::uint64_t> bytes = find_copied_bytes(to_, window);
        return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
      });
    }
  }

  // The same rule as for a flag by launch gaps or busy time.
  // `high_mean`: of a mean over the kernels of a window, which varies more if they are few.
  enum class bad_side { low, high, high_mean };
  template <class Get>
  void measure(const std::vector<std::size_t>& windows, std::optional<variability_measure> variability_reason::*which,
               bad_side side, const Get& get) {
    std::vector<double> values;
    values.reserve(windows.size());
    for (const std::size_t at : windows)
      if (const std::optional<double> value = get(to_.windows[at])) values.push_back(*value);
    if (values.empty()) return;
    variability_settings settings = to_.settings;
    settings.metric = side == bad_side::low ? variability_metric::busy : variability_metric::launch_gap;
    const flag_rule rule(settings, std::move(values), windows.size(), to_.grid.width_ns);
    for (const std::size_t at : windows) {
      const variability_window& window = to_.windows[at];
      const std::optional<double> value = get(window);
      if (window.reason == variability_window::no_reason || !value) continue;
      const std::uint64_t count =
          side == bad_side::high_mean ? window.count : std::numeric_limits<std::uint64_t>::max();
      to_.reasons[window.reason].*which =
          variability_measure{*value, rule.median(), rule.is_flagged(*value, {0, 0, count})};
    }
  }

  static std::string shorten(std::string_view name) {
    const std::string made = printable(std::string(name));
    return width(made) > max_name_columns ? cut_in_middle(made, max_name_columns) : made;
  }

  std::string place(std::uint32_t group) const {
    const variability_group about = find_group(to_, group);
    std::string made = printable(group_name(to_, group));
    if (about.what == variability_group::kind::device && about.user_rank)
      made += fmt::format(" of rank {}", *about.user_rank);
    return made;
  }

  std::string describe(const variability_reason& reason) const {
    const variability_window& window = to_.windows[reason.window];
    const bool by_name = to_.settings.by_name();
    std::string made = fmt::format("{} at {}: ", by_name ? shorten(window.name) : place(window.group),
                                   duration(static_cast<double>(window.start_ns)));
    made += describe_value(reason, window);
    made += reason.z ? fmt::format(" (z {:.1f}, limit {:.1f}, {} windows).", *reason.z, reason.z_limit, reason.compared)
                     : fmt::format(" ({} windows).", reason.compared);
    const std::size_t begin = made.size();
    describe_kernels(reason, made);
    const auto describe = [&](const std::optional<variability_measure>& measure, const char* words, auto format) {
      if (!measure || !measure->is_unusual) return;
      made += fmt::format(" {} {}, usually {}.", words, format(measure->value), format(measure->usual));
    };
    const auto as_time = [](double ns) { return duration(ns); };
    describe(reason.copied_bytes, "Copies had", [](double bytes) { return quantity(bytes, "B"); });
    describe(reason.copy_time, "Copies took", as_time);
    if (to_.settings.metric != variability_metric::launch_gap)
      describe(reason.launch_gap, "Gaps for each kernel were", as_time);
    if (reason.starts && reason.starts->is_unusual)
      made += fmt::format(" {} {} started, usually {}.", format_count(static_cast<std::uint64_t>(reason.starts->value)),
                          to_.settings.has_regions ? "regions" : "kernels",
                          format_count(static_cast<std::uint64_t>(reason.starts->usual)));
    if (made.size() == begin) made += describe_nothing(reason);
    return made;
  }

  const char* describe_nothing(const variability_reason& reason) const {
    if (!reason.extra_ns) return " Usual durations are unknown: these names run in flagged windows only.";
    if (to_.settings.has_stalls()) return " No kernel, copy or gap differs from the usual.";
    return to_.settings.has_regions ? " No region differs from the usual." : " No kernel differs from the usual.";
  }

  std::string describe_value(const variability_reason& reason, const variability_window& window) const {
    const double value = *window.value;
    const auto against = [&](const char* words) {
      return fmt::format("{} {}, usually {}", words, duration(value), duration(reason.usual));
    };
    switch (to_.settings.metric) {
      case variability_metric::duration:
        return fmt::format("{} took {:.2f} times as long as usual", to_.settings.has_regions ? "regions" : "kernels",
                           reason.effect.value_or(value));
      case variability_metric::stall: return against("copies without computing took");
      case variability_metric::busy: return against("computing took");
      case variability_metric::launch_gap: return against("gaps for each kernel were");
    }
    return {};
  }

  void describe_kernels(const variability_reason& reason, std::string& to) const {
    const bool by_name = to_.settings.by_name();
    for (const variability_cause& cause : reason.kernels) {
      const bool is_first = &cause == &reason.kernels.front();
      to += is_first ? " " : ", ";
      to += by_name ? place(cause.group) : shorten(cause.name);
      to += fmt::format("{} {}{}", is_first ? " took" : "", duration(cause.extra_ns), is_first ? " longer" : "");
      to += is_first ? fmt::format(" ({} of the extra {})", percent(cause.share), duration(*reason.extra_ns))
                     : fmt::format(" ({})", percent(cause.share));
    }
    if (reason.other_kernels != 0) to += fmt::format(", and {} more", reason.other_kernels);
    if (!reason.kernels.empty()) to += ".";
  }

  variability_result& to_;
  const reason_basis& basis_;
  std::vector<std::size_t> chosen_;  // windows
  std::vector<entry_range> ranges_;  // of their entries
  std::map<group_and_name, count_and_sum> flagged_;
};

}  // namespace

void add_reasons(variability_result& to, const reason_basis& basis, std::vector<flag_evidence> flagged) {
  if (!flagged.empty()) reason_finder(to, basis).add(std::move(flagged));
}

}  // namespace adaptyst::lib
