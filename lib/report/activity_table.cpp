// The text that `adaptyst top` shows: the cost of observing, the regions with most time in the interval, the devices.
#include "activity_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../model/words.hpp"
#include "../support/text.hpp"
#include "parts.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::column_kind, lib::device_label, lib::duration, lib::format_count, lib::format_rounded, lib::list_losses,
    lib::named_device, lib::percent, lib::percent_cell, lib::printable, lib::quantity, lib::wrapped;

constexpr std::size_t min_name_columns = 12;

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
                                 activity.events_per_second ? format_rounded(*activity.events_per_second) : "—",
                                 format_count(activity.events_so_far));
  if (activity.overhead) text += fmt::format("; observing costs {} of a thread", percent(*activity.overhead));
  if (observer_cpu) text += fmt::format("; this observer, {} of a processor", percent(*observer_cpu));
  return text;
}

std::string format_losses(const activity& activity) {
  std::uint64_t lost_now = 0;
  for (const auto& [reason, count] : activity.lost) lost_now += count;
  return fmt::format("{} events lost now; so far {}", format_count(lost_now), list_losses(activity.lost_so_far));
}

// "4711", or "4711 +3": process 4711 and three others.
std::string format_processes(const active_region& row) {
  if (row.processes.empty()) return "—";
  const std::string first = std::to_string(row.processes.front());
  return row.processes.size() == 1 ? first : fmt::format("{} +{}", first, row.processes.size() - 1);
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
  return sorted;  // activity::regions is sorted by activity_order::self
}

std::string regions_text(const activity& activity, std::size_t max_regions, const activity_view& view) {
  lib::text_table table({{"REGION", column_kind::name, min_name_columns},
                         {"PROCESS", column_kind::text, 14, 14},
                         {"ON", column_kind::text, 5, 8},
                         {"PER S", column_kind::number, 8},
                         {"SELF", column_kind::number, 7},
                         {"TOTAL", column_kind::number, 7},
                         {"MEAN", column_kind::number, 8},
                         {"P99", column_kind::number, 8},
                         {"SO FAR", column_kind::number, 8}});
  const std::size_t count = std::min(activity.regions.size(), max_regions);
  const std::vector<const active_region*> sorted = sort_regions(activity, view.order);
  for (std::size_t at = 0; at != count; ++at) {
    const active_region& row = *sorted[at];
    table.add({row.path, format_processes(row),
               lib::place_label(row.kind, device_label(row.device_kind, row.device_index, row.on_host)),
               row.per_second ? quantity(*row.per_second, "") : "—", percent_cell(row.self_share),
               percent_cell(row.total_share), lib::time_cell(row.mean_ns), duration(row.p99_ns),
               // A row that is not timed has neither a share nor a total.
               row.total_share ? duration(static_cast<double>(row.total_so_far_ns)) : "—"});
  }
  std::string made = table.text({view.columns, view.has_colour});
  if (activity.regions.empty()) made += "(no region ended)\n";
  if (count != activity.regions.size()) made += fmt::format("… and {} more\n", activity.regions.size() - count);
  return made;
}

std::string devices_text(const activity& activity, const activity_view& view) {
  lib::text_table table({{"DEVICE", column_kind::name, min_name_columns}, {"USED"}, {"SO FAR"}});
  for (const active_device& device : activity.devices)
    table.add({named_device(device_label(device.kind, device.index, device.is_host), device.name),
               percent_cell(device.utilisation), percent_cell(device.utilisation_so_far)});
  return "\n" + table.text({view.columns, view.has_colour});
}

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

std::string to_table(const activity& activity, const activity_view& view) {
  std::string out = wrapped(describe_subject(activity), view.columns) +
                    wrapped(format_load(activity, view.observer_cpu), view.columns);
  if (!activity.lost_so_far.empty()) out += wrapped(format_losses(activity), view.columns);
  const std::string devices = devices_text(activity, view);

  std::size_t max_regions = view.regions;
  if (view.lines != 0) {
    // An empty line, the names of the columns, and how many regions are not shown.
    constexpr std::size_t other_lines = 3;
    const std::size_t taken = count_lines(out) + count_lines(devices) + other_lines;
    max_regions = std::min(max_regions, view.lines - std::min(view.lines, taken));
  }
  out += "\n";
  if (!activity.functions.empty() && activity.regions.empty())
    return out + "no markers: none has run\n" +
           lib::function_table(activity.functions, {view.columns, view.has_colour}) + devices;
  return out + regions_text(activity, max_regions, view) + devices;
}

}}  // namespace adaptyst::v1
