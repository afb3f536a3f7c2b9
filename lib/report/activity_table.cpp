// What happens now, for people: what it costs to look, the hottest regions, the devices.
#include "activity_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../support/text.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::cut_in_middle, lib::device_label, lib::duration, lib::fitted, lib::format_line, lib::format_number,
    lib::list_losses, lib::named_device, lib::path_label, lib::percent, lib::printable, lib::quantity, lib::right,
    lib::wrapped;

using lines = std::vector<std::string>;

std::string shown(const std::optional<double>& fraction) { return fraction ? percent(*fraction) : "—"; }

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
  std::uint64_t now = 0;
  for (const auto& [reason, count] : activity.lost) now += count;
  return fmt::format("{} events lost now; so far {}", now, list_losses(activity.lost_so_far));
}

constexpr std::size_t process_columns = 12;
constexpr std::size_t number_columns = process_columns + 6 + 9 + 8 + 8 + 9 + 9 + 9;

// "4711", "4711 +3"
std::string format_processes(const active_region& row) {
  if (row.processes.empty()) return "—";
  const std::string first = std::to_string(row.processes.front());
  return row.processes.size() == 1 ? first : fmt::format("{} +{}", first, row.processes.size() - 1);
}

std::string format_region(const active_region& row, std::size_t name_columns) {
  std::string line = cut_in_middle(path_label(row.path, name_columns), name_columns);
  line += " " + fitted(format_processes(row), process_columns - 1);
  line += " " + fitted(device_label(row.device_kind, row.device_index, row.on_host), 5);
  line += right(row.per_second ? quantity(*row.per_second, "") : "—", 9);
  line += right(shown(row.self_share), 8) + right(shown(row.total_share), 8);
  line += right(row.mean_ns ? duration(*row.mean_ns) : "—", 9) + right(duration(row.p99_ns), 9);
  return line + right(row.total_share ? duration(static_cast<double>(row.total_so_far_ns)) : "—", 9);
}

std::vector<const active_region*> in_order(const activity& activity, activity_order order) {
  std::vector<const active_region*> all;
  all.reserve(activity.regions.size());
  for (const active_region& row : activity.regions) all.push_back(&row);
  const auto by = [&](auto what) {
    std::stable_sort(all.begin(), all.end(),
                     [&](const active_region* a, const active_region* b) { return what(*b) < what(*a); });
  };
  if (order == activity_order::total) by([](const active_region& row) { return row.total_share; });
  if (order == activity_order::rate) by([](const active_region& row) { return row.per_second; });
  if (order == activity_order::so_far) by([](const active_region& row) { return row.total_so_far_ns; });
  return all;  // as they come: by the time in themselves
}

lines format_regions(const activity& activity, std::size_t name_columns, std::size_t max_regions,
                     activity_order order) {
  lines made{fitted("region", name_columns) + " " + fitted("process", process_columns - 1) + " " + fitted("on", 5) +
             right("per s", 9) + right("self", 8) + right("total", 8) + right("mean", 9) + right("p99", 9) +
             right("so far", 9)};
  if (activity.regions.empty()) made.emplace_back("(no region ended)");
  const std::size_t count = std::min(activity.regions.size(), max_regions);
  const std::vector<const active_region*> sorted = in_order(activity, order);
  for (std::size_t at = 0; at != count; ++at) made.push_back(format_region(*sorted[at], name_columns));
  if (count != activity.regions.size()) made.push_back(fmt::format("… and {} more", activity.regions.size() - count));
  return made;
}

lines format_devices(const activity& activity, std::size_t name_columns) {
  lines made{fitted("device", name_columns + process_columns + 6) + right("used", 9) + right("so far", 8)};
  for (const active_device& device : activity.devices)
    made.push_back(fitted(named_device(device_label(device.kind, device.index, device.is_host), device.name),
                          name_columns + process_columns + 6) +
                   right(shown(device.utilisation), 9) + right(shown(device.utilisation_so_far), 8));
  return made;
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string to_table(const activity& activity, const activity_view& how) {
  constexpr std::size_t min_name_columns = 12;
  const std::size_t name_columns = std::max(how.columns, number_columns + min_name_columns) - number_columns;
  std::string out =
      wrapped(describe_subject(activity), how.columns) + wrapped(format_load(activity, how.observer_cpu), how.columns);
  if (!activity.lost_so_far.empty()) out += wrapped(format_losses(activity), how.columns);
  std::string devices = "\n";
  for (const std::string& line : format_devices(activity, name_columns)) devices += format_line(line, how.columns);

  std::size_t max_regions = how.regions;
  if (how.lines != 0) {
    constexpr std::size_t around = 3;  // an empty line, what the columns are, how many more there are
    const std::size_t taken = count_lines(out) + count_lines(devices) + around;
    max_regions = std::min(max_regions, how.lines - std::min(how.lines, taken));
  }
  out += "\n";
  for (const std::string& line : format_regions(activity, name_columns, max_regions, how.order))
    out += format_line(line, how.columns);
  return out + devices;
}

}}  // namespace adaptyst::v1
