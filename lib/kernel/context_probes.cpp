// Loads and attaches the BPF programs of the scheduler's events and page faults, and adds up their rows. A table
// contains the system calls that count as waiting for a lock, for files, or for a time.
#include "context_probes.hpp"

#include <adaptyst/detail/clock.hpp>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <random>
#include <thread>

#include "../../probes/context_layout.h"
#include "../support/cpu_time.hpp"
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

void leave_out_faults(context_sums& sums) {
  sums.with_faults = false;
  for (auto& [path, part] : sums.by_path) {
    part.major_faults.reset();
    part.faults_variance.reset();
    part.page_faults = 0;
    part.window_deviations.clear();
    part.has_unseen_faults = false;
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
  if (const int failed = load_with_types(loaded_.get(), context_bpf__load); failed != 0)
    fail("cannot load the eBPF programs for context", -failed);
  for (bpf_program* const program : {loaded_->progs.switched, loaded_->progs.woken}) {
    tracepoints_.emplace_back(bpf_program__attach(program));
    if (tracepoints_.back() == nullptr) fail("cannot attach to the kernel's scheduler", errno);
  }
  const int refused = with_faults ? attach_faults() : 0;
  // Some platforms lack these tracepoints.
  if (refused == ENOENT) with_faults_ = false;
  else if (refused != 0) fail("cannot attach to the kernel's page faults", refused);
}

// In a forked child, a thread that is not there may hold the locks. Its descriptors close with the members.
context_probes::~context_probes() {
  if (getpid() == maker_) stop();
}

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
  if (const unsigned weight = coarsest_fault_weight_; weight != 1) sums.account.faults_one_of = weight;
  if (const unsigned step = coarsest_switch_step_; step != 0) sums.account.switches_one_of = std::uint64_t{1} << step;
  add_windows(sums);
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
  const event_load switches{counts[ADAPTYST_CONTEXT_SWITCHES], read_kernel_counters(loaded_->maps.own_cost, 1).front()};
  const std::lock_guard lock(windows_mutex_);
  const event_load faults = find_fault_load(counts);
  const std::uint64_t now_ns = detail::monotonic_ns();
  const std::uint64_t even_ns = windows_.current != 1
                                    ? windows_.cost.counted_ns(now_ns)
                                    : increase(windows_.cost.left_ns(now_ns), faults.cost_ns(page_fault_events));
  return {switches, faults, even_ns};
}

event_load context_probes::find_fault_load(const std::vector<std::uint64_t>& counts) const {
  const auto in_windows = static_cast<std::uint64_t>(std::llround(windows_.sums.events()));
  return {counts[ADAPTYST_CONTEXT_FAULTS] + in_windows,
          counts[ADAPTYST_CONTEXT_FAULT_NS],
          windows_.blocks_ns,
          in_windows,
          static_cast<std::uint64_t>(windows_.uncalled),
          windows_.attaching_ns,
          windows_.sums.blocks(),
          windows_.attached_ns};
}

// The cost so far counts evenly over `length_ns` from now on.
void context_probes::note_cost(std::uint64_t now_ns, std::uint64_t length_ns) {
  const event_load load = find_fault_load(read_kernel_counters(loaded_->maps.counts, ADAPTYST_CONTEXT_COUNTS));
  windows_.cost.end_block(now_ns, load.cost_ns(page_fault_events), length_ns);
}

// The kernel interrupts all processors while this thread attaches or detaches. On a guest with two processors, a program on
// the other one lost 0.55 of the CPU time of this thread.
void context_probes::note_attaching(std::uint64_t began_ns) {
  constexpr double interrupted = 0.55;
  const double own = process_ == maker_ ? 1 : 0;  // the time of an observer is not the program's
  windows_.attaching_ns += static_cast<std::uint64_t>(static_cast<double>(thread_cpu_ns() - began_ns) *
                                                      (own + interrupted * windows_.interrupted_cpus));
}

void context_probes::record_faults(const kernel_sampling& chosen) {
  const std::lock_guard lock(windows_mutex_);
  windows_.delay_ns = chosen.delay_ns();
  const double others = static_cast<double>(std::max(std::thread::hardware_concurrency(), 2U) - 1);
  windows_.interrupted_cpus = std::min(chosen.busy_cpus(), others);
  __atomic_store_n(&loaded_->bss->fault_step, std::uint32_t{chosen.step()}, __ATOMIC_RELAXED);
  windows_.wanted = with_faults_ ? chosen.windows() : 1;
  note_weight();
}

void context_probes::note_weight() {
  coarsest_fault_weight_ = std::max(coarsest_fault_weight_.load(), windows_.current << loaded_->bss->fault_step);
}

context_probes::fault_windows::fault_windows() : block(std::random_device()()), sums(std::random_device()()) {}

int context_probes::attach_faults() {
  const std::uint64_t began_ns = thread_cpu_ns();
  int refused = 0;
  for (const char* const tracepoint : {"page_fault_user", "page_fault_kernel"}) {
    fault_links_.push_back(uprobe_link::attach_tracepoint(loaded_->progs.faulted, tracepoint));
    if (fault_links_.back().is_attached()) continue;
    refused = errno;
    fault_links_.clear();
    break;
  }
  if (windows_.current != 1) note_attaching(began_ns);
  return refused;
}

bool context_probes::attach_again() {
  if (attach_faults() == 0) return true;
  ++windows_.refusals;
  return false;
}

void context_probes::detach_faults() {
  const std::uint64_t began_ns = thread_cpu_ns();
  fault_links_.clear();
  note_attaching(began_ns);
}

void context_probes::set_window(unsigned state) {
  __atomic_store_n(&loaded_->bss->fault_window, std::uint32_t{state}, __ATOMIC_RELAXED);
}

