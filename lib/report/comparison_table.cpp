// What changed, for people: a line for each region, at most 100 columns.
#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <algorithm>

#include "../support/text.hpp"
#include "comparison_words.hpp"
#include "text_table.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::device_label, lib::duration, lib::path_label, lib::wrapped;

constexpr std::size_t usual_name_columns = 29;

std::string format_change(const std::optional<double>& fraction) {
  if (!fraction) return "—";
  return *fraction < 99.995 ? fmt::format("{:+.1f}%", 100 * *fraction) : ">+9999%";
}

std::string format_interval(const std::optional<change_interval>& interval) {
  if (!interval) return "—";
  const auto end = [](double fraction) {
    return fraction > 99.995 ? ">+9999" : fmt::format("{:+.{}f}", 100 * fraction, fraction < 9.995 ? 1 : 0);
  };
  return fmt::format("{}…{}%", end(interval->low), end(interval->high));
}

std::string format_total(const std::optional<compared_side>& side) {
  const std::optional<double> total = side ? side->total_of_run_ns() : std::nullopt;
  return total ? duration(*total) : "—";
}

std::string format_mean(const std::optional<compared_side>& side) {
  const std::optional<double> mean = side ? side->mean_ns() : std::nullopt;
  return mean ? duration(*mean) : "—";
}

std::string format_runs(const compared_region& row) {
  return fmt::format("{}+{}", row.before ? row.before->runs : 0, row.after ? row.after->runs : 0);
}

}  // namespace

std::string to_table(const comparison& comparison) {
  if (comparison.is_equal && comparison.differing.empty()) return wrapped(lib::describe_equal(comparison));
  lib::text_table table({{"region", lib::column_kind::name, 12},
                         {"on", lib::column_kind::text},
                         {"n"},
                         {"total"},
                         {"now"},
                         {"mean"},
                         {"change"},
                         {"interval"},
                         {"verdict", lib::column_kind::text}});
  for (const compared_region& row : comparison.regions)
    table.add({row.path, device_label(row.device_kind, row.device_index, row.on_host), format_runs(row),
               format_total(row.before), format_total(row.after), format_mean(row.before),
               format_change(row.change_of_mean), format_interval(row.interval), to_string(row.found)});
  std::string out = "\n" + table.text(lib::columns);
  out += "\n" + wrapped(lib::describe_method(comparison));
  if (const std::string text = lib::describe_core_waits(comparison); !text.empty()) out += wrapped(text);
  if (!comparison.differing.empty()) out += wrapped(lib::describe_differing(comparison.differing));
  return out;
}

std::string list_slower(const comparison& comparison, double fraction) {
  std::string lines;
  for (const compared_region& row : comparison.regions)
    if (row.slower_by(fraction))
      lines += fmt::format("{}{} on {}: mean {}, now {} ({})", lines.empty() ? "" : "\n",
                           path_label(row.path, usual_name_columns),
                           device_label(row.device_kind, row.device_index, row.on_host), format_mean(row.before),
                           format_mean(row.after), format_change(row.change_of_mean));
  return lines;
}

}}  // namespace adaptyst::v1
