// The text that `adaptyst sites` prints.
#include "../discover/inspection.hpp"
#include "forms.hpp"

#include <fmt/format.h>

#include <adaptyst/probe_abi.h>
#include <utility>

#include "../support/text.hpp"
#include "text_table.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::printable;

std::string hex(std::uint64_t number) { return fmt::format("{:#x}", number); }
std::string hex(const std::optional<std::uint64_t>& number) { return number ? hex(*number) : "—"; }

std::vector<lib::table_column> list_probe_columns() {
  return {{"PROBE", lib::column_kind::text, 14},
          {"FILE OFFSET", lib::column_kind::number, 15},
          {"ADDRESS", lib::column_kind::number, 15},
          {"SEMAPHORE", lib::column_kind::number, 15},
          {"FAST POINT", lib::column_kind::text}};
}

std::vector<lib::table_cell> make_cells(const probe& of) {
  return {printable(of.name), hex(of.file_offset), hex(of.address), hex(of.semaphore),
          of.has_fast_point ? "yes" : "no"};
}

// Lines are not cut, because a reader needs whole paths and addresses.
std::string format_table(const marked_object& object, const lib::screen& on) {
  if (object.abi != ADAPTYST_ABI_VERSION)
    return fmt::format(
        "{}\n  built for ABI version {}, not {}: its markers stay idle; build it with the headers of this version\n",
        printable(object.file), object.abi, int{ADAPTYST_ABI_VERSION});
  std::string text = fmt::format("{}\n  control block {}\n", printable(object.file), hex(object.control_block));
  if (!object.no_probes_because.empty()) text += "  " + printable(object.no_probes_because) + "\n";
  if (object.probes.empty()) return text;
  lib::text_table table(list_probe_columns());
  for (const probe& at : object.probes) table.add(make_cells(at));
  return text + table.text(on, 2);
}

std::string format_table(const std::vector<listed_marker>& markers, const lib::screen& on) {
  if (markers.empty()) return "no marker has been enabled yet\n";
  lib::text_table table({{"ENDED", lib::column_kind::number, 12},
                         {"KIND", lib::column_kind::text, 9},
                         {"MARKER", lib::column_kind::text, 0, std::string::npos}});
  for (const listed_marker& marker : markers) {
    const std::string label = marker.label.empty() ? "" : " [" + marker.label + "]";
    table.add({std::to_string(marker.ended), to_string(marker.kind),
               printable(fmt::format("{}{}  {}:{}  {}", marker.name, label, marker.site.file, marker.site.line,
                                     marker.site.function))});
  }
  return "markers that have been enabled\n" + table.text(on, 2);
}

std::string format_table(const inspection& inspection, const lib::screen& on) {
  std::string text = inspection.process != 0 ? fmt::format("process {}\n", inspection.process) : "";
  if (inspection.objects.empty())
    text += fmt::format("no markers{}\n", inspection.process != 0 ? "" : " in " + printable(inspection.file));
  for (const marked_object& object : inspection.objects) text += format_table(object, on);
  if (inspection.process == 0 || inspection.objects.empty()) return text;
  return text + (inspection.markers ? format_table(*inspection.markers, on)
                                    : "markers: " + printable(inspection.no_markers_because) + "\n");
}

}  // namespace

std::string to_table(const std::vector<inspection>& inspections, const lib::screen& on) {
  std::string text;
  for (const inspection& inspection : inspections) text += (text.empty() ? "" : "\n") + format_table(inspection, on);
  return text;
}

lib::text_table to_rows(const std::vector<inspection>& inspections) {
  std::vector<lib::table_column> described = list_probe_columns();
  described.insert(described.begin(), {{"PROCESS"}, {"FILE", lib::column_kind::text, 0, std::string::npos}});
  lib::text_table table(std::move(described));
  for (const inspection& inspection : inspections)
    for (const marked_object& object : inspection.objects)
      for (const probe& at : object.probes) {
        std::vector<lib::table_cell> cells = make_cells(at);
        cells.insert(cells.begin(),
                     {inspection.process != 0 ? std::to_string(inspection.process) : "—", printable(object.file)});
        table.add(std::move(cells));
      }
  return table;
}

}}  // namespace adaptyst::v1
