// Variability as text: the windows as a strip of blocks, the worst windows, the varying names, and the findings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "../analyse/variability/fields.hpp"
#include "../analyse/variability/flags.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

// Without --verbose.
constexpr std::size_t usual_strips = 16;
constexpr std::size_t usual_names = 20;
constexpr std::size_t usual_copies = 40;  // rows
constexpr std::size_t usual_reasons = 5;

std::string label(const variability_result& result, const variability_window& window) {
  return result.settings.by_name() ? printable(std::string(window.name)) : group_name(result, window.group);
}

std::string format_value(const variability_result& result, double value) {
  return result.settings.metric == variability_metric::duration ? fmt::format("{:.2f} x", value) : duration(value);
}

// A block for several windows, as high as the worst of them; "!" marks a flagged window.
void add_strips(const variability_result& result, std::size_t most, const screen& on, std::string& to) {
  if (result.windows.empty()) return;
  static constexpr std::array blocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::map<std::pair<std::uint32_t, std::string_view>, std::vector<const variability_window*>> series;
  for (const variability_window& window : result.windows)
    if (window.value) series[{window.group, window.name}].push_back(&window);
  const std::uint64_t first = result.windows.front().start_ns, last = result.windows.back().end_ns;
  const std::size_t left = 14, room = std::max<std::size_t>(20, on.columns - left - 2);
  const std::uint64_t windows = (last - first) / result.grid.width_ns;
  const std::uint64_t windows_in_block = std::max<std::uint64_t>(1, (windows + room - 1) / room);
  const bool is_low_bad = result.settings.metric == variability_metric::busy;
  std::size_t shown = 0;
  for (const auto& [key, list] : series) {
    if (shown++ == most) {
      to += fmt::format("{:14}… and {} more, with --verbose\n", "", series.size() - most);
      break;
    }
    std::map<std::uint64_t, std::pair<double, bool>> worst;
    double low = *list.front()->value, high = low;
    for (const variability_window* const window : list) {
      low = std::min(low, *window->value);
      high = std::max(high, *window->value);
      auto& [value, is_flagged] =
          worst.try_emplace((window->start_ns - first) / result.grid.width_ns / windows_in_block, *window->value, false)
              .first->second;
      value = is_low_bad ? std::min(value, *window->value) : std::max(value, *window->value);
      is_flagged = is_flagged || window->is_flagged;
    }
    std::string heights, flags;
    bool has_flag = false;
    for (std::uint64_t block = 0; block * windows_in_block < windows; ++block) {
      const auto found = worst.find(block);
      if (found == worst.end()) {
        heights += ' ';
        flags += ' ';
        continue;
      }
      const double height = high > low ? (found->second.first - low) / (high - low) : 0;
      heights += blocks[std::min<std::size_t>(7, static_cast<std::size_t>(height * 8))];
      flags += found->second.second ? '!' : ' ';
      has_flag = has_flag || found->second.second;
    }
    const auto styled = [&](const std::string& text, text_style style) {
      return on.has_colour ? painted(text, style) : text;
    };
    to += fitted(label(result, *list.front()), left) + styled(heights, text_style::cyan) + "\n";
    if (has_flag)
      to += std::string(left, ' ') + styled(flags.substr(0, flags.find_last_not_of(' ') + 1), text_style::red) + "\n";
  }
  to += fmt::format("{:14}a block is {} of time, from {} to {} after the begin\n\n", "",
                    duration(static_cast<double>(windows_in_block * result.grid.width_ns)),
                    duration(static_cast<double>(first)), duration(static_cast<double>(last)));
}

void add_worst(const variability_result& result, const screen& on, std::string& to) {
  if (result.top.empty()) return;
  static constexpr const char* what[] = {"SLOWER", "STALL", "BUSY", "GAP"};
  const variability_metric metric = result.settings.metric;
  const bool has_stall = result.settings.has_stalls() && metric != variability_metric::stall;
  const bool has_copies = result.settings.has_stalls();
  std::vector<table_column> columns = {{"AT", column_kind::number, 10, 0, "ns"},
                                       {"", column_kind::text},
                                       {what[static_cast<int>(metric)]},
                                       {"N"},
                                       {"P50"},
                                       {"P95"}};
  if (has_stall) columns.push_back({"STALL"});
  if (has_copies) columns.push_back({"COPIED"});
  columns.push_back({"RAN MOST", column_kind::name, 20});
  text_table table(std::move(columns));
  for (const std::size_t at : result.top) {
    const variability_window& window = result.windows[at];
    // A window in which nothing ran has no duration.
    const auto of_any = [&](double ns) { return time_cell(window.count != 0 ? std::optional(ns) : std::nullopt); };
    std::vector<table_cell> cells = {time_cell(static_cast<double>(window.start_ns)),
                                     (window.is_flagged ? "! " : "  ") + label(result, window),
                                     {format_value(result, *window.value), *window.value},
                                     std::to_string(window.count),
                                     of_any(window.p50),
                                     of_any(window.p95)};
    if (window.is_flagged) cells[1].style = text_style::red;
    if (has_stall) cells.push_back(time_cell(static_cast<double>(window.stall_ns)));
    if (has_copies) cells.push_back(time_cell(static_cast<double>(window.copy_ns)));
    cells.emplace_back(window.longest.empty() ? ""
                                              : fmt::format("{:.0f} % {}", 100 * window.longest_share,
                                                            printable(std::string(window.longest))));
    table.add(std::move(cells));
  }
  to += table.text(on) + "\n";
}

