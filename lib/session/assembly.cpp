// Makes a profile from the rows of a source and from the processes: regions, devices, processes, account.
#include "assembly.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/config.hpp>
#include <utility>

namespace adaptyst::lib {

namespace {

// Each process numbers its devices by itself. A profile of several processes takes the numbers of the process that has
// the most devices.
const recorded_process* find_main(const process_list& all) {
  const recorded_process* most = nullptr;
  for (const auto& one : all)
    if (most == nullptr || one->devices().devices.size() > most->devices().devices.size()) most = one.get();
  return most;
}

open_counts count_open_regions(const process_list& all) {
  open_counts sum;
  for (const auto& one : all)
    for (const auto& [path, count] : one->open_regions()) sum[path] += count;
  return sum;
}

unannounced_threads find_unannounced(const assembly_parts& from) {
  unannounced_threads all;
  const announced_recorders& announced = from.context->announced();
  for (const auto& one : from.processes) all.merge(one->find_unannounced(announced));
  return all;
}

void take_metadata(profile& profile, const recorded_process& from) {
  profile.metadata = from.metadata().values;
  if (from.metadata().lost != 0) profile.metadata_lost = from.metadata().lost;
}

// The profile of all processes but the first.
profile merge_others(const recorded_process* first, const process_list& all) {
  profile others;
  for (const auto& one : all) {
    if (one.get() == first) continue;
    profile part;
    part.devices = one->devices().devices;
    part.offload = one->devices().offload;
    take_metadata(part, *one);
    merge(others, part);
    others.processes.push_back(one->info());
  }
  return others;
}

}  // namespace

profile assembly::make(assembly_parts from, const choice& wanted) {
  const recorded_process* const first = find_main(from.processes);
  const std::vector<std::uint32_t> device_index =
      first != nullptr ? first->devices().index : std::vector<std::uint32_t>{};
  const bool with_context = from.known && first != nullptr;
  if (from.changed) regions_.update(from.rows, device_index, *from.changed);
  else if (!with_context) regions_.update_all(from.rows, device_index);
  profile made;
  made.accounting = from.rows.accounting;
  for (const auto& one : from.processes) one->account_for_end(made.accounting);
  made.version = fmt::format("{}.{}.{}", ADAPTYST_VERSION_MAJOR, ADAPTYST_VERSION_MINOR, ADAPTYST_VERSION_PATCH);
  if (first != nullptr) {
    take_metadata(made, *first);
    made.devices = first->devices().devices;
    made.offload = first->devices().offload;
    made.processes.push_back(first->info());
  }
  if (with_context) {
    measured all = from.rows;
    from.known->leave_out(find_unannounced(from));
    from.context->add_to(all, *from.known, count_open_regions(from.processes));
    made.samples = from.context->samples();
    made.regions = assemble(all, device_index, &made.accounting.unnamed);
    made.devices.front().context = sum_context(*from.known);
    made.context = std::move(from.known->account);
  } else {
    made.accounting.unnamed += regions_.cut();
    for (const region& row : regions_.regions())
      if (wanted(row)) made.regions.push_back(row);
  }
  add_amounts(made.devices, with_context ? made.regions : regions_.regions());
  set_overhead(made, from.rows, from.costs);
  if (!from.costs_are_known) made.accounting.overhead_ns.reset();
  if (profile others = merge_others(first, from.processes); !others.processes.empty()) {
    if (from.costs_are_known) others.accounting.overhead_ns = 0;
    merge(made, others);
  }
  return made;
}

}  // namespace adaptyst::lib
