// What changed, for people: a line for each region, at most 100 columns.
#include <fmt/format.h>

#include <adaptyst/compare.hpp>
#include <algorithm>
#include <cmath>

#include "../support/text.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::device_label, lib::duration, lib::fitted, lib::line_of, lib::path_label, lib::right, lib::wrapped;

constexpr std::size_t name_columns = 34;

std::string change_of(const std::optional<double>& fraction) {
  if (!fraction) return "—";
  return *fraction < 99.995 ? fmt::format("{:+.1f}%", 100 * *fraction) : ">+9999%";
}

std::string p_of(const compared_region& row) {
  if (!row.test) return "—";
  const double p = row.test->p;
  return p < 0.0005 ? "<0.001" : p > 0.995 ? "1" : fmt::format("{:.{}f}", p, p < 0.0995 ? 3 : 2);
}

std::string total_of(const std::optional<compared_side>& side) {
  return side ? duration(side->total_ns) : std::string("—");
}

std::string mean_of(const std::optional<compared_side>& side) {
  const std::optional<double> mean = side ? side->mean_ns() : std::nullopt;
  return mean ? duration(*mean) : "—";
}

std::string line_of_region(const compared_region& row) {
  const std::string total = !row.before ? "new" : !row.after ? "gone" : change_of(row.change_of_total());
  return fitted(path_label(row.path, name_columns), name_columns) + " " +
         fitted(device_label(row.device_kind, row.device_index), 5) + right(total_of(row.before), 9) +
         right(total_of(row.after), 9) + right(total, 8) + right(mean_of(row.before), 9) +
         right(mean_of(row.after), 9) + right(change_of(row.change_of_mean()), 8) + right(p_of(row), 7) +
         (row.significant() ? "*" : "");
}

}  // namespace

std::string to_table(const comparison& of) {
  std::string out = "\n" + fitted("region", name_columns) + " " + fitted("on", 5) + right("total", 9) +
                    right("now", 9) + right("change", 8) + right("mean", 9) + right("now", 9) + right("change", 8) +
                    right("p", 7) + "\n";
  for (const compared_region& row : of.regions) out += line_of(line_of_region(row));
  const auto significant =
      std::count_if(of.regions.begin(), of.regions.end(), [](const compared_region& row) { return row.significant(); });
  std::string sentence = fmt::format("{} regions compared", of.regions.size());
  if (of.ignored != 0) sentence += fmt::format(", {} below the least share ignored", of.ignored);
  sentence += fmt::format(
      "; * {} with durations that differ by more than chance (p < {}: Mann-Whitney U test, corrected for the number of "
      "regions)",
      significant, significance_level);
  return out + "\n" + wrapped(sentence);
}

std::string list_slower(const comparison& of, double fraction) {
  std::string lines;
  for (const compared_region& row : of.regions)
    if (row.slower_by(fraction))
      lines += fmt::format("{}{} on {}: mean {}, now {} ({})", lines.empty() ? "" : "\n",
                           path_label(row.path, name_columns), device_label(row.device_kind, row.device_index),
                           mean_of(row.before), mean_of(row.after), change_of(row.change_of_mean()));
  return lines;
}

}}  // namespace adaptyst::v1
