#include "kernel_rows.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "../../probes/record.h"
#include "../error.hpp"
#include "region.skel.h"

namespace adaptyst::lib {

namespace {

constexpr ino_t first_pid_namespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO

int discard_message(enum libbpf_print_level, const char*, va_list) { return 0; }

[[noreturn]] void fail_to_load(int number) {
  throw error(
      "cannot load the eBPF programs", number,
      number == EPERM || number == EACCES
          ? "needs CAP_BPF and CAP_PERFMON, or root; without, engine=inline measures the same. See docs/permissions.md"
          : "engine=inline works without eBPF");
}

// Processes are known by the numbers that they have in our own PID namespace.
adaptyst_kernel_filter filter_for(audience whose) {
  adaptyst_kernel_filter filter{};
  if (whose == audience::everybody) return filter;
  struct stat space {};
  if (stat("/proc/self/ns/pid", &space) != 0)
    throw error("cannot find the PID namespace in /proc/self/ns/pid", errno, "mount /proc");
  if (whose == audience::listed) filter.listed = 1;
  else filter.pid = static_cast<std::uint32_t>(getpid());
  if (space.st_ino != first_pid_namespace) {
    filter.namespace_device = space.st_dev;
    filter.namespace_inode = space.st_ino;
  }
  return filter;
}

void add_group(measured_row& to, std::uint64_t number, const adaptyst_kernel_group& group) {
  for (unsigned at = 0; at != ADAPTYST_KERNEL_GROUP; ++at) {
    to.durations.add_bucket(static_cast<unsigned>(number) * ADAPTYST_KERNEL_GROUP + at, group.counts[at]);
    to.count += group.counts[at];
  }
}

template <class Key, class Visit>
void for_each_key(bpf_map* map, Visit&& visit) {
  const int descriptor = bpf_map__fd(map);
  Key key{};
  Key next{};
  for (const Key* from = nullptr; bpf_map_get_next_key(descriptor, from, &next) == 0; from = &key) {
    key = next;
    visit(descriptor, key);
  }
}

}  // namespace

kernel_rows::kernel_rows(bool multi, audience whose) : multi_(multi), programs_(nullptr, region_bpf__destroy) {
  libbpf_set_print(discard_message);
  programs_.reset(region_bpf__open());
  if (programs_ == nullptr) fail_to_load(errno);
  if (multi) expect_multi(programs_->progs.region_end);
  programs_->rodata->filter = filter_for(whose);
  bpf_program__set_autoload(programs_->progs.empty, false);
  if (whose != audience::listed) bpf_map__set_max_entries(programs_->maps.processes, 1);
  if (const int failed = region_bpf__load(programs_.get()); failed != 0) fail_to_load(-failed);
}
kernel_rows::kernel_rows(kernel_rows&&) noexcept = default;
kernel_rows& kernel_rows::operator=(kernel_rows&&) noexcept = default;
kernel_rows::~kernel_rows() = default;

uprobe_link kernel_rows::attach(const std::string& file, const std::vector<uprobe_place>& places, pid_t process) const {
  return multi_ ? uprobe_link::attach_multi(programs_->progs.region_end, file, places, process)
                : uprobe_link::attach_perf(programs_->progs.region_end, file, places);
}

void kernel_rows::admit(pid_t process) const {
  const auto key = static_cast<std::uint32_t>(process);
  const std::uint32_t present = 1;
  if (bpf_map_update_elem(bpf_map__fd(programs_->maps.processes), &key, &present, BPF_ANY) != 0)
    throw error("cannot list a process for the eBPF programs", errno, "observe fewer processes at once");
}

void kernel_rows::dismiss(pid_t process) const {
  const auto key = static_cast<std::uint32_t>(process);
  bpf_map_delete_elem(bpf_map__fd(programs_->maps.processes), &key);
}

measured kernel_rows::read() const {
  measured all;
  const int possible = libbpf_num_possible_cpus();
  if (possible < 1)
    throw error("cannot count the processors in /sys/devices/system/cpu/possible", -possible, "mount /sys");
  const auto cpus = static_cast<std::size_t>(possible);

  std::vector<adaptyst_kernel_row> parts(cpus);
  std::vector<std::uint64_t> counts(cpus);
  for_each_key<std::uint64_t>(programs_->maps.rows, [&](int map, std::uint64_t id) {
    if (bpf_map_lookup_elem(map, &id, parts.data()) != 0) return;
    measured_row& sum = all.rows[id];
    for (const adaptyst_kernel_row& part : parts) {
      if (part.min_complement == 0) continue;  // not on this CPU
      measured_row one;
      one.count = part.unbucketed;
      if (part.own_group != 0) add_group(one, part.own_group - 1, part.group);
      one.total_ns = part.total_ns;
      one.self_ns = part.total_ns - part.child_ns;
      one.min_ns = ~part.min_complement;
      one.max_ns = part.max_ns;
      add(sum, one);
    }
  });
  std::vector<adaptyst_kernel_group> groups(cpus);
  for_each_key<adaptyst_kernel_group_key>(programs_->maps.groups, [&](int map, const adaptyst_kernel_group_key& key) {
    const auto row = all.rows.find(key.path);
    if (row == all.rows.end() || bpf_map_lookup_elem(map, &key, groups.data()) != 0) return;
    for (const adaptyst_kernel_group& part : groups) add_group(row->second, key.number, part);
  });
  for_each_key<std::uint64_t>(programs_->maps.paths, [&](int map, std::uint64_t id) {
    adaptyst_kernel_path path;
    if (bpf_map_lookup_elem(map, &id, &path) == 0) all.paths[id] = {path.parent, path.site, path.device};
  });
  for_each_key<std::uint64_t>(programs_->maps.sites, [&](int map, std::uint64_t id) {
    adaptyst_kernel_site site;
    if (bpf_map_lookup_elem(map, &id, &site) != 0) return;
    measured_site& made = all.sites[id];
    made.name.assign(site.name, std::min<std::size_t>(site.name_bytes, sizeof site.name));
    made.file = site.file;
    made.function = site.function;
    made.label = site.label;
    made.line = site.line;
    made.kind = site.kind;
  });

  for (std::uint32_t why = 0; why != ADAPTYST_KERNEL_LOSSES; ++why) {
    if (bpf_map_lookup_elem(bpf_map__fd(programs_->maps.losses), &why, counts.data()) != 0) continue;
    std::uint64_t count = 0;
    for (const std::uint64_t part : counts) count += part;
    if (count == 0) continue;
    if (why == ADAPTYST_KERNEL_ROWS_FULL) all.accounting.lost["kernel_rows_full"] = count;
    else if (why == ADAPTYST_KERNEL_BUSY) all.accounting.lost["kernel_busy"] = count;
    else all.accounting.unnamed += count;
  }
  return all;
}

void kernel_rows::forget(std::uint64_t path) const {
  bpf_map_delete_elem(bpf_map__fd(programs_->maps.rows), &path);
  std::vector<adaptyst_kernel_group_key> gone;
  for_each_key<adaptyst_kernel_group_key>(programs_->maps.groups, [&](int, const adaptyst_kernel_group_key& key) {
    if (key.path == path) gone.push_back(key);
  });
  for (const adaptyst_kernel_group_key& key : gone) bpf_map_delete_elem(bpf_map__fd(programs_->maps.groups), &key);
}

}  // namespace adaptyst::lib