// The reasons of the worst windows.
void add_reasons(const variability_result& result, std::size_t most, std::string& to) {
  std::size_t shown = 0, left_out = 0;
  for (const std::size_t at : result.top) {
    const std::uint32_t reason = result.windows[at].reason;
    if (reason == variability_window::no_reason) continue;
    if (shown == most) ++left_out;
    else to += wrapped("! " + printable(result.reasons[reason].text));
    shown += shown == most ? 0 : 1;
  }
  if (left_out != 0) to += fmt::format("  … and {} more, with --verbose\n", left_out);
  if (shown != 0) to += "\n";
}

text_table list_names(const variability_result& result, std::size_t most) {
  text_table table({{"", column_kind::number, 10},
                    {"N"},
                    {"MEAN", column_kind::number, 0, 0, "ns"},
                    {"P50", column_kind::number, 0, 0, "ns"},
                    {"P95", column_kind::number, 0, 0, "ns"},
                    {"P99", column_kind::number, 0, 0, "ns"},
                    {"CV"},
                    {"SHARE"},
                    {result.settings.has_regions ? "REGION" : "KERNEL", column_kind::name, 20}});
  for (std::size_t at = 0; at != std::min(result.names.size(), most); ++at) {
    const variability_name& name = result.names[at];
    table.add({group_name(result, name.group), count_cell(static_cast<double>(name.count)), time_cell(name.mean),
               time_cell(name.p50), time_cell(name.p95), time_cell(name.p99),
               percent_cell(name.mean > 0 ? std::optional(name.std / name.mean) : std::nullopt),
               percent_cell(name.share), printable(name.name)});
  }
  return table;
}

void add_names(const variability_result& result, std::size_t most, const screen& on, std::string& to) {
  if (result.names.empty()) return;
  to += list_names(result, most).text(on);
  if (result.names.size() > most)
    to += fmt::format("{:10} … and {} more, with --verbose\n", "", result.names.size() - most);
  to += "\n";
}

void add_copies(const variability_result& result, std::size_t most, const screen& on, std::string& to) {
  if (result.copies.empty()) return;
  text_table table({{"", column_kind::number, 10},
                    {"N"},
                    {"TIME", column_kind::number, 0, 0, "ns"},
                    {"BYTES", column_kind::number, 0, 0, "bytes"},
                    {"RATE"},
                    {"COPIES", column_kind::name, 20}});
  for (std::size_t at = 0; at != std::min(result.copies.size(), most); ++at) {
    const variability_copies& copies = result.copies[at];
    const bool has_rate = copies.bytes && copies.total_ns > 0;
    table.add({group_name(result, copies.group), count_cell(static_cast<double>(copies.count)),
               time_cell(copies.total_ns), copies.bytes ? quantity(static_cast<double>(*copies.bytes), "B") : "—",
               has_rate ? quantity(1e9 * static_cast<double>(*copies.bytes) / copies.total_ns, "B/s") : "—",
               copies.direction ? word_at(*copies.direction) : "direction unknown"});
  }
  to += table.text(on);
  if (result.copies.size() > most)
    to += fmt::format("{:10} … and {} more, with --verbose\n", "", result.copies.size() - most);
  to += "\n";
}

void add_waits(const variability_result& result, std::size_t most, const screen& on, std::string& to) {
  if (result.waits.empty()) return;
  text_table table({{"", column_kind::number, 10},
                    {"KERNELS"},
                    {"WINDOWS"},
                    {"R"},
                    {"COPY", column_kind::number, 0, 0, "ns"},
                    {"DELAY", column_kind::number, 0, 0, "ns"},
                    {"KERNEL", column_kind::name, 20}});
  for (std::size_t at = 0; at != std::min(result.waits.size(), most); ++at) {
    const variability_wait& wait = result.waits[at];
    table.add({group_name(result, wait.group), count_cell(static_cast<double>(wait.count)),
               std::to_string(wait.windows), fmt::format("{:.2f}", wait.r), time_cell(wait.copy_ns),
               time_cell(wait.delay_ns), printable(wait.name)});
  }
  to +=
      "copy -> kernel (correlation, not cause): these kernels start later in windows with longer copies before them\n" +
      table.text(on);
  if (result.waits.size() > most)
    to += fmt::format("{:10} … and {} more, with --verbose\n", "", result.waits.size() - most);
  to += "\n";
}

}  // namespace

