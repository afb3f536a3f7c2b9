// The common part of collectors and observers for one process: times, devices, open regions, timeline, budget.
#include "target.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "../model/region_list.hpp"
#include "../recorder/open_regions.hpp"
#include "../support/error.hpp"
#include "../support/launch_rank.hpp"
#include "../support/options.hpp"
#include "../support/process_stat.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

// CPU time that the process has used; 0 if it does not exist.
std::uint64_t cpu_time_ns(pid_t process) {
  clockid_t clock;
  timespec used{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return 0;
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

// Empty also if the parent is not visible to this process, as outside a container.
std::optional<std::int64_t> find_parent(pid_t process) {
  const std::optional<process_stat> found = read_stat(process);
  return found && found->parent > 0 ? std::optional<std::int64_t>(found->parent) : std::nullopt;
}

}  // namespace

recorded_process::recorded_process(pid_t process)
    : id_(process),
      command_(find_program(process)),
      arguments_(read_arguments(process)),
      rank_(find_rank(process)),
      cpus_(usable_cpus()),
      devices_(read_devices({&own_memory(), 0, {}}, 0, 0, 0)),
      parent_(find_parent(process)) {
  devices_.devices.front().busy_ns.reset();  // until it has been read
  start_now();
}

void target::give_up(const char* why) noexcept {
  if (is_given_up()) return;
  try {
    given_up_ = why;
    complain(fmt::format("process {} ({}) is not observed any longer: {}", id_, printable(command()), why));
  } catch (const std::exception&) {  // no memory for the message
    given_up_ = "?";
  }
  retire();
}

bool target::begin_poll() noexcept {
  constexpr std::uint64_t allowance_ns = 100'000'000, share = 10;
  const std::uint64_t now_ns = detail::monotonic_ns();
  polls_ns_ -= std::min(polls_ns_, (now_ns - poll_begun_ns_) / share);
  poll_begun_ns_ = now_ns;
  has_refused_poll_ = polls_ns_ > allowance_ns;
  return !has_refused_poll_;
}

void target::end_poll() noexcept { polls_ns_ += detail::monotonic_ns() - poll_begun_ns_; }

void target::account_for_end(account& in) const {
  if (is_given_up()) add_refused(in, {1, given_up_});
}

void recorded_process::start_now() {
  started_cpu_ns_ = cpu_time_ns(id_);
  started_ns_ = detail::monotonic_ns();
  started_at_ = std::time(nullptr);
  unread_ = unread_end(started_ns_);
  resident_series_ = {};
}

void recorded_process::set_command(std::string command, std::vector<std::string> arguments) {
  command_ = std::move(command);
  arguments_ = std::move(arguments);
  rank_ = find_rank(id_);  // a launcher sets the rank when its child becomes the program
}

void recorded_process::begin_at(std::uint64_t started_ns, std::time_t started_at, unsigned cpus) {
  started_ns_ = started_ns;
  started_at_ = started_at;
  started_cpu_ns_ = 0;
  cpus_ = cpus;
}

recorded_process::moment recorded_process::now() const { return {detail::monotonic_ns(), cpu_time_ns(id_)}; }

void recorded_process::note_time() {
  const moment at = now();
  if (is_in_proc()) thread_times_.poll(id_, at.ns);
  if (watches_memory_ && is_running()) note_memory(at.ns);
  if (is_running()) used_cpu_ns_ = cpu_since_start(at.cpu_ns);
}

// An ending process has no memory left: its last values remain. The peak is that of the program; exec() begins another.
void recorded_process::note_memory(std::uint64_t now_ns) {
  if (std::string now = find_program(id_); !now.empty() && now != resident_program_) {
    resident_program_ = std::move(now);
    resident_series_ = {};
  }
  const resident_memory read = read_resident_memory(id_);
  if (!read.peak_bytes) return;
  resident_ = read;
  if (read.now_bytes) resident_series_.add(now_ns - std::min(now_ns, started_ns_), *read.now_bytes);
}

void recorded_process::follow_memory() {
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (watches_memory_ && resident_series_.is_due(now_ns - std::min(now_ns, started_ns_)) && is_running())
    note_memory(now_ns);
}

void recorded_process::note_end(std::optional<std::uint32_t> signal, bool has_cpu_time) const {
  signal_ = signal;
  if (!has_cpu_time) return;
  used_cpu_ns_ = std::max(used_cpu_ns_, cpu_since_start(cpu_time_ns(id_)));
}

// Up to the end of the process, which may be later than the last read.
void recorded_process::note_length(std::uint64_t now_ns) {
  const std::uint64_t end_ns = ended_ns() != 0 ? ended_ns() : now_ns;
  observed_ns_ = end_ns - std::min(end_ns, started_ns_);
}

// Notes the host's data of a process that can no longer be read.
void recorded_process::note_host() {
  device_usage& host = devices_.devices.front();
  host.observed_ns = devices_.offload.observed_ns = observed_ns_;
  host.busy_ns.reset();
  if (used_cpu_ns_ != 0) host.busy_ns = std::min(observed_ns_, used_cpu_ns_ / cpus_);
}

void recorded_process::poll(bool also_open) {
  const std::uint64_t begun_ns = detail::monotonic_ns();
  read_all(also_open);
  read_for_ns_ += detail::monotonic_ns() - begun_ns;
}

void recorded_process::read_all(bool also_open) {
  const std::optional<process_state> state = reach();
  if (!state) {
    if (ended_ns() != 0 || observed_ns_ == 0) note_length(detail::monotonic_ns());
    note_host();
    return;
  }
  reader_.poll(*state);
  note_time();
  const std::uint64_t now_ns = now().ns;
  note_length(now_ns);
  device_list list = read_devices(*state, now_ns, observed_ns_, used_cpu_ns_ / cpus_);
  if (used_cpu_ns_ == 0) list.devices.front().busy_ns.reset();
  open_region_counts open;
  if (also_open) open = read_open_regions(*state);
  program_metadata metadata = read_metadata(*state);
  // The process may have ended in the meantime, without its memory.
  if (!is_running() && !outlives()) return;
  devices_ = std::move(list);
  constexpr std::size_t bytes_of_open = 64;
  open_ = open_bytes_.hold(open.size() * bytes_of_open) ? std::move(open) : open_region_counts();
  metadata_ = std::move(metadata);
}

std::uint64_t target::trace_to(timeline& to) {
  const std::optional<process_state> state = reach();
  if (!state || state->address == 0) return 0;
  if (state->is_clock_known) {
    const timeline::taken made = to.take(id_, command(), *state);
    has_events_left_ = !made.is_all;
    return made.events;
  }
  if (std::exchange(has_no_known_clock_, true)) return 0;
  complain(
      fmt::format("process {} ({}) is omitted from the timeline: the offset of its time namespace is unknown\n"
                  "start it with `unshare --time --fork`, or observe it from inside the namespace",
                  id_, printable(command())));
  return 0;
}

bool target::keep_budget(double context_share, double traced_ns) {
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (!budget_ || !has_markers() || !budget_->is_due(now_ns)) return false;
  const std::optional<process_state> state = reach();
  if (!state || state->address == 0) return false;
  const std::uint64_t cpu_ns = cpu_time_ns(id_);
  const std::uint64_t used_ns = cpu_since_start(cpu_ns);
  if (!budget_->poll(*state, {now_ns, used_ns, context_share, traced_ns})) return false;
  if (cpu_ns != 0) budgeted_cpu_ns_ = used_ns;
  unread_.see(now_ns, budget_->in_process());
  return true;
}

void target::release_budget(const process_state& state) {
  if (budget_) budget_->release(state);
}

std::map<budget_step, std::uint64_t> target::find_steps(std::uint64_t path) const {
  const measurements& all = recorded();
  const auto found = all.paths.find(path);
  if (!budget_ || found == all.paths.end() || all.rows.find(path) == all.rows.end()) return {};
  return budget_->find_times(found->second.site, started_ns() + observed_ns(), observed_ns());
}

void recorded_process::take_last_regions(const process_state& state, std::uint64_t ended_ns) {
  constexpr std::size_t max_regions = 64;  // in case the process's memory is damaged
  for (const last_open_region& row : read_last_regions(state)) {
    if (ended_in_.size() == max_regions) return;
    ended_in_.push_back(
        {list_path_names(recorded(), row.path), row.threads, ended_ns - std::min(ended_ns, row.since_ns)});
  }
}

process_info recorded_process::info() const {
  process_info made{id_,
                    command_,
                    expand("%h"),
                    observed_ns_,
                    ended_in_,
                    arguments_,
                    started_at_ != 0 ? utc(started_at_) : "",
                    reader_.threads(),
                    rank_};
  made.parent = parent_;
  made.signal = signal_;
  if (used_cpu_ns_ != 0) made.cpu_ns = used_cpu_ns_;
  made.thread_list = thread_times_.list();
  made.peak_rss_bytes = resident_.peak_bytes;
  made.rss_bytes = resident_.now_bytes;
  made.resident = resident_series_.points();
  return made;
}

}  // namespace adaptyst::lib
