// A comparison as text: a line for each region, at most 100 columns.
#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <algorithm>
#include <utility>

#include "../model/words.hpp"
#include "../support/text.hpp"
#include "forms.hpp"
#include "parts.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::device_label, lib::path_label;

constexpr std::size_t usual_name_columns = 29;

std::string format_change(const std::optional<double>& fraction) { return lib::signed_percent_cell(fraction).words; }

lib::table_cell interval_cell(const std::optional<change_interval>& interval) {
  if (!interval) return "—";
  const auto end = [](double fraction) {
    if (fraction > 9.995 && fraction < 99.995) return fmt::format("{:+.0f}", 100 * fraction);
    const std::string text = lib::signed_percent(fraction);
    return text.substr(0, text.size() - 1);  // the sign is behind both ends
  };
  return {fmt::format("{}…{}%", end(interval->low), end(interval->high)), interval->low, interval->high};
}

std::optional<double> total_of(const std::optional<compared_side>& side) {
  return side ? side->total_of_run_ns() : std::nullopt;
}

std::optional<double> mean_of(const std::optional<compared_side>& side) {
  return side ? side->mean_ns() : std::nullopt;
}

std::string format_runs(const compared_region& row) {
  return fmt::format("{}+{}", row.before ? row.before->runs : 0, row.after ? row.after->runs : 0);
}

}  // namespace

std::string to_table(const comparison& comparison) { return lib::to_table(comparison, lib::screen()); }

std::string list_slower(const comparison& comparison, double fraction) {
  std::string lines;
  for (const compared_region& row : comparison.regions)
    if (row.slower_by(fraction))
      lines += fmt::format(
          "{}{} on {}: mean {}, now {} ({})", lines.empty() ? "" : "\n", path_label(row.path, usual_name_columns),
          device_label(row.device_kind, row.device_index, row.on_host), lib::time_cell(mean_of(row.before)).words,
          lib::time_cell(mean_of(row.after)).words, format_change(row.change_of_mean));
  return lines;
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

namespace {

table_cell verdict_cell(change_verdict found) {
  table_cell made(to_string(found));
  if (found == change_verdict::slower) made.style = text_style::red;
  if (found == change_verdict::faster) made.style = text_style::green;
  return made;
}

// "1,351 calls, now 1,400; p 0.0021"
std::string describe_calls(const compared_region& row) {
  const auto count = [](const std::optional<compared_side>& side) { return side ? format_count(side->count) : "—"; };
  std::string made = fmt::format("{} calls, now {}", count(row.before), count(row.after));
  if (row.p) made += fmt::format("; p {:.2g}", *row.p);
  return made;
}

text_table list_regions(const comparison& comparison, bool is_verbose, std::size_t across) {
  text_table table({{"REGION", column_kind::name, 12},
                    {"ON", column_kind::text},
                    {"N"},
                    {"TOTAL", column_kind::number, 0, 0, "ns"},
                    {"NOW", column_kind::number, 0, 0, "ns"},
                    {"MEAN", column_kind::number, 0, 0, "ns"},
                    {"CHANGE"},
                    {"INTERVAL", column_kind::number, 0, 0, "", true},
                    {"VERDICT", column_kind::text}});
  for (const compared_region& row : comparison.regions) {
    table_cell change = format_change(row.change_of_mean);
    change.number = row.change_of_mean;
    table.add({row.path, place_label(row.kind, device_label(row.device_kind, row.device_index, row.on_host)),
               format_runs(row), time_cell(total_of(row.before)), time_cell(total_of(row.after)),
               time_cell(mean_of(row.before)), std::move(change), interval_cell(row.interval),
               verdict_cell(row.found)});
    if (is_verbose) table.add_below(wrapped(describe_calls(row), across, 4));
  }
  return table;
}

constexpr const char* legend =
    "N: runs with the region, before and after; TOTAL, NOW: time of the region in a run, before and after; MEAN: of an "
    "event, before; CHANGE: of the mean; p: probability that chance makes a change this large in any region";

}  // namespace

std::string to_table(const comparison& comparison, const screen& on, bool is_verbose) {
  const std::size_t across = std::max(on.columns, min_table_columns);
  if (comparison.is_equal && comparison.differing.empty()) return wrapped(describe_equal(comparison), across);
  std::string out = "\n" + list_regions(comparison, is_verbose, across).text({across, on.has_colour});
  out += "\n" + wrapped(describe_method(comparison), across);
  if (const std::string text = describe_core_waits(comparison); !text.empty()) out += wrapped(text, across);
  if (!comparison.differing.empty()) out += wrapped(describe_differing(comparison.differing), across);
  if (is_verbose) out += wrapped(legend, across);
  return out;
}

text_table to_rows(const comparison& comparison) { return list_regions(comparison, false, columns); }

}  // namespace adaptyst::lib
