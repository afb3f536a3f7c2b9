// What changed, for people: a line for each region, at most 100 columns.
#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <algorithm>

#include "../support/text.hpp"
#include "comparison_words.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::cut_in_middle, lib::device_label, lib::duration, lib::fitted, lib::format_line, lib::path_label, lib::right,
    lib::wrapped;

constexpr std::size_t usual_runs_columns = 6;
constexpr std::size_t usual_name_columns = 29;

std::size_t find_name_columns(std::size_t runs_columns) {
  return usual_name_columns + usual_runs_columns - std::min(runs_columns, usual_name_columns);
}

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

// What many runs need for their numbers is taken from the names.
std::string format_region(const compared_region& row, std::size_t runs_columns) {
  const std::size_t name_columns = find_name_columns(runs_columns);
  return cut_in_middle(path_label(row.path, name_columns), name_columns) + " " +
         fitted(device_label(row.device_kind, row.device_index, row.on_host), 5) +
         right(format_runs(row), runs_columns) + right(format_total(row.before), 9) +
         right(format_total(row.after), 9) + right(format_mean(row.before), 9) +
         right(format_change(row.change_of_mean), 8) + right(format_interval(row.interval), 15) + " " +
         to_string(row.found);
}

}  // namespace

std::string to_table(const comparison& comparison) {
  if (comparison.is_equal && comparison.differing.empty()) return wrapped(lib::describe_equal(comparison));
  std::size_t runs_columns = usual_runs_columns;
  for (const compared_region& row : comparison.regions)
    runs_columns = std::max(runs_columns, format_runs(row).size() + 1);
  std::string out = "\n" + fitted("region", find_name_columns(runs_columns)) + " " + fitted("on", 5) +
                    right("n", runs_columns) + right("total", 9) + right("now", 9) + right("mean", 9) +
                    right("change", 8) + right("interval", 15) + " verdict\n";
  for (const compared_region& row : comparison.regions) out += format_line(format_region(row, runs_columns));
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
