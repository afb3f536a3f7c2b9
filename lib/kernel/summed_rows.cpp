#include "summed_rows.hpp"

#include <algorithm>
#include <numeric>

#include "kernel_maps.hpp"

namespace adaptyst::lib {

void add_group(measured_row& to, std::uint64_t number, const adaptyst_kernel_group& group) {
  for (unsigned at = 0; at != ADAPTYST_KERNEL_GROUP; ++at) {
    to.durations.add_bucket(static_cast<unsigned>(number) * ADAPTYST_KERNEL_GROUP + at, group.counts[at]);
    to.count += group.counts[at];
  }
}

measured_row row_of(const adaptyst_kernel_row& part) {
  measured_row row;
  row.count = part.unbucketed;
  if (part.own_group != 0) add_group(row, part.own_group - 1, part.group);
  row.total_ns = part.total_ns;
  row.self_ns = part.total_ns - part.child_ns;
  row.min_ns = ~part.min_complement;
  row.max_ns = part.max_ns;
  return row;
}

void read_summed_rows(measured& into, const bpf_map* rows, const bpf_map* groups, const bpf_map* paths) {
  for_each_value<std::uint64_t, adaptyst_kernel_row>(
      rows, [&](std::uint64_t id, const std::vector<adaptyst_kernel_row>& parts) {
        for (const adaptyst_kernel_row& part : parts)
          if (part.min_complement != 0) add(into.rows[id], row_of(part));
      });
  for_each_value<adaptyst_kernel_group_key, adaptyst_kernel_group>(
      groups, [&](const adaptyst_kernel_group_key& key, const std::vector<adaptyst_kernel_group>& pieces) {
        const auto row = into.rows.find(key.path);
        if (row == into.rows.end()) return;
        for (const adaptyst_kernel_group& piece : pieces) add_group(row->second, key.number, piece);
      });
  for_each_key<std::uint64_t>(paths, [&](int map, std::uint64_t id) {
    adaptyst_kernel_path path;
    if (bpf_map_lookup_elem(map, &id, &path) == 0) into.paths[id] = {path.parent, path.site, path.device, path.marker};
  });
}

void read_named_sites(measured& into, const bpf_map* sites) {
  for_each_key<std::uint64_t>(sites, [&](int map, std::uint64_t id) {
    adaptyst_kernel_site site;
    if (bpf_map_lookup_elem(map, &id, &site) != 0) return;
    measured_site& made = into.sites[id];
    made.name.assign(site.name, std::min<std::size_t>(site.name_bytes, sizeof site.name));
    made.file = site.file;
    made.function = site.function;
    made.label = site.label;
    made.line = site.line;
    made.kind = site.kind;
  });
}

void forget_summed_row(const bpf_map* rows, const bpf_map* groups, std::uint64_t path) {
  bpf_map_delete_elem(bpf_map__fd(rows), &path);
  std::vector<adaptyst_kernel_group_key> gone;
  for_each_key<adaptyst_kernel_group_key>(groups, [&](int, const adaptyst_kernel_group_key& key) {
    if (key.path == path) gone.push_back(key);
  });
  for (const adaptyst_kernel_group_key& key : gone) bpf_map_delete_elem(bpf_map__fd(groups), &key);
}

std::vector<std::uint64_t> read_kernel_counters(const bpf_map* counters, std::uint32_t count) {
  std::vector<std::uint64_t> sums(count);
  std::vector<std::uint64_t> parts(possible_processors());
  for (std::uint32_t at = 0; at != count; ++at)
    if (bpf_map_lookup_elem(bpf_map__fd(counters), &at, parts.data()) == 0)
      sums[at] = std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  return sums;
}

}  // namespace adaptyst::lib
