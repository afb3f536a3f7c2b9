// Loads and attaches the BPF programs of the scheduler's events and page faults, and adds up their rows. A table
// contains the system calls that count as waiting for a lock, for files, or for a time.
#include "context_probes.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "../../probes/context_layout.h"
#include "../support/error.hpp"
#include "context.skel.h"
#include "kernel_maps.hpp"
#include "recorder_layout.hpp"
#include "summed_rows.hpp"
#include "uprobe_multi.hpp"

namespace adaptyst::lib {

namespace {

struct call_reason {
  long call;
  adaptyst_blocked reason;
};

// Calls that wait for events of files count as I/O, for any use by the program.
constexpr call_reason call_reasons[] = {
    {SYS_nanosleep, ADAPTYST_BLOCKED_SLEEP},
    {SYS_clock_nanosleep, ADAPTYST_BLOCKED_SLEEP},
    {SYS_futex, ADAPTYST_BLOCKED_LOCK},
#ifdef SYS_futex_waitv
    {SYS_futex_waitv, ADAPTYST_BLOCKED_LOCK},
#endif
    {454, ADAPTYST_BLOCKED_LOCK},  // futex_wake, _wait, _requeue of Linux 6.7, one number on all platforms
    {455, ADAPTYST_BLOCKED_LOCK},
    {456, ADAPTYST_BLOCKED_LOCK},
    {SYS_read, ADAPTYST_BLOCKED_IO},
    {SYS_write, ADAPTYST_BLOCKED_IO},
    {SYS_readv, ADAPTYST_BLOCKED_IO},
    {SYS_writev, ADAPTYST_BLOCKED_IO},
    {SYS_pread64, ADAPTYST_BLOCKED_IO},
    {SYS_pwrite64, ADAPTYST_BLOCKED_IO},
    {SYS_preadv, ADAPTYST_BLOCKED_IO},
    {SYS_pwritev, ADAPTYST_BLOCKED_IO},
    {SYS_preadv2, ADAPTYST_BLOCKED_IO},
    {SYS_pwritev2, ADAPTYST_BLOCKED_IO},
    {SYS_sendfile, ADAPTYST_BLOCKED_IO},
    {SYS_splice, ADAPTYST_BLOCKED_IO},
    {SYS_copy_file_range, ADAPTYST_BLOCKED_IO},
    {SYS_fsync, ADAPTYST_BLOCKED_IO},
    {SYS_fdatasync, ADAPTYST_BLOCKED_IO},
    {SYS_sync_file_range, ADAPTYST_BLOCKED_IO},
    {SYS_msync, ADAPTYST_BLOCKED_IO},
    {SYS_openat, ADAPTYST_BLOCKED_IO},
    {SYS_close, ADAPTYST_BLOCKED_IO},
    {SYS_connect, ADAPTYST_BLOCKED_IO},
    {SYS_accept, ADAPTYST_BLOCKED_IO},
    {SYS_accept4, ADAPTYST_BLOCKED_IO},
    {SYS_recvfrom, ADAPTYST_BLOCKED_IO},
    {SYS_recvmsg, ADAPTYST_BLOCKED_IO},
    {SYS_recvmmsg, ADAPTYST_BLOCKED_IO},
    {SYS_sendto, ADAPTYST_BLOCKED_IO},
    {SYS_sendmsg, ADAPTYST_BLOCKED_IO},
    {SYS_ppoll, ADAPTYST_BLOCKED_IO},
    {SYS_pselect6, ADAPTYST_BLOCKED_IO},
    {SYS_epoll_pwait, ADAPTYST_BLOCKED_IO},
#ifdef SYS_poll  // the older calls, which newer platforms have not
    {SYS_poll, ADAPTYST_BLOCKED_IO},
    {SYS_select, ADAPTYST_BLOCKED_IO},
    {SYS_epoll_wait, ADAPTYST_BLOCKED_IO},
    {SYS_open, ADAPTYST_BLOCKED_IO},
#endif
    {SYS_io_getevents, ADAPTYST_BLOCKED_IO},
    {426, ADAPTYST_BLOCKED_IO},  // io_uring_enter, one number on all platforms
};

[[noreturn]] void fail(const std::string& what, int number) {
  throw error(what, number,
              hint_on(number, "context=none works without",
                      "context=none works without; the kernel must have been built with BTF"));
}

void add(adaptyst_context_row& sum, const adaptyst_context_row& part) {
  sum.runnable_ns += part.runnable_ns;
  for (unsigned reason = 0; reason != ADAPTYST_BLOCKED_REASONS; ++reason)
    sum.blocked_ns[reason] += part.blocked_ns[reason];
  sum.involuntary += part.involuntary;
  sum.voluntary += part.voluntary;
  sum.migrations += part.migrations;
  sum.faults += part.faults;
  sum.major_faults += part.major_faults;
  sum.fault_variance += part.fault_variance;
  sum.involuntary_variance += part.involuntary_variance;
  sum.voluntary_variance += part.voluntary_variance;
  sum.migrations_variance += part.migrations_variance;
}

// In ns^2. Sums of two processors have no common carry, so they are added as numbers.
double to_variance(const adaptyst_square_sum& sum) {
  return std::ldexp(std::ldexp(static_cast<double>(sum.high), 32) + static_cast<double>(sum.low),
                    2 * ADAPTYST_SQUARE_UNIT_LOG2);
}

void add_switch_errors(context_part& made, const adaptyst_context_row& whole,
                       const std::vector<adaptyst_context_row>& parts) {
  if (whole.voluntary_variance == 0 && whole.involuntary_variance == 0) return;
  made.voluntary_variance = static_cast<double>(whole.voluntary_variance);
  made.involuntary_variance = static_cast<double>(whole.involuntary_variance);
  made.migrations_variance = static_cast<double>(whole.migrations_variance);
  made.runnable_variance = made.blocked_variance = 0;
  for (const adaptyst_context_row& part : parts) {
    *made.runnable_variance += to_variance(part.runnable_variance);
    *made.blocked_variance += to_variance(part.blocked_variance);
  }
}

}  // namespace

context_part sum_rows(const std::vector<adaptyst_context_row>& parts, bool with_faults) {
  adaptyst_context_row whole{};  // a fault may begin on one processor, and its kind be known on another
  for (const adaptyst_context_row& part : parts) add(whole, part);
  context_part made;
  made.runnable_ns = whole.runnable_ns;
  made.sleep_ns = whole.blocked_ns[ADAPTYST_BLOCKED_SLEEP];
  made.lock_ns = whole.blocked_ns[ADAPTYST_BLOCKED_LOCK];
  made.io_ns = whole.blocked_ns[ADAPTYST_BLOCKED_IO];
  made.other_ns = whole.blocked_ns[ADAPTYST_BLOCKED_OTHER];
  made.voluntary_switches = whole.voluntary;
  made.involuntary_switches = whole.involuntary;
  made.migrations = whole.migrations;
  add_switch_errors(made, whole, parts);
  if (!with_faults) return made;
  made.major_faults = whole.major_faults;
  made.page_faults = whole.faults;
  if (whole.fault_variance != 0) made.faults_variance = static_cast<double>(whole.fault_variance);
  return made;
}

context_probes::context_probes(bool with_faults, pid_t process, bool listed, const kernel_rows* rows_with_functions)
    : process_(process), with_faults_(with_faults), loaded_(open_programs(context_bpf__open, context_bpf__destroy)) {
  if (!kernel_has_uprobe_multi())
    throw error("cannot ask the kernel for context: it has no link for many probes at once", 0,
                "use Linux 6.10 or later, or context=none");
  if (loaded_ == nullptr) fail("cannot load the eBPF programs for context", errno);
  expect_multi(loaded_->progs.announce);
  loaded_->rodata->filter = filter_for(listed ? process_filter::listed : process_filter::all);
  loaded_->rodata->layout = find_recorder_layout();
  for (const auto& [call, reason] : call_reasons)
    if (call < ADAPTYST_CONTEXT_SYSCALLS) loaded_->rodata->reasons[call] = static_cast<std::uint8_t>(reason);
  if (!listed) bpf_map__set_max_entries(loaded_->maps.processes, 1);
  loaded_->rodata->among_functions = rows_with_functions != nullptr ? 1 : 0;
  if (rows_with_functions == nullptr) bpf_map__set_autocreate(loaded_->maps.stacks, false);
  else if (bpf_map__reuse_fd(loaded_->maps.stacks, rows_with_functions->function_stacks()) != 0)
    fail("cannot load the eBPF programs for context", errno);
  bpf_program__set_autoload(loaded_->progs.faulted, with_faults);
  bpf_program__set_autoload(loaded_->progs.faulted_in_kernel, with_faults);
  if (const int failed = load_with_types(loaded_.get(), context_bpf__load); failed != 0)
    fail("cannot load the eBPF programs for context", -failed);
  for (bpf_program* const program :
       {loaded_->progs.switched, loaded_->progs.woken, loaded_->progs.faulted, loaded_->progs.faulted_in_kernel}) {
    if (bpf_program__fd(program) < 0) continue;
    tracepoints_.emplace_back(bpf_program__attach(program));
    if (tracepoints_.back() != nullptr) continue;
    const bool of_faults = program == loaded_->progs.faulted || program == loaded_->progs.faulted_in_kernel;
    // Some platforms lack these tracepoints.
    if (!of_faults || errno != ENOENT) fail("cannot attach to the kernel's scheduler", errno);
    tracepoints_.pop_back();
    with_faults_ = false;
  }
}

context_probes::~context_probes() { stop(); }

void context_probes::attach(const std::string& file) {
  const std::lock_guard lock(mutex_);
  files_.once(file, [&](const uprobe_file& opened, const std::vector<elf_probe>& probes) {
    std::vector<uprobe_place> places;
    for (const elf_probe& probe : probes)
      if (probe.name == "thread") places.push_back({probe.offset, 0});
    if (!places.empty()) links_.push_back(uprobe_link::attach_multi(loaded_->progs.announce, opened, places, process_));
  });
}

void context_probes::add_process(pid_t process) const { lib::add_process(processes(), process, {}); }
void context_probes::remove_process(pid_t process) {
  constexpr std::size_t max_ended = 4096;
  lib::remove_process(processes(), process);
  ended_.insert(process);
  if (ended_.size() >= max_ended) announced();
}

context_sums context_probes::read() const {
  context_sums sums;
  sums.with_faults = with_faults_;
  const std::size_t processors = possible_cpus();
  for (const bpf_map* const rows : {loaded_->maps.context, loaded_->maps.more_context})
    for_each_entry<std::uint64_t, adaptyst_context_row>(
        rows, [&](std::uint64_t path, const adaptyst_context_row* parts) {
          sums.by_path[path].merge(sum_rows({parts, parts + processors}, with_faults_));
        });
  const std::vector<std::uint64_t> counts = read_kernel_counters(loaded_->maps.counts, ADAPTYST_CONTEXT_COUNTS);
  sums.account.threads = counts[ADAPTYST_CONTEXT_THREADS];
  const auto lose = [&](loss_reason why, std::uint32_t counter) {
    if (counts[counter] != 0) sums.account.lost[why] = counts[counter];
  };
  lose(loss_reason::rows_full, ADAPTYST_CONTEXT_ROWS_FULL);
  lose(loss_reason::unreadable, ADAPTYST_CONTEXT_UNREADABLE);
  lose(loss_reason::other_layout, ADAPTYST_CONTEXT_LAYOUT);
  lose(loss_reason::no_memory, ADAPTYST_CONTEXT_NO_MEMORY);
  lose(loss_reason::no_wakeup, ADAPTYST_CONTEXT_NO_WAKEUP);
  if (const unsigned step = coarsest_fault_step_; step != 0) sums.account.faults_one_of = std::uint64_t{1} << step;
  if (const unsigned step = coarsest_switch_step_; step != 0) sums.account.switches_one_of = std::uint64_t{1} << step;
  return sums;
}

const announced_recorders& context_probes::announced() {
  std::vector<adaptyst_announced_recorder> ended_recorders;
  for_each_entry<adaptyst_announced_recorder, std::uint32_t>(
      loaded_->maps.recorders, [&](const adaptyst_announced_recorder& recorder, const std::uint32_t*) {
        const auto process = static_cast<std::int64_t>(recorder.process);
        announced_.emplace(process, recorder.recorder);
        if (ended_.count(process) != 0) ended_recorders.push_back(recorder);
      });
  for (const adaptyst_announced_recorder& recorder : ended_recorders)
    bpf_map_delete_elem(bpf_map__fd(loaded_->maps.recorders), &recorder);
  ended_.clear();
  return announced_;
}

std::uint64_t context_probes::cost_ns() const {
  const loads all = read_loads();
  return all.switches.cost_ns(switch_events) + all.faults.cost_ns(page_fault_events);
}

context_probes::loads context_probes::read_loads() const {
  const std::vector<std::uint64_t> counts = read_kernel_counters(loaded_->maps.counts, ADAPTYST_CONTEXT_COUNTS);
  return {{counts[ADAPTYST_CONTEXT_SWITCHES], read_kernel_counters(loaded_->maps.own_cost, 1).front()},
          {counts[ADAPTYST_CONTEXT_FAULTS], counts[ADAPTYST_CONTEXT_FAULT_NS]}};
}

void context_probes::record_faults(unsigned step) {
  coarsest_fault_step_ = std::max(coarsest_fault_step_.load(), step);
  __atomic_store_n(&loaded_->bss->fault_step, std::uint32_t{step}, __ATOMIC_RELAXED);
}

void context_probes::record_switches(unsigned step) {
  coarsest_switch_step_ = std::max(coarsest_switch_step_.load(), step);
  __atomic_store_n(&loaded_->bss->switch_step, std::uint32_t{step}, __ATOMIC_RELAXED);
}

void context_probes::stop() {
  tracepoints_.clear();
  std::vector<uprobe_link> links;
  {
    const std::lock_guard lock(mutex_);
    links.swap(links_);
  }
  detach(std::move(links));
}

int context_probes::function_stacks() const {
  return loaded_->rodata->among_functions != 0 ? bpf_map__fd(loaded_->maps.stacks) : -1;
}
int context_probes::threads() const { return bpf_map__fd(loaded_->maps.threads); }

int context_probes::processes() const { return bpf_map__fd(loaded_->maps.processes); }

}  // namespace adaptyst::lib
