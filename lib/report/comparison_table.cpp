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

using lib::device_label, lib::path_label, lib::wrapped;

constexpr std::size_t usual_name_columns = 29;

std::string format_change(const std::optional<double>& fraction) {
  if (!fraction) return "—";
  return *fraction < 99.995 ? fmt::format("{:+.1f}%", 100 * *fraction) : ">+9999%";
}

lib::table_cell interval_cell(const std::optional<change_interval>& interval) {
  if (!interval) return "—";
  const auto end = [](double fraction) {
    return fraction > 99.995 ? ">+9999" : fmt::format("{:+.{}f}", 100 * fraction, fraction < 9.995 ? 1 : 0);
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

std::string to_table(const comparison& comparison) {
  if (comparison.is_equal && comparison.differing.empty()) return wrapped(lib::describe_equal(comparison));
  std::string out = "\n" + lib::to_rows(comparison).text(lib::columns);
  out += "\n" + wrapped(lib::describe_method(comparison));
  if (const std::string text = lib::describe_core_waits(comparison); !text.empty()) out += wrapped(text);
  if (!comparison.differing.empty()) out += wrapped(lib::describe_differing(comparison.differing));
  return out;
}

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

text_table to_rows(const comparison& comparison) {
  text_table table({{"region", column_kind::name, 12},
                    {"on", column_kind::text},
                    {"n"},
                    {"total", column_kind::number, 0, 0, "ns"},
                    {"now", column_kind::number, 0, 0, "ns"},
                    {"mean", column_kind::number, 0, 0, "ns"},
                    {"change"},
                    {"interval", column_kind::number, 0, 0, "", true},
                    {"verdict", column_kind::text}});
  for (const compared_region& row : comparison.regions) {
    table_cell change = format_change(row.change_of_mean);
    change.number = row.change_of_mean;
    table.add({row.path, place_label(row.kind, device_label(row.device_kind, row.device_index, row.on_host)),
               format_runs(row), time_cell(total_of(row.before)), time_cell(total_of(row.after)),
               time_cell(mean_of(row.before)), std::move(change), interval_cell(row.interval), to_string(row.found)});
  }
  return table;
}

}  // namespace adaptyst::lib
