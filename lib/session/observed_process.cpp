// One observed process, from the first read to the last. It may be alive, forked, replaced by exec() or dead, and its
// memory may be refused: this file handles each case, and each is reported once.
#include "observed_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <limits>
#include <utility>

#include "../discover/process_objects.hpp"
#include "../recorder/site_counts.hpp"
#include "../support/error.hpp"
#include "../support/process_maps.hpp"
#include "../support/process_stat.hpp"
#include "../support/time_namespace.hpp"

namespace adaptyst::lib {

namespace {

std::string yama() {
  std::ifstream scope("/proc/sys/kernel/yama/ptrace_scope");
  std::string value;
  std::getline(scope, value);
  return value;
}

std::string hint_on_refusal(int number) {
  if (number == ETIMEDOUT)
    return "its memory or one of its files was not delivered in time (FUSE, network); observe it later";
  if (number == EMFILE || number == ENFILE) return "allow the observer more open files: ulimit -n";
  if (geteuid() == 0) return "it must not be setuid or setgid; CAP_SYS_PTRACE and CAP_DAC_OVERRIDE are needed";
  if (const std::string scope = yama(); scope == "1" || scope == "2")
    return fmt::format(
        "kernel.yama.ptrace_scope is {}: start the program with `adaptyst run`, or be root, or have CAP_SYS_PTRACE",
        scope);
  return "it must be yours, not setuid, and must not forbid it (PR_SET_DUMPABLE); or be root, or have CAP_SYS_PTRACE";
}

[[noreturn]] void not_permitted(pid_t process, int number) {
  throw error(fmt::format("cannot read the memory of process {}", process), std::to_string(process), number,
              hint_on_refusal(number));
}

constexpr const char* other_build = "it was built with another version of adaptyst: build both with the same";

}  // namespace

observed_process::observed_process(pid_t process, bool started, const detail::level_settings& levels)
    : target(process),
      descriptor_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
      memory_(process, !started),
      levels_(levels),
      state_{&memory_, 0, {}},
      image_(find_image(process)) {
  note_clock();
  if (descriptor_ < 0)
    throw error(fmt::format("cannot observe process {}", process), std::to_string(process), errno,
                "it must be running");
  if (!is_running()) memory_.close();  // the number may already have belonged to another process
  if (!started) return;
  try_step([this] {
    settings_.emplace(memory_, levels_);
    state_.in = &*settings_;
  });
}

observed_process::~observed_process() {
  release();
  if (descriptor_ >= 0) close(descriptor_);
}

bool observed_process::may_follow(recorders from, recorders to) noexcept {
  const bool is_announced = to == recorders::following || to == recorders::following_enabled;
  switch (from) {
    case recorders::untaken: return is_announced || to == recorders::of_another || to == recorders::claimed;
    case recorders::of_another: return is_announced;
    case recorders::claimed: return is_announced || to == recorders::claimed_enabled || to == recorders::released;
    case recorders::claimed_enabled:
    case recorders::following:
    case recorders::following_enabled: return is_announced || to == recorders::released;
    case recorders::released: break;
  }
  return false;
}

void observed_process::enter(recorders next) {
  if (!may_follow(recorders_, next))
    throw error(fmt::format("cannot observe process {}: its recorders are taken over twice", id_), std::to_string(id_),
                0, "report this message");
  recorders_ = next;
}

bool observed_process::is_running() const { return life_ == life::running && !memory_.has_hung() && !is_gone(); }

bool observed_process::is_gone() const {
  if (life_ == life::gone) return true;
  pollfd end{descriptor_, POLLIN, 0};
  if (::poll(&end, 1, 0) == 0) return false;
  note_end();
  close(std::exchange(descriptor_, -1));  // there may be many processes, and each needs a descriptor
  memory_.close();
  return true;
}

void observed_process::note_end() const {
  leave(life::gone);
  const process_end how = read_end(descriptor_, id_);
  target::note_end(how.signal, how.is_kept);
}

// The kernel frees the memory of a process before the process ends; the kind of its end is known later.
process_info observed_process::info() const {
  if (life_ == life::ending) is_gone();
  return target::info();
}

void observed_process::retire() noexcept { leave(life::left); }

void observed_process::leave(life how) const noexcept {
  if (life_ == life::running || how == life::gone) life_ = how;
  if (ended_ns_ == 0) ended_ns_ = detail::monotonic_ns();
}

bool observed_process::is_still_itself() {
  if (memory_.has_hung() && life_ == life::running) {
    retire();
    refused_ = "its memory or one of its files was not delivered in time";
  }
  if (is_running()) {
    if (!is_another_program()) return true;
    if (state_.address == 0 && state_.objects.empty() && !has_announced()) {  // it was expected
      take_image();
      return true;
    }
    leave(find_image(id_).empty() ? life::ending : life::left);
  }
  if (ended_ns_ == 0) ended_ns_ = detail::monotonic_ns();
  return false;
}

void observed_process::note_layout() {
  if (!refused_.empty() || has_same_layout(state_)) return;
  complain(fmt::format("cannot read the recorders of process {}: {}", id_, other_build));
  refused_ = other_build;
}

void observed_process::note_refusal() {
  if (!is_running() || is_another_program()) return;
  note_layout();
  if (held_) return;
  int number = memory_.refusal();
  if (number == EMFILE || number == ENFILE || number == ENOMEM) {
    memory_.open();
    number = memory_.refusal();
  }
  if (number == 0) {
    if (is_claimed() && has_same_layout(state_)) refused_.clear();  // nothing is lost: the store is complete
    return;
  }
  if (refused_.empty())
    complain(error(fmt::format("cannot read the memory of process {}", id_), std::to_string(id_), number,
                   hint_on_refusal(number))
                 .what());
  refused_ = error("not to be read", number, "").summary();
}

// A vfork() child uses its parent's memory, which remains.
bool observed_process::is_another_program() const { return memory_.is_gone() || find_image(id_) != image_; }

void observed_process::take_image() {
  memory_.open();
  if (!is_running()) memory_.close();
  image_ = find_image(id_);
  note_clock();
}

// A process enters another time namespace with exec() at the latest.
void observed_process::note_clock() {
  const std::optional<std::int64_t> lead_ns = find_clock_lead_ns(id_);
  state_.clock_lead_ns = lead_ns.value_or(0);
  state_.is_clock_known = lead_ns.has_value();
}

void observed_process::hold(descriptor store) {
  if (held_ || state_.address != 0) return;
  held_.emplace(std::move(store), memory_outside_store());
  state_.in = &*held_;
  state_.address = held_->address();
}

const memory& observed_process::memory_outside_store() const noexcept {
  if (settings_) return *settings_;
  return memory_;
}

descriptor observed_process::adopt(bool is_enabled) {
  enter(is_enabled ? recorders::following_enabled : recorders::following);
  return settings_ ? settings_->file() : descriptor();
}

// Finds where the process has mapped the settings of this observer; complains once if the process could not map them.
void observed_process::find_settings() {
  detail::store_head head{};
  if (!settings_ || settings_->is_mapped() || state_.address == 0 || !state_.in->read(state_.address, head)) return;
  const auto self = std::uint64_t{static_cast<std::uint32_t>(getpid())};
  if (head.settings_owner == (own_start() << 32 | self)) settings_->mapped_at(as_address(head.settings));
  else if (head.recorders != nullptr && !std::exchange(has_no_settings_, true) &&
           (has_budget() || trace_entries_ != 0 || levels_.deepest != 0))
    complain(fmt::format(
        "process {} cannot be given settings: it has no overhead budget, its timeline has only the beginning, "
        "and all levels are recorded; allow it one more open file (ulimit -n)",
        id_));
}

// After the last read of a process, closes its descriptors: with thousands of processes, they are scarce.
void observed_process::read_out() noexcept {
  if (held_) {
    is_complete_ = true;
    try_step([this] {
      note_layout();
      take_last_regions(state_, ended_ns_);
    });
  }
  state_.in = &memory_;
  held_.reset();
  settings_.reset();
}

void observed_process::add_object(std::uint64_t control_block) {
  auto& objects = state_.objects;
  if (std::find(objects.begin(), objects.end(), control_block) == objects.end()) objects.push_back(control_block);
  is_complete_ = false;
}

void observed_process::remove_object(std::uint64_t control_block) {
  auto& objects = state_.objects;
  objects.erase(std::remove(objects.begin(), objects.end(), control_block), objects.end());
  recording_.erase(control_block);
  is_complete_ = objects.empty() && !has_refused_poll();
}

std::vector<process_object> observed_process::changed_objects() {
  if (has_announced() || !is_still_itself()) return {};
  const std::uint64_t files = read_file_state(id_);
  if (std::exchange(files_, files) == files) return {};
  try {
    std::vector<process_object> found = find_objects(id_);
    for (const process_object& object : found) add_object(object.control_block);
    return found;
  } catch (const error&) {  // the process has ended, or the next refresh tries again
    files_ = 0;
    return {};
  }
}

void observed_process::find_state() {
  for (const std::uint64_t object : state_.objects) {
    adaptyst_object block;
    if (state_.process == 0 && memory_.read(object, block)) state_.process = block.process;
  }
  // Before a forked child has noticed the fork, its store is still the parent's.
  if (state_.address == 0 && !is_forked()) {
    state_.address = find_store(memory_, state_.process);
    request_store();
  }
}

// Copies the store's descriptor from a process that has not handed it over; needs the right to trace the process.
void observed_process::request_store() {
  std::uint64_t number = 0;
  if (state_.address == 0 || !memory_.read(state_.process + offsetof(detail::process, store_file), number) ||
      number > std::numeric_limits<int>::max())
    return;
  descriptor store(static_cast<int>(syscall(SYS_pidfd_getfd, descriptor_, static_cast<int>(number), 0)));
  if (!detail::is_store(store.get())) return;
  try {
    held_.emplace(std::move(store), memory_outside_store());
  } catch (const error&) {  // not the descriptor of a store
    return;
  }
  if (held_->address() == state_.address) state_.in = &*held_;
  else held_.reset();
}

bool observed_process::is_forked() const {
  std::uint64_t version_and_observer = 0;
  static_assert(offsetof(detail::control_page, abi) == 0);
  return state_.process != 0 && memory_.read(state_.process, version_and_observer) &&
         static_cast<std::uint32_t>(version_and_observer) == 0;
}

void observed_process::take_state() {
  if (!is_still_itself()) return;
  find_state();
  if (state_.address == 0 || !is_claimed() || has_announced()) return;
  name_observer();
  request_levels();
  request_timeline();
}

// After a program's first marker has created its state: begins a new epoch without the markers that are too deep.
void observed_process::request_levels() {
  detail::control_page control{};
  if (levels_.deepest == 0 || settings_ || !has_same_layout(state_) || !memory_.read(state_.process, control)) return;
  set_levels(state_, levels_);
  begin_late_epoch(control.epoch + 1);
}

// After a program's first marker has created its state: begins a new epoch, with rings.
void observed_process::request_timeline() {
  const std::uint64_t page = state_.process;
  detail::control_page control{};
  if (trace_entries_ == 0 || !has_same_layout(state_) || !memory_.read(page, control) || control.trace_entries != 0)
    return;
  write(page + offsetof(detail::control_page, trace_entries), trace_entries_);
  begin_late_epoch(control.epoch + 1);
}

// The events since the first marker are lost, unless the kernel has them.
void observed_process::begin_late_epoch(std::uint64_t epoch) {
  constexpr std::uint64_t max_poll_ns = 100'000'000;
  if (is_recorded()) {
    recorder_reader earlier(max_poll_ns);
    earlier.poll(state_);
    before_epoch_ += earlier.result().accounting.begun;
  }
  begin_epoch(epoch);
}

bool observed_process::name_observer() {
  return write(state_.process + offsetof(detail::control_page, observer_started), own_start()) &&
         write(state_.process + offsetof(detail::control_page, observer), static_cast<std::uint32_t>(getpid()));
}

bool observed_process::begin_epoch(std::uint64_t epoch) {
  return write(state_.process + offsetof(detail::process, epochs), epoch) &&
         write(state_.address + offsetof(detail::store_head, epoch), epoch) &&
         write(state_.process + offsetof(detail::control_page, epoch), epoch);
}

void observed_process::claim(const claim_terms& terms) {
  try {
    take_over(terms);
    enter(recorders::claimed);
  } catch (const error&) {
    if (!terms.by_probes) throw;
    enter(recorders::of_another);
    note_refusal();
  }
}

void observed_process::take_over(const claim_terms& terms) {
  bool records = false;
  for (const std::uint64_t object : state_.objects) {
    adaptyst_object block;
    if (!memory_.read(object, block)) not_permitted(id_, errno);
    records = records || block.recorder != 0;
  }
  find_state();
  trace_entries_ = terms.trace_entries;
  if (state_.process == 0) {           // no marker was enabled yet
    if (records) disable_recorders();  // an earlier observer enabled it and is dead
    return;
  }
  detail::control_page control;
  if (!memory_.read(state_.process, control)) not_permitted(id_, errno);
  // A forked child that has not noticed the fork disables its markers when it does, unless it finds an observer that
  // waits.
  const bool forked = control.abi == 0;
  if ((!forked && control.abi != ADAPTYST_ABI_VERSION) || !has_same_layout(state_))
    throw error(fmt::format("cannot read the recorders of process {}", id_), std::to_string(id_), 0, other_build);
  const auto self = static_cast<std::uint32_t>(getpid());
  std::uint64_t is_over = 0;  // the observer has ended, and no marker has noticed yet
  memory_.read(state_.process + offsetof(detail::process, settings.over), is_over);
  if (control.observer != 0 && control.observer != self && is_over == 0 &&
      lib::is_running(static_cast<pid_t>(control.observer), control.observer_started))
    throw error(fmt::format("cannot observe process {}: process {} already does", id_, control.observer),
                std::to_string(id_), 0, "one observer at a time; stop the other");
  if (!forked && control.observer == 0 && (records || control.object_loaded != nullptr))
    throw error(fmt::format("cannot observe process {}: it collects for itself", id_), std::to_string(id_), 0,
                "stop its collector, or start it with ADAPTYST=engine=off");
  if (control.observer != 0 && control.observer != self) disable_recorders();  // left by a killed observer
  const std::uint64_t page = state_.process;
  if (forked) {
    const std::uint32_t wanted = terms.by_probes ? ADAPTYST_OBSERVED_BY_PROBES : ADAPTYST_OBSERVED_BY_RECORDER;
    write(page + offsetof(detail::control_page, trace_entries), terms.trace_entries);
    if (!name_observer() || !write(page + offsetof(detail::process, awaited), wanted)) not_permitted(id_, errno);
    return;
  }
  std::uint64_t epochs = 0;
  memory_.read(page + offsetof(detail::process, epochs), epochs);
  const std::uint64_t epoch = std::max(epochs, control.epoch) + 1;
  if (control.clock.ns_per_tick == 0) {
    for (const std::uint64_t line :
         {state_.address + offsetof(detail::store_head, clock), page + offsetof(detail::control_page, clock)}) {
      write(line + offsetof(detail::clock_line, base_ticks), terms.clock.base_ticks);
      write(line + offsetof(detail::clock_line, base_ns), terms.clock.base_ns);
      write(line + offsetof(detail::clock_line, ns_per_tick), terms.clock.ns_per_tick);
    }
  }
  write(page + offsetof(detail::control_page, trace_entries), terms.trace_entries);
  // The settings of an observer that has ended are free; it may have been this process.
  std::uint64_t settings_owner = 0;
  const std::uint64_t owner_address = state_.address + offsetof(detail::store_head, settings_owner);
  constexpr std::uint64_t no_owner = ~std::uint64_t{0};
  if (state_.in->read(owner_address, settings_owner) && settings_owner != 0) write(owner_address, no_owner);
  reset_steps(state_);  // before the epoch, which must have no event on the steps of an observer that was killed
  set_levels(state_, levels_);
  if (!name_observer() || !begin_epoch(epoch)) not_permitted(id_, errno);
}

// Only objects that are mapped now: the address of an unloaded library may contain something else.
void observed_process::disable_recorders() {
  for (const process_object& object : find_objects(id_))
    write(object.control_block + offsetof(adaptyst_object, recorder), std::uint16_t{0});
}

void observed_process::enable() {
  if (is_enabled()) return;
  enter(recorders::claimed_enabled);
  for (const std::uint64_t object : state_.objects)
    if (!write(object + offsetof(adaptyst_object, recorder), std::uint16_t{1})) not_permitted(id_, errno);
  // The first marker creates the state that names the observer. In most programs, that happens soon.
  const timespec a_while{0, 1'000'000};
  for (int at = 0; at != 20 && state_.address == 0; ++at) {
    nanosleep(&a_while, nullptr);
    take_state();
  }
}

// A process that announces its objects follows the observer's answer. An object that is loaded while another object is
// recorded begins as recorded.
void observed_process::record(std::uint64_t control_block, bool wanted) {
  if (has_announced() || (recording_.empty() && !wanted)) return;
  if (wanted) recording_.insert(control_block);
  else recording_.erase(control_block);
  if (!write(control_block + offsetof(adaptyst_object, recorder), std::uint16_t{wanted})) not_permitted(id_, errno);
}

// A late thread may have found no attached tool and disabled the markers again.
void observed_process::keep_enabled() {
  for (const std::uint64_t object : state_.objects) {
    adaptyst_object block;
    if ((is_enabled() || recording_.count(object) != 0) && memory_.read(object, block) && block.recorder == 0)
      write(object + offsetof(adaptyst_object, recorder), std::uint16_t{1});
  }
}

void observed_process::release() noexcept {
  if (!is_claimed()) return;
  try {
    give_back();
  } catch (const std::exception& failed) {
    complain(failed.what());
  }
  recorders_ = recorders::released;  // may follow each state in which they are claimed
}

void observed_process::give_back() {
  if (!is_still_itself()) return;
  if (settings_) {
    detail::store_head head{};
    settings_->end(state_.in->read(state_.address, head) ? head.numbered : 0);
    return;
  }
  find_state();
  if (is_recorded()) disable_recorders();
  std::uint64_t version_and_observer = 0;
  const auto self = std::uint64_t{static_cast<std::uint32_t>(getpid())};
  release_budget(state_);
  if (state_.process != 0 && memory_.read(state_.process, version_and_observer) &&
      version_and_observer == (self << 32 | ADAPTYST_ABI_VERSION))
    write(state_.process + offsetof(detail::control_page, observer), std::uint32_t{0});
}

std::optional<process_state> observed_process::reach() {
  if (!is_still_itself() && !held_) return std::nullopt;
  if (recorders_ == recorders::of_another) return process_state{&memory_, 0, {}};
  if (state_.address == 0 || state_.process == 0) take_state();
  find_settings();
  return state_;
}

void observed_process::note_time() {
  if (!is_still_itself()) return;
  if (std::string now = find_program(id_); !now.empty() && (now != command() || arguments().empty()))
    set_command(std::move(now), read_arguments(id_));
  if (is_recorded() && !has_announced()) keep_enabled();
  target::note_time();
}

void observed_process::poll(bool also_open) {
  if (has_markers()) note_refusal();
  const std::uint64_t now_ns = detail::monotonic_ns();
  target::poll(also_open);
  if (!is_running() || memory_.is_gone()) return;
  if (is_recorded()) unread_.see(now_ns, recorded().accounting.ended);
  else if (!has_budget()) unread_.see(now_ns, instants());
  unread_.read(now_ns);
}

// Events that the kernel does not count, without those that a budget has moved to the recorder.
std::uint64_t observed_process::instants() const {
  const measurements& all = recorded();
  std::uint64_t sum = 0;
  for (const auto& [id, row] : all.rows) {
    const auto path = all.paths.find(id);
    const auto site = path != all.paths.end() ? all.sites.find(path->second.site) : all.sites.end();
    if (site != all.sites.end() && is_instant(site->second.kind)) sum += row.count;
  }
  return sum;
}

// Recorders of another observer, and unreadable ones, do not show which threads exist. The threads of another collector
// announced themselves before the probes were attached.
unannounced_threads observed_process::find_unannounced(const announced_recorders& announced) const {
  const auto any = announced.lower_bound({id_, 0});
  const bool has_announced_any = any != announced.end() && any->first == id_;
  if (recorders_ == recorders::of_another || (!refused_.empty() && !has_announced_any)) return {1, {}, true};
  return target::find_unannounced(announced);
}

void observed_process::account_for_end(account& in) const {
  in.begun += before_epoch_;
  if (before_epoch_ != 0) in.lost[loss_reason::not_read] += before_epoch_;
  if (is_given_up()) return target::account_for_end(in);
  if (!refused_.empty()) {
    add_refused(in, {1, refused_});
    return;
  }
  if (held_ || is_complete_) return;
  const bool had_markers = state_.address != 0 || has_markers();
  if (ended_ns_ == 0 || !is_claimed() || !had_markers) return;
  if (!is_recorded() && unread_.seen() == 0) return;  // the kernel has all events
  const std::uint64_t events = unread_.events(ended_ns_);
  in.lost[loss_reason::not_read] += events;
  in.begun += events;
  if (!in.unread) in.unread.emplace();
  ++in.unread->programs;
  in.unread->up_to_ns = std::max(in.unread->up_to_ns, unread_.length_ns(ended_ns_));
}

}  // namespace adaptyst::lib
