// Makes a profile from the rows of a source and from the processes: regions, devices, processes, account, and the
// differences between ranks that one observer has observed.
#include "assembly.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/config.hpp>
#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../model/heap_usage.hpp"
#include "../model/mpi_usage.hpp"

namespace adaptyst::lib {

namespace {

// Each process numbers its devices separately. A profile of several processes uses the numbers of the process with the
// most devices.
const recorded_process* find_main(const process_list& all) {
  const recorded_process* most = nullptr;
  for (const auto& process : all)
    if (most == nullptr || process->devices().devices.size() > most->devices().devices.size()) most = process.get();
  return most;
}

open_region_counts count_open_regions(const process_list& all) {
  open_region_counts sum;
  for (const auto& process : all)
    for (const auto& [path, count] : process->open_regions()) sum[path] += count;
  return sum;
}

unannounced_threads find_unannounced(const assembly_parts& from) {
  unannounced_threads all;
  const announced_recorders& announced = from.context->announced();
  for (const auto& process : from.processes) all.merge(process->find_unannounced(announced));
  return all;
}

// Rows with events of a process with unknown samples have unknown samples.
void omit_unknown_samples(measurements& rows, const assembly_parts& from) {
  for (const auto& process : from.processes) {
    if (from.context->is_sampled(process->id())) continue;
    for (const auto& [path, row] : process->recorded().rows)
      if (const auto found = rows.rows.find(path); found != rows.rows.end()) found->second.samples.reset();
  }
}

void take_metadata(profile& profile, const recorded_process& from) {
  profile.metadata = from.metadata().values;
  if (from.metadata().lost != 0) profile.metadata_lost = from.metadata().lost;
}

// The profile of all processes but the first.
profile merge_others(const recorded_process* first, const process_list& all) {
  profile others;
  for (const auto& process : all) {
    if (process.get() == first) continue;
    profile part;
    part.devices = process->devices().devices;
    part.offload = process->devices().offload;
    take_metadata(part, *process);
    merge(others, part);
    others.processes.push_back(process->info());
  }
  return others;
}

// A launcher may start a shell that starts the program: both have the rank.
using processes_by_rank = std::map<std::uint32_t, std::vector<const recorded_process*>>;

using times_by_path = std::unordered_map<std::uint64_t, rank_time>;

rank_time find_time(const std::vector<const recorded_process*>& processes, const times_by_path& of_kernel,
                    std::uint64_t path) {
  rank_time made;
  if (const auto counted = of_kernel.find(path); counted != of_kernel.end()) made = counted->second;
  for (const recorded_process* const process : processes) {
    const auto row = process->recorded().rows.find(path);
    if (row == process->recorded().rows.end()) continue;
    made.events += row->second.durations.count();
    made.total_ns += row->second.total_ns;
    made.total_variance += row->second.total_variance;
  }
  return made;
}

void describe(profile& result, const rank_place& place, const std::vector<const recorded_process*>& processes,
              const times_by_path& of_kernel) {
  profile own;
  for (const auto& [path, time] : of_kernel) own.regions.emplace_back().count = time.events;
  for (const recorded_process* const process : processes) {
    own.processes.push_back(process->info());
    for (const auto& [path, row] : process->recorded().rows)
      if (row.count != 0) own.regions.emplace_back().count = row.count;
  }
  ++*result.ranks;
  result.about_ranks->merge(describe_rank(own, place));
}

// The program is the process that ran longest.
void add_mpi_usage(profile& profile, std::size_t ranks, const rank_place& place,
                   const std::vector<const recorded_process*>& processes, const times_by_path& of_kernel) {
  std::uint64_t run_ns = 0;
  for (const recorded_process* const process : processes) run_ns = std::max(run_ns, process->info().duration_ns);
  const mpi_usage own =
      find_mpi_usage(profile.regions, static_cast<std::uint32_t>(ranks), run_ns, place, [&](const region& row) {
        const rank_time time = find_time(processes, of_kernel, row.id);
        return measured_time{time.total_ns, time.total_variance};
      });
  if (!profile.mpi) profile.mpi.emplace();
  profile.mpi->merge(own);
}

}  // namespace

void process_sums::update(const process_list& processes) {
  if (processes.size() == 1) {
    only_ = processes.front().get();
    changed_.merge(processes.front()->take_changed());
    return;
  }
  path_set outdated;
  sum_.accounting = {};
  for (const auto& process : processes) {
    add(sum_.accounting, process->recorded().accounting);
    path_set changed = process->take_changed();
    // Until now, the rows of this process were the sum; `sum_` does not contain them yet.
    if (process.get() == only_)
      for (const auto& [path, row] : only_->recorded().rows) changed.insert(path);
    for (const std::uint64_t path : changed) {
      auto& holders = holders_[path];
      if (std::find(holders.begin(), holders.end(), process.get()) == holders.end()) holders.push_back(process.get());
      name(path, process->recorded());
      outdated.insert(path);
    }
  }
  only_ = nullptr;
  for (const std::uint64_t path : outdated) {
    measured_row row;
    bool there = false;
    for (const recorded_process* const holder : holders_[path]) {
      const auto found = holder->recorded().rows.find(path);
      if (found == holder->recorded().rows.end()) continue;
      add(row, found->second);
      there = true;
    }
    if (there) sum_.rows[path] = std::move(row);
    else sum_.rows.erase(path);
  }
  changed_.insert(outdated.begin(), outdated.end());
}

// Names a path and the paths above it.
void process_sums::name(std::uint64_t path, const measurements& in) {
  while (path != 0) {
    const auto entry = in.paths.find(path);
    if (entry == in.paths.end() || !sum_.paths.insert(*entry).second) return;
    if (const auto site = in.sites.find(entry->second.site); site != in.sites.end()) sum_.sites.insert(*site);
    path = entry->second.parent;
  }
}

profile assembly::make(assembly_parts from, const choice& wanted) {
  const recorded_process* const first = find_main(from.processes);
  const std::vector<std::uint32_t> device_index =
      first != nullptr ? first->devices().index : std::vector<std::uint32_t>{};
  const bool with_context = from.context != nullptr && first != nullptr;
  if (from.changed) regions_.update(from.rows, device_index, *from.changed);
  else if (!with_context) regions_.update_all(from.rows, device_index);
  profile made;
  made.accounting = from.rows.accounting;
  for (const auto& process : from.processes) process->account_for_end(made.accounting);
  made.version = fmt::format("{}.{}.{}", ADAPTYST_VERSION_MAJOR, ADAPTYST_VERSION_MINOR, ADAPTYST_VERSION_PATCH);
  if (first != nullptr) {
    take_metadata(made, *first);
    made.devices = first->devices().devices;
    made.offload = first->devices().offload;
    made.processes.push_back(first->info());
  }
  if (with_context) {
    measurements all = from.rows;
    if (from.sums) from.sums->leave_out(find_unannounced(from));
    from.context->add_to(all, from.sums, count_open_regions(from.processes));
    omit_unknown_samples(all, from);
    made.samples = from.context->samples();
    made.regions = assemble(all, device_index, &made.accounting.unnamed);
    if (from.sums) made.devices.front().context = sum_context(*from.sums);
    if (from.sums) made.context = std::move(from.sums->account);
  } else {
    made.accounting.unnamed += regions_.cut();
    for (const region& row : regions_.regions())
      if (wanted(row)) made.regions.push_back(row);
  }
  omit_unknown_heap(made.regions);
  add_amounts(made.devices, with_context ? made.regions : regions_.regions());
  set_overhead(made, from.rows, from.costs);
  if (!from.costs_are_known) made.accounting.overhead_ns.reset();
  if (profile others = merge_others(first, from.processes); !others.processes.empty()) {
    if (from.costs_are_known) others.accounting.overhead_ns = 0;
    merge(made, others);
  }
  return made;
}

void set_rank_spreads(profile& profile, const process_list& all, const rank_times* of_kernel) {
  // If two processes were joined, it may look like a profile of ranks in which the first rank has all rows.
  profile.ranks.reset();
  profile.about_ranks.reset();
  for (region& row : profile.regions) row.across_ranks.reset();
  if (of_kernel == nullptr) return;
  processes_by_rank ranks;
  for (const auto& process : all)
    if (const process_info info = process->info(); info.rank) ranks[*info.rank].push_back(process.get());
  if (ranks.size() < 2) return;
  profile.ranks = 0;
  profile.about_ranks.emplace();
  for (const auto& [rank, processes] : ranks) {
    const rank_place place{rank, processes.front()->info().host};
    const auto entry = of_kernel->by_rank.find(rank);
    const times_by_path counted = entry != of_kernel->by_rank.end() ? entry->second : times_by_path{};
    describe(profile, place, processes, counted);
    add_mpi_usage(profile, ranks.size(), place, processes, counted);
    for (region& row : profile.regions) {
      const rank_time time = find_time(processes, counted, row.id);
      if (!has_time(row) || time.events == 0 || of_kernel->shared_paths.count(row.id) != 0) continue;
      rank_spread& spread = row.across_ranks ? *row.across_ranks : row.across_ranks.emplace();
      ++spread.ranks;
      spread.total_ns.add(time.total_ns, rank, place.host);
    }
  }
  // A reduced estimate differs from the sum over the ranks, so the ranks are removed.
  for (region& row : profile.regions)
    if (row.timed_events && row.across_ranks && row.across_ranks->total_ns.sum.low > row.total_ns)
      row.across_ranks.reset();
  rank_spread& outside = profile.mpi->outside;
  const bool is_shared = std::any_of(profile.regions.begin(), profile.regions.end(), [&](const region& row) {
    return is_mpi_call(row) && of_kernel->shared_paths.count(row.id) != 0;
  });
  if (outside.ranks == 0 || is_shared) profile.mpi.reset();
  else
    profile.mpi->busiest =
        node_time{outside.total_ns.max_host, outside.ranks, outside.total_ns.sum.low};  // the node runs on all of them
}

}  // namespace adaptyst::lib
