// The text that `adaptyst top` shows: what observing costs, the regions that took most of the interval, the devices.
#include "activity_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../support/text.hpp"
#include "region_table.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::cut_in_middle, lib::device_label, lib::duration, lib::fitted, lib::format_line, lib::format_number,
    lib::list_losses, lib::named_device, lib::path_label, lib::percent, lib::printable, lib::quantity, lib::right,
    lib::wrapped;

using lines = std::vector<std::string>;

std::string percent_or_dash(const std::optional<double>& fraction) { return fraction ? percent(*fraction) : "—"; }

std::string display_name(const process_info& process) {
  return fmt::format("{} {}", printable(process.command.substr(process.command.rfind('/') + 1)), process.pid);
}

std::string describe_subject(const activity& activity) {
  constexpr std::size_t max_names = 4;
  std::string names;
  for (std::size_t at = 0; at != std::min(activity.processes.size(), max_names); ++at)
    names += (at == 0 ? ": " : ", ") + display_name(activity.processes[at]);
  if (activity.processes.size() > max_names) names += ", …";
  return fmt::format("adaptyst: {} process{}{}; engine {}{}", activity.processes.size(),
                     activity.processes.size() == 1 ? "" : "es", names, activity.engine,
                     activity.wall_ns > 0 ? ", the last " + duration(activity.wall_ns) : "");
}

std::string format_load(const activity& activity, const std::optional<double>& observer_cpu) {
  std::string text = fmt::format("{} events/s, {} so far",
                                 activity.events_per_second ? format_number(*activity.events_per_second) : "—",
                                 format_number(static_cast<double>(activity.events_so_far)));
  if (activity.overhead) text += fmt::format("; observing costs {} of a thread", percent(*activity.overhead));
  if (observer_cpu) text += fmt::format("; this observer, {} of a processor", percent(*observer_cpu));
  return text;
}

std::string format_losses(const activity& activity) {
  std::uint64_t lost_now = 0;
  for (const auto& [reason, count] : activity.lost) lost_now += count;
  return fmt::format("{} events lost now; so far {}", lost_now, list_losses(activity.lost_so_far));
}

// How wide the table is, without the name of a region: the columns process, on, per s, self, total, mean, p99, so far.
// A space before each is included.
constexpr std::size_t process_columns = 12;
constexpr std::size_t device_columns = 6;
constexpr std::size_t columns_after_name = process_columns + device_columns + 9 + 8 + 8 + 9 + 9 + 9;

// "4711", or "4711 +3": process 4711 and three others.
std::string format_processes(const active_region& row) {
  if (row.processes.empty()) return "—";
  const std::string first = std::to_string(row.processes.front());
  return row.processes.size() == 1 ? first : fmt::format("{} +{}", first, row.processes.size() - 1);
}

std::string format_region(const active_region& row, std::size_t name_columns) {
  std::string line = cut_in_middle(path_label(row.path, name_columns), name_columns);
  line += " " + fitted(format_processes(row), process_columns - 1);
  line += " " + fitted(device_label(row.device_kind, row.device_index, row.on_host), device_columns - 1);
  line += right(row.per_second ? quantity(*row.per_second, "") : "—", 9);
  line += right(percent_or_dash(row.self_share), 8) + right(percent_or_dash(row.total_share), 8);
  line += right(row.mean_ns ? duration(*row.mean_ns) : "—", 9) + right(duration(row.p99_ns), 9);
  // What is not timed has neither a share nor a total.
  return line + right(row.total_share ? duration(static_cast<double>(row.total_so_far_ns)) : "—", 9);
}

std::vector<const active_region*> sort_regions(const activity& activity, activity_order order) {
  std::vector<const active_region*> sorted;
  sorted.reserve(activity.regions.size());
  for (const active_region& row : activity.regions) sorted.push_back(&row);
  const auto greatest_first = [&](auto key) {
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const active_region* a, const active_region* b) { return key(*b) < key(*a); });
  };
  if (order == activity_order::total) greatest_first([](const active_region& row) { return row.total_share; });
  if (order == activity_order::rate) greatest_first([](const active_region& row) { return row.per_second; });
  if (order == activity_order::so_far) greatest_first([](const active_region& row) { return row.total_so_far_ns; });
  return sorted;  // activity_order::self is how activity::regions is sorted already
}

lines format_regions(const activity& activity, std::size_t name_columns, std::size_t max_regions,
                     activity_order order) {
  lines table{fitted("region", name_columns) + " " + fitted("process", process_columns - 1) + " " +
              fitted("on", device_columns - 1) + right("per s", 9) + right("self", 8) + right("total", 8) +
              right("mean", 9) + right("p99", 9) + right("so far", 9)};
  if (activity.regions.empty()) table.emplace_back("(no region ended)");
  const std::size_t count = std::min(activity.regions.size(), max_regions);
  const std::vector<const active_region*> sorted = sort_regions(activity, order);
  for (std::size_t at = 0; at != count; ++at) table.push_back(format_region(*sorted[at], name_columns));
  if (count != activity.regions.size()) table.push_back(fmt::format("… and {} more", activity.regions.size() - count));
  return table;
}

lines format_devices(const activity& activity, std::size_t name_columns) {
  lines table{fitted("device", name_columns + process_columns + device_columns) + right("used", 9) +
              right("so far", 8)};
  for (const active_device& device : activity.devices)
    table.push_back(fitted(named_device(device_label(device.kind, device.index, device.is_host), device.name),
                           name_columns + process_columns + device_columns) +
                    right(percent_or_dash(device.utilisation), 9) +
                    right(percent_or_dash(device.utilisation_so_far), 8));
  return table;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string to_table(const activity& activity, const activity_view& view) {
  constexpr std::size_t min_name_columns = 12;
  const std::size_t name_columns = std::max(view.columns, columns_after_name + min_name_columns) - columns_after_name;
  std::string out = wrapped(describe_subject(activity), view.columns) +
                    wrapped(format_load(activity, view.observer_cpu), view.columns);
  if (!activity.lost_so_far.empty()) out += wrapped(format_losses(activity), view.columns);
  std::string devices = "\n";
  for (const std::string& line : format_devices(activity, name_columns)) devices += format_line(line, view.columns);

  std::size_t max_regions = view.regions;
  if (view.lines != 0) {
    // An empty line, the names of the columns, and how many regions are not shown.
    constexpr std::size_t other_lines = 3;
    const std::size_t taken = count_lines(out) + count_lines(devices) + other_lines;
    max_regions = std::min(max_regions, view.lines - std::min(view.lines, taken));
  }
  out += "\n";
  if (!activity.functions.empty() && activity.regions.empty())
    return out + "no markers: none has run\n" + lib::function_table(activity.functions, view.columns) + devices;
  for (const std::string& line : format_regions(activity, name_columns, max_regions, view.order))
    out += format_line(line, view.columns);
  return out + devices;
}

}}  // namespace adaptyst::v1
