// Reads the rows of the BPF programs: sums the entries of a path over CPUs and histogram pieces.
#include "summed_rows.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "kernel_maps.hpp"

namespace adaptyst::lib {

std::uint32_t size_rows(bpf_map* rows) {
  const bool is_small = possible_cpus() <= ADAPTYST_KERNEL_FEW_CPUS;
  const std::uint32_t parts = is_small ? ADAPTYST_KERNEL_PARTS_OF_FEW : ADAPTYST_KERNEL_PARTS;
  bpf_map__set_max_entries(rows, parts);
  return parts - ADAPTYST_KERNEL_PARTS_RESERVED;
}

void add_part(measured_row& sum, const adaptyst_kernel_row& row) {
  constexpr std::uint64_t counts = (std::uint64_t{1} << ADAPTYST_KERNEL_COUNT_BITS) - 1;
  sum.count += row.unbucketed;
  for (const std::uint64_t bucket : row.buckets) {
    if (bucket == 0) continue;
    sum.durations.add_bucket(static_cast<unsigned>(bucket >> ADAPTYST_KERNEL_COUNT_BITS) - 1, bucket & counts);
    sum.count += bucket & counts;
  }
  sum.total_ns += row.total_ns;
  sum.self_ns += row.total_ns - row.child_ns;
  sum.min_ns = std::min(sum.min_ns, ~row.min_complement);
  sum.max_ns = std::max(sum.max_ns, row.max_ns);
}

void add_to_group(rank_times& times, const adaptyst_kernel_row_key& key, std::uint64_t events, std::uint64_t total_ns) {
  const std::uint64_t path = key.path;
  const std::uint32_t group = key.place / ADAPTYST_KERNEL_GROUP;
  if (group != 0) {
    rank_time& sum = times.by_rank[group][path];
    sum.events += events;
    sum.total_ns += total_ns;
  } else if (key.place % ADAPTYST_KERNEL_PART == ADAPTYST_KERNEL_SHARED) {
    times.shared_paths.insert(path);
  }
}

void read_summed_rows(measurements& into, const bpf_map* rows, const bpf_map* paths, rank_times* groups) {
  for_each_entry<adaptyst_kernel_row_key, adaptyst_kernel_row>(
      rows, [&](const adaptyst_kernel_row_key& key, const adaptyst_kernel_row* part) {
        const std::uint64_t path = key.path;  // a copy, since the member may be misaligned
        const bool has_sums = key.place % ADAPTYST_KERNEL_GROUP < ADAPTYST_KERNEL_PART;
        if (has_sums && part->min_complement == 0) return;
        measured_row& row = into.rows[path];
        const std::uint64_t before = row.count;
        add_part(row, *part);
        if (groups != nullptr) add_to_group(*groups, key, row.count - before, part->total_ns);
      });
  // Erase rows without sums: the kernel is adding their first event.
  for (auto row = into.rows.begin(); row != into.rows.end();)
    row = row->second.min_ns > row->second.max_ns ? into.rows.erase(row) : std::next(row);
  for_each_entry<std::uint64_t, adaptyst_kernel_path>(paths, [&](std::uint64_t id, const adaptyst_kernel_path* path) {
    into.paths[id] = {path->parent, path->site, path->device, path->marker};
  });
}

void read_sites(measurements& into, const bpf_map* sites) {
  for_each_entry<std::uint64_t, adaptyst_kernel_site>(sites, [&](std::uint64_t id, const adaptyst_kernel_site* site) {
    measured_site& made = into.sites[id];
    made.name.assign(site->name, std::min<std::size_t>(site->name_bytes, sizeof site->name));
    made.file = site->file;
    made.function = site->function;
    made.label = site->label;
    made.line = site->line;
    made.kind = site->kind;
    made.level = site->level;
  });
}

void delete_row(const bpf_map* rows, std::uint64_t path) {
  std::vector<adaptyst_kernel_row_key> outdated_keys;
  for_each_entry<adaptyst_kernel_row_key, adaptyst_kernel_row>(
      rows, [&](const adaptyst_kernel_row_key& key, const adaptyst_kernel_row*) {
        if (key.path == path) outdated_keys.push_back(key);
      });
  for (const adaptyst_kernel_row_key& key : outdated_keys) bpf_map_delete_elem(bpf_map__fd(rows), &key);
}

std::uint64_t take_first_parts(const bpf_map* rows, std::uint64_t path) {
  measured_row sum;
  const auto take = [&](std::uint32_t place) {
    const adaptyst_kernel_row_key key{path, place};
    adaptyst_kernel_row part;
    if (bpf_map_lookup_elem(bpf_map__fd(rows), &key, &part) != 0) return;
    add_part(sum, part);
    bpf_map_delete_elem(bpf_map__fd(rows), &key);
  };
  const auto processors = static_cast<std::uint32_t>(possible_cpus());
  for (std::uint32_t place = 0; place != processors; ++place) take(place);
  take(ADAPTYST_KERNEL_SHARED);
  return sum.count;
}

std::vector<std::uint64_t> read_kernel_counters(const bpf_map* counters, std::uint32_t count) {
  std::vector<std::uint64_t> sums(count);
  std::vector<std::uint64_t> parts(possible_cpus());
  for (std::uint32_t at = 0; at != count; ++at)
    if (bpf_map_lookup_elem(bpf_map__fd(counters), &at, parts.data()) == 0)
      sums[at] = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  return sums;
}

}  // namespace adaptyst::lib