std::uint64_t context_probes::keep_windows(std::uint64_t longest_wait_ns) {
  const std::lock_guard lock(windows_mutex_);
  window_block& block = windows_.block;
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (windows_.current == 1) {
    if (windows_.wanted == 1) return 0;
    begin_windows(now_ns);
    return block.next_ns();
  }
  if (block.must_close(now_ns)) {
    set_window(ADAPTYST_WINDOW_CLOSED);
    block.close(detail::monotonic_ns());
    detach_faults();
    windows_.attached_ns += increase(windows_.attached_since_ns, detail::monotonic_ns());
  } else if (block.has_ended(now_ns)) {
    finish_block(now_ns);
  }
  if (windows_.current == 1) return 0;
  if (!block.must_open(now_ns + longest_wait_ns)) return block.next_ns();
  std::this_thread::sleep_for(std::chrono::nanoseconds(increase(detail::monotonic_ns(), block.opens_ns())));
  windows_.attached_since_ns = detail::monotonic_ns();
  if (attach_again()) {
    block.open(detail::monotonic_ns());
    set_window(ADAPTYST_WINDOW_FIRST + static_cast<unsigned>(windows_.sums.blocks()));
  } else {
    block.defer(detail::monotonic_ns());
  }
  return block.next_ns();
}

void context_probes::begin_windows(std::uint64_t now_ns) {
  constexpr unsigned at_first = 4;
  windows_.current = std::min(windows_.wanted, at_first);
  note_weight();
  set_window(ADAPTYST_WINDOW_CLOSED);
  windows_.block.begin(now_ns, windows_.current);
  note_cost(now_ns, 0);
  detach_faults();
}

// The next block begins where this one has ended, however late it is now. Without a next one, it ends when the programs are
// attached.
void context_probes::finish_block(std::uint64_t now_ns) {
  const bool is_last = windows_.wanted == 1 && attach_again();
  if (is_last) {
    set_window(ADAPTYST_WINDOW_NONE);
    now_ns = detail::monotonic_ns();
    windows_.block.extend(now_ns);
  }
  const std::uint64_t began_ns = thread_cpu_ns();
  const double before = windows_.sums.events();
  const std::uint64_t block_ns = windows_.block.length_ns(now_ns);
  const std::uint64_t open_ns = windows_.block.open_length_ns(now_ns);
  windows_.sums.add(read_window_faults(), {block_ns, open_ns, windows_.delay_ns});
  const double events = windows_.sums.events() - before;
  windows_.uncalled += events * (1 - static_cast<double>(open_ns) / static_cast<double>(block_ns));
  windows_.blocks_ns += block_ns;
  if (process_ == maker_) windows_.attaching_ns += thread_cpu_ns() - began_ns;
  if (is_last) {
    note_cost(now_ns, block_ns);
    windows_.current = 1;
    return;
  }
  // Few windows before the end of a short program would give no estimate, so the first blocks are shorter.
  windows_.current = std::max(std::min(windows_.wanted, 2 * windows_.current), 2U);
  note_weight();
  windows_.block.begin(windows_.block.ends_ns(), windows_.current);
  note_cost(now_ns, windows_.current * window_ns);
}

path_counts context_probes::read_window_faults() const {
  path_counts all;
  for_each_entry<std::uint64_t, adaptyst_window_faults>(loaded_->maps.window_faults,
                                                        [&](std::uint64_t path, const adaptyst_window_faults* of) {
                                                          all[path] = {of->faults, of->earlier};
                                                        });
  return all;
}

void context_probes::add_windows(context_sums& sums) const {
  const std::lock_guard lock(windows_mutex_);
  if (windows_.refusals != 0) sums.account.lost[loss_reason::not_attached] = windows_.refusals;
  window_sums all = windows_.sums;
  const std::uint64_t now_ns = detail::monotonic_ns();
  const window_block& block = windows_.block;
  const std::uint64_t length_ns = windows_.current != 1 ? block.length_ns(now_ns) : 0;
  const bool is_usable = length_ns != 0 && block.is_usable(now_ns);
  if (is_usable) all.add(read_window_faults(), {length_ns, block.open_length_ns(now_ns), windows_.delay_ns});
  else all.extend(length_ns);
  const auto estimates = all.read();
  for (auto& [path, part] : sums.by_path)
    part.has_unseen_faults = all.blocks() != 0 && part.page_faults != 0 && estimates.count(path) == 0;
  if (all.blocks() != 0) sums.unseen_faults = all.events() / static_cast<double>(all.blocks());
  for (const auto& [path, found] : estimates) {
    context_part part;
    if (sums.with_faults) part.major_faults = 0;
    part.page_faults = static_cast<std::uint64_t>(std::llround(found.events));
    part.window_deviations = found.deviations;
    sums.by_path[path].merge(part);
  }
  // There was no window, or the programs could not be attached for several blocks: an unknown number is missing. A busy
  // observer may be late by less than a second.
  constexpr std::uint64_t max_late_ns = 1'000'000'000;
  const std::uint64_t longest_ns = std::max(window_ns * 4 * windows_.current, max_late_ns);
  if (length_ns != 0 && !is_usable && (all.blocks() == 0 || length_ns > longest_ns)) leave_out_faults(sums);
}

void context_probes::record_switches(unsigned step) {
  coarsest_switch_step_ = std::max(coarsest_switch_step_.load(), step);
  __atomic_store_n(&loaded_->bss->switch_step, std::uint32_t{step}, __ATOMIC_RELAXED);
}

void context_probes::stop() {
  tracepoints_.clear();
  {
    const std::lock_guard lock(windows_mutex_);
    fault_links_.clear();
  }
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