std::vector<std::string> list_totals(const variability_result& result) {
  std::vector<std::string> made;
  if (result.settings.has_stalls())
    made.push_back(fmt::format("stall against p95 of durations: Pearson {}, Spearman {}, n {}",
                               result.pearson ? fmt::format("{:.2f}", *result.pearson) : "undefined",
                               result.spearman ? fmt::format("{:.2f}", *result.spearman) : "undefined", result.pairs));
  if (result.efficiency) {
    const device_efficiency& whole = result.efficiency->whole;
    const std::string many = whole.devices == 1 ? "of the device" : fmt::format("of {} devices", whole.devices);
    made.push_back(
        whole.of ? fmt::format("parallel efficiency {}: {} = load balance {} x communication {} x orchestration {}",
                               many, percent(whole.of->parallel), percent(whole.of->load_balance),
                               percent(whole.of->communication), percent(whole.of->orchestration))
                 : fmt::format("parallel efficiency {}: not available, since nothing was computed", many));
  }
  if (result.host_efficiency && result.host_efficiency->whole.of) {
    const host_efficiency& whole = result.host_efficiency->whole;
    const std::string many =
        whole.threads == 1 ? "of the host's thread" : fmt::format("of {} threads of the host", whole.threads);
    made.push_back(
        fmt::format("parallel efficiency {}: at most {} = MPI load balance {} x MPI communication {} x offload {}",
                    many, percent(whole.of->parallel), percent(whole.of->mpi_load_balance),
                    percent(whole.of->mpi_communication), percent(whole.of->device_offload)));
  }
  return made;
}

text_table to_rows(const variability_result& result) { return list_names(result, result.names.size()); }

std::string to_table(const variability_result& result, const screen& given, bool is_verbose) {
  const screen on(std::max(given.columns, min_table_columns), given.has_colour);
  std::string made;
  for (const std::string& trace : result.traces) made += printable(trace) + "\n";
  if (result.is_simulated) made += "SIMULATED: made by a generator, not measured.\n";
  std::uint64_t spans = 0;
  for (const variability_name& name : result.names) spans += name.count;
  made += fmt::format("{} of {} in {} windows of {}\n\n", format_number(static_cast<double>(spans)),
                      result.settings.has_regions ? "regions" : "kernels", result.windows.size(),
                      duration(static_cast<double>(result.grid.width_ns)));
  // The findings come first.
  for (const variability_finding& finding : result.findings) made += wrapped("- " + finding.text);
  if (result.findings.empty()) made += "Nothing varies more than it usually does.\n";
  made += "\n";
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  add_strips(result, is_verbose ? all : usual_strips, on, made);
  add_worst(result, on, made);
  add_reasons(result, is_verbose ? all : usual_reasons, made);
  add_names(result, is_verbose ? all : usual_names, on, made);
  add_copies(result, is_verbose ? all : usual_copies, on, made);
  add_waits(result, is_verbose ? all : usual_names, on, made);
  std::uint64_t flagged = 0, compared = 0;
  for (const variability_window& window : result.windows) {
    flagged += window.is_flagged ? 1 : 0;
    compared += window.value ? 1 : 0;
  }
  made += fmt::format(
      "{} of {} windows flagged (!): {} {} {} quartile {} {} x interquartile range\n", flagged, compared,
      result.settings.metric == variability_metric::duration ? "log(duration)" : word_at(result.settings.metric),
      result.settings.metric == variability_metric::busy ? "<" : ">",
      result.settings.metric == variability_metric::busy ? "lower" : "upper",
      result.settings.metric == variability_metric::busy ? "-" : "+", result.settings.iqr);
  const bool is_stall = result.settings.metric == variability_metric::stall;
  if (is_verbose)
    made +=
        fmt::format("a flag also needs {:.0f} %{}, and more than chance: {:.0f} % of traces without a fault have one\n",
                    100 * (is_stall ? least_stall_share : least_ratio - 1), is_stall ? " of the window" : "",
                    100 * false_flag_rate);
  for (const std::string& total : list_totals(result)) made += total + "\n";
  if (is_verbose)
    made += fmt::format("quantiles of windows are exact, those of {} within {:.0f} %\n",
                        result.settings.has_regions ? "regions" : "kernels", 100 * histogram_error);
  for (const std::string& remark : result.remarks) made += wrapped("note: " + printable(remark));
  return made;
}

