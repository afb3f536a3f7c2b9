// Reads ELF files and running processes without changing them, for `adaptyst sites`.
#include "inspect.hpp"

#include <fmt/format.h>
#include <sys/types.h>

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "../discover/elf_probes.hpp"
#include "../discover/process_objects.hpp"
#include "../recorder/other_memory.hpp"
#include "../recorder/recorder_reader.hpp"
#include "../support/error.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

// `moved`: the distance between the addresses in memory and those in the file.
marked_object make_object(const std::string& file, const lib::elf_markers& markers, std::uint64_t moved,
                          const std::string& no_probes_because) {
  marked_object made;
  made.no_probes_because = no_probes_because;
  made.file = file;
  made.abi = ADAPTYST_ABI_VERSION;
  if (markers.control_block != 0) made.control_block = markers.control_block + moved;
  for (const lib::elf_probe& elf : markers.probes) {
    probe copy{elf.name, elf.arguments, elf.offset, elf.address + moved, std::nullopt, elf.has_fast_point};
    if (elf.semaphore_address != 0) copy.semaphore = elf.semaphore_address + moved;
    made.probes.push_back(std::move(copy));
  }
  return made;
}

// The process's own name of the file, if `file` leads through the process's root directory.
std::string own_name(const std::string& file, pid_t process) {
  const std::string root = fmt::format("/proc/{}/root/", process);
  return file.compare(0, root.size(), root) == 0 ? file.substr(root.size() - 1) : file;
}

std::vector<listed_marker> list_markers(const lib::measurements& read) {
  std::unordered_map<std::uint64_t, std::uint64_t> ended;
  for (const auto& [path, row] : read.rows)
    if (const auto entry = read.paths.find(path); entry != read.paths.end()) ended[entry->second.site] += row.count;
  std::vector<listed_marker> all;
  for (const auto& [id, site] : read.sites)
    all.push_back(
        {site.name, site.label, {site.file, site.line, site.function}, lib::to_region_kind(site.kind), ended[id]});
  std::sort(all.begin(), all.end(), [](const listed_marker& a, const listed_marker& b) {
    return std::tie(a.site.file, a.site.line, a.name, a.label) < std::tie(b.site.file, b.site.line, b.name, b.label);
  });
  return all;
}

void read_markers(inspection& inspection, pid_t process) {
  const lib::other_memory memory(process);
  lib::process_state state{&memory, 0, {}};
  for (const marked_object& object : inspection.objects) {
    adaptyst_object block{};
    if (!object.control_block) continue;
    if (!memory.read(*object.control_block, block)) {
      inspection.no_markers_because =
          fmt::format("cannot read the memory of process {}: {}", process, std::strerror(errno));
      return;
    }
    state.objects.push_back(*object.control_block);
    if (state.process == 0) state.process = block.process;
  }
  detail::control_page control{};
  state.address = lib::find_store(memory, state.process);
  if (state.process != 0 &&
      (!memory.read(state.process, control) || control.abi != ADAPTYST_ABI_VERSION || !lib::has_same_layout(state))) {
    inspection.no_markers_because = "the program was built with another version of adaptyst";
    return;
  }
  inspection.markers = list_markers(lib::read_recorders(state));
}

}  // namespace

inspection inspect_file(const std::string& file) {
  inspection found;
  found.file = file;
  const lib::elf_markers markers = lib::find_elf_markers(file);
  if (markers.other_abi != 0) found.objects.push_back({file, markers.other_abi, std::nullopt, {}, {}});
  if (markers.control_block != 0 || (markers.other_abi == 0 && !markers.probes.empty()))
    found.objects.push_back(make_object(file, markers, 0, markers.no_probes_because));
  return found;
}

inspection inspect_process(std::int64_t process) {
  if (process <= 0 || process > std::numeric_limits<pid_t>::max())
    throw lib::error(fmt::format("cannot read process {}", process), std::to_string(process), ESRCH,
                     "it must be running");
  const auto id = static_cast<pid_t>(process);
  inspection found;
  found.process = process;
  for (const lib::process_object& object : lib::find_objects(id))
    found.objects.push_back(make_object(own_name(object.file, id), *object.markers,
                                        object.control_block - object.markers->control_block,
                                        object.no_probes_because));
  for (const lib::foreign_object& object : lib::find_foreign_objects(id))
    found.objects.push_back({object.file, object.abi, std::nullopt, {}, {}});
  read_markers(found, id);
  return found;
}

}}  // namespace adaptyst::v1
