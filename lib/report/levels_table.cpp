// Levels as text: the cost of recording each level, then the regions with the figures of their level.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "../analyse/levels/fields.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "parts.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

table_cell error_cell(const std::optional<estimate>& of) { return time_cell(of ? of->error : std::nullopt); }

// "~": less than two standard errors.
table_cell overhead_cell(const std::optional<estimate>& of) {
  if (!of) return "—";
  table_cell made = signed_time_cell(of->value);
  if (!of->error || std::abs(of->value) < 2 * *of->error) made.words.insert(0, "~");
  return made;
}

std::string levels_text(const levels_result& result, const screen& on) {
  text_table table({{"LEVEL", column_kind::text},
                    {"RUNS"},
                    {"REGIONS"},
                    {"EVENTS"},
                    {"RUN TIME"},
                    {"±"},
                    {"OVERHEAD"},
                    {"±"},
                    {"%"}});
  double above_ns = 0;
  for (const levelled_summary& level : result.levels) {
    table.add({std::string(level_name(level.which)), count_cell(static_cast<double>(level.runs)),
               count_cell(static_cast<double>(level.regions)), count_cell(level.events), time_cell(level.run_ns.value),
               error_cell(level.run_ns), overhead_cell(level.overhead_ns), error_cell(level.overhead_ns),
               level.overhead_ns && above_ns > 0 ? signed_percent_cell(level.overhead_ns->value / above_ns) : ""});
    above_ns = level.run_ns.value;
  }
  return table.text(on);
}

// In the terminal, nested names are below their parents, and rooflines below the regions.
text_table list_regions(const levels_result& result, bool as_tree, std::size_t across) {
  text_table table({{"REGION", column_kind::name, 20},
                    {"LEVEL", column_kind::text},
                    {"ON", column_kind::text, 0, 12},
                    {"CALLS"},
                    {"TIME", column_kind::number, 0, 0, "ns"},
                    {"±", column_kind::number, 0, 0, "time_ns"},
                    {"PER CALL", column_kind::number, 0, 0, "ns"},
                    {"DEEPER", column_kind::number, 0, 0, "ns"},
                    {"±", column_kind::number, 0, 0, "deeper_ns"}});
  for (const levelled_region& region : result.regions) {
    table_cell name(region.path);
    if (as_tree) name = std::string(2 * (region.path.size() - 1), ' ') + printable(region.path.back());
    table.add({std::move(name), std::string(level_name(region.at)), region.device,
               table_cell(format_number(region.calls) + (region.calls_vary ? "*" : ""), region.calls),
               time_cell(region.total_ns.value), error_cell(region.total_ns),
               time_cell(region.per_call_ns ? std::optional(region.per_call_ns->value) : std::nullopt),
               overhead_cell(region.overhead_ns), error_cell(region.overhead_ns)});
    if (as_tree && region.roofline)
      table.add_below(wrapped(roofline_text(*region.roofline), across, 2 * region.path.size()));
  }
  return table;
}

std::string describe_method(const levels_result& result, const levels_settings& how, std::size_t across,
                            bool is_verbose) {
  const std::string runs = how.repeat == 1 ? "one run" : fmt::format("{} runs", how.repeat);
  if (!is_verbose)
    return wrapped(fmt::format("means of {} a level, engine {}; ±: standard error; ~: may be chance; more: --verbose",
                               runs, how.engine),
                   across);
  return wrapped(
      fmt::format("means of {} a level, trimmed by {:g} at each end, engine {}, overhead={}; ±: standard error. "
                  "OVERHEAD and DEEPER: how much longer the run, or the region, took when one level more was "
                  "recorded; ~: by less than two standard errors, which may be chance; *: runs differ in calls",
                  runs, result.trim, how.engine, how.overhead),
      across);
}

}  // namespace

text_table to_rows(const levels_result& result) { return list_regions(result, false, columns); }

// With --stack, the analyses come first, and the regions only with --verbose.
std::string to_table(const levels_report& report, const screen& on, bool is_verbose) {
  const levels_result& result = report.of;
  std::string made = levels_text(result, on) + "\n";
  if (report.stack) made += to_table(*report.stack, on, is_verbose);
  if (!report.stack || is_verbose) made += list_regions(result, true, on.columns).text(on) + "\n";
  if (report.how.traces.empty()) made += describe_method(result, report.how, on.columns, is_verbose) + "\n";
  if (result.ceilings) made += wrapped(roofline_legend(*result.ceilings), on.columns) + "\n";
  for (const std::string& remark : result.remarks) made += wrapped(remark, on.columns) + "\n";
  return made;
}

}  // namespace adaptyst::lib