namespace {

text_table list_compared(const run_comparison& of, std::size_t most) {
  text_table table({{"N"},
                    {"MEAN", column_kind::number, 0, 0, "ns"},
                    {"WITHIN"},
                    {"BETWEEN RUNS"},
                    {of.by == variability_by::rank || of.has_regions ? "BETWEEN RANKS" : "BETWEEN GPUS"},
                    {"RUNS"},
                    {"SLOWEST/FASTEST"},
                    {of.has_regions ? "REGION" : "KERNEL", column_kind::name, 20}});
  for (std::size_t at = 0; at != std::min(of.names.size(), most); ++at) {
    const compared_name& name = of.names[at];
    table.add({count_cell(static_cast<double>(name.count)), time_cell(name.mean_ns), percent_cell(name.within),
               percent_cell(name.between_runs), percent_cell(name.between_groups), std::to_string(name.runs),
               name.ratio ? table_cell(fmt::format("{:.2f} x", *name.ratio), *name.ratio) : table_cell("—"),
               printable(name.name)});
  }
  return table;
}

std::string ratio_and_z(const group_difference& difference) {
  return fmt::format("{:.2f} x{}", difference.ratio, difference.z ? fmt::format(", z {:.1f}", *difference.z) : "");
}

void add_runs(const run_comparison& of, const screen& on, std::string& to) {
  text_table table({{"RUN"},
                    {"N"},
                    {"TIME", column_kind::number, 0, 0, "ns"},
                    {"FLAGGED"},
                    {"AGAINST OTHERS"},
                    {"TRACE", column_kind::name, 20}});
  for (std::size_t at = 0; at != of.runs.size(); ++at) {
    const compared_run& run = of.runs[at];
    table.add({fmt::format("{}{}", run.is_slow ? "! " : "", at + 1), count_cell(static_cast<double>(run.count)),
               time_cell(run.total_ns), fmt::format("{} of {}", run.flagged, run.windows),
               run.difference ? ratio_and_z(*run.difference) : "—", printable(run.trace)});
  }
  to += table.text(on) + "\n";
}

void add_groups(const run_comparison& of, std::size_t most, const screen& on, std::string& to) {
  text_table table(
      {{"", column_kind::text}, {"SLOW IN"}, {"LOWEST RATIO"}, {"LOWEST Z"}, {"EACH RUN", column_kind::name, 20}});
  std::size_t shown = 0, left_out = 0;
  for (const compared_group& group : of.groups) {
    if (group.runs.empty()) continue;
    if (shown == most) {
      ++left_out;
      continue;
    }
    ++shown;
    std::string each;
    for (const compared_group::in_run& run : group.runs)
      each += fmt::format("{}{}: {:.2f} x", each.empty() ? "" : ", ", run.run + 1, run.difference.ratio);
    table.add({(group.is_slow ? "! " : "  ") + printable(group.label),
               fmt::format("{} of {} runs", group.slow_runs, group.runs.size()),
               fmt::format("{:.2f} x", *group.least_ratio), group.least_z ? fmt::format("{:.1f}", *group.least_z) : "—",
               std::move(each)});
  }
  if (shown == 0) return;
  to += table.text(on);
  if (left_out != 0) to += fmt::format("{:10} … and {} more, with --verbose\n", "", left_out);
  to += "\n";
}

}  // namespace

text_table to_rows(const run_comparison& of) { return list_compared(of, of.names.size()); }

std::string to_table(const run_comparison& of, const screen& given, bool is_verbose) {
  const screen on(std::max(given.columns, min_table_columns), given.has_colour);
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  std::string made;
  if (of.is_simulated) made += "SIMULATED: made by a generator, not measured.\n";
  made += fmt::format("{} runs\n\n", of.runs.size());
  for (const run_finding& finding : of.findings) made += wrapped("- " + printable(finding.text));
  if (of.findings.empty()) made += "No run is slow, and nothing is slow in every run.\n";
  made += "\n";
  add_runs(of, on, made);
  add_groups(of, is_verbose ? all : usual_strips, on, made);
  const std::size_t most = is_verbose ? all : usual_names;
  if (!of.names.empty()) made += list_compared(of, most).text(on);
  if (of.names.size() > most) made += fmt::format("{:10} … and {} more, with --verbose\n", "", of.names.size() - most);
  made += fmt::format("\n! a ratio of at least {} and a z of at least {:.0f}; a device or rank: in each of its runs\n",
                      least_ratio, least_errors);
  for (const std::string& remark : of.remarks) made += wrapped("note: " + printable(remark));
  return made;
}

}  // namespace adaptyst::lib
