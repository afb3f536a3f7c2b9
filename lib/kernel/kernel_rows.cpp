// Loads the BPF program of regions, sets its filter of processes, and reads its maps.
#include "kernel_rows.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cerrno>

#include "../../probes/kernel_layout.h"
#include "../support/error.hpp"
#include "region.skel.h"
#include "summed_rows.hpp"

namespace adaptyst::lib {

namespace {

[[noreturn]] void fail_to_load(int number) {
  throw error("cannot load the eBPF programs", number,
              hint_on(number, "without, engine=inline measures the same", "engine=inline works without eBPF"));
}

}  // namespace

kernel_rows::kernel_rows(bool multi, process_filter filter, bool among_functions)
    : multi_(multi), programs_(open_programs(region_bpf__open, region_bpf__destroy)) {
  if (programs_ == nullptr) fail_to_load(errno);
  if (multi) expect_multi(programs_->progs.region_end);
  programs_->rodata->parts_limit = size_rows(programs_->maps.rows);
  programs_->rodata->filter = filter_for(filter);
  programs_->rodata->among_functions = among_functions ? 1 : 0;
  bpf_program__set_autoload(programs_->progs.empty, false);
  if (!among_functions) bpf_map__set_autocreate(programs_->maps.stacks, false);
  if (filter != process_filter::listed) bpf_map__set_max_entries(programs_->maps.processes, 1);
  if (const int failed = region_bpf__load(programs_.get()); failed != 0) fail_to_load(-failed);
}
kernel_rows::kernel_rows(kernel_rows&&) noexcept = default;
kernel_rows& kernel_rows::operator=(kernel_rows&&) noexcept = default;
kernel_rows::~kernel_rows() = default;

uprobe_link kernel_rows::attach(const uprobe_file& file, const std::vector<uprobe_place>& places, pid_t process) const {
  return multi_ ? uprobe_link::attach_multi(programs_->progs.region_end, file, places, process)
                : uprobe_link::attach_perf(programs_->progs.region_end, file, places);
}

void kernel_rows::add_process(pid_t process, const adaptyst_kernel_process& identity) const {
  lib::add_process(processes(), process, identity);
}
void kernel_rows::remove_process(pid_t process) const { lib::remove_process(processes(), process); }

measurements kernel_rows::read(rank_times* groups) const {
  measurements all;
  read_summed_rows(all, programs_->maps.rows, programs_->maps.paths, groups);
  read_sites(all, programs_->maps.sites);
  const std::vector<std::uint64_t> counts = read_kernel_counters(programs_->maps.losses, ADAPTYST_KERNEL_LOSSES);
  account& sum = all.accounting;
  const auto lose = [&](loss_reason why, std::uint32_t counter) {
    if (counts[counter] != 0) sum.lost[why] = counts[counter];
  };
  lose(loss_reason::kernel_rows_full, ADAPTYST_KERNEL_ROWS_FULL);
  lose(loss_reason::kernel_no_memory, ADAPTYST_KERNEL_NO_MEMORY);
  lose(loss_reason::kernel_busy, ADAPTYST_KERNEL_BUSY);
  sum.unnamed = counts[ADAPTYST_KERNEL_UNREADABLE] + counts[ADAPTYST_KERNEL_NAMES_FULL];
  return all;
}

// Usually all events are in the first parts, and the table need not be read.
std::uint64_t kernel_rows::take(std::uint64_t path, std::uint64_t expected) const {
  std::uint64_t events = take_first_parts(programs_->maps.rows, path);
  if (events == expected) return events;
  events += read().rows[path].count;
  delete_row(programs_->maps.rows, path);
  return events;
}

const adaptyst_kernel_filter& kernel_rows::filter() const {
  return const_cast<const adaptyst_kernel_filter&>(programs_->rodata->filter);
}
int kernel_rows::processes() const { return bpf_map__fd(programs_->maps.processes); }
int kernel_rows::function_stacks() const { return bpf_map__fd(programs_->maps.stacks); }

}  // namespace adaptyst::lib
