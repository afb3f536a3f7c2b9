// The life of a session, for collectors and observers alike: start, targets, reads, and the end. docs/design.md, "A
// session", explains the order of the steps.
#include "session.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <exception>
#include <future>
#include <system_error>
#include <utility>

#include "../discover/elf_probes.hpp"
#include "../discover/machine.hpp"
#include "../discover/process_objects.hpp"
#include "../discover/running_processes.hpp"
#include "../model/bounded_totals.hpp"
#include "../model/region_list.hpp"
#include "../report/forms.hpp"
#include "../support/cpu_time.hpp"
#include "../support/error.hpp"
#include "../support/levels.hpp"
#include "../support/output_form.hpp"
#include "../support/regular_file.hpp"
#include "../support/threads.hpp"
#include "../trace/timeline_file.hpp"
#include "budget_keeper.hpp"
#include "outputs.hpp"
#include "recorder_samples.hpp"

namespace adaptyst::lib {

namespace {

// Short enough that a ring of 65,536 events does not fill between two reads at ten million events a second.
constexpr std::chrono::milliseconds poll_interval{5};
// If a ring overflows, the regions of all waiting samples are unknown. On a busy machine, reads are 30 ms late.
constexpr std::uint64_t entries_of_samples = std::uint64_t{1} << 18;
constexpr std::uint64_t poll_interval_ns = 1'000'000'000;
constexpr std::uint64_t mapping_interval_ns = 100'000'000;  // a program may end before its first read

[[noreturn]] void throw_no_probes(const process_object& object) {
  throw error(object.no_probes_because, object.file, 0, "engine=inline measures the same without probes");
}

// An observer must serve signals and answer programs, for any number of processes and however slow their memory is.
constexpr std::uint64_t max_round_ns = 100'000'000;
constexpr std::uint64_t max_process_poll_ns = 300'000'000;    // for one process
constexpr std::uint64_t max_whole_round_ns = 10'000'000'000;  // for the last read, and the last events of a timeline
constexpr unsigned max_last_drains = 100;

// Samples without the kernel's programs: `why`. Null, with both reasons, if that is not possible either.
std::unique_ptr<thread_context> request_samples(const options& options, subject subject, const error& why) {
  try {
    std::unique_ptr<thread_context> made =
        make_recorder_samples(options, subject.is_listed ? std::nullopt : std::optional(subject.process));
    complain(options.samples == sample_choice::timer
                 ? "samples=timer: stacks are of user space, and include time in the kernel; without times off a core"
                 : "stack samples are of user space on a core only, without times off a core: " + why.summary());
    return made;
  } catch (const std::exception& failed) {
    complain(why.what());
    complain(failed.what());
    return nullptr;
  }
}

// The regions of copied stacks are from recorders, which do not have functions.
options settle_stacks(options chosen) {
  if (chosen.stacks != stack_choice::dwarf || !chosen.wants_samples() || chosen.functions.empty()) return chosen;
  complain(error("stacks=dwarf is not possible with functions=: stacks follow frame pointers", "stacks", 0,
                 "remove functions=, or use stacks=frame-pointers")
               .what());
  chosen.stacks = stack_choice::frame_pointers;
  return chosen;
}

// Without samples=timer if the programs cannot sample themselves.
options settle_samples(options chosen, bool is_own) {
  chosen = settle_stacks(std::move(chosen));
  if (chosen.samples != sample_choice::timer || (!is_own && chosen.engine != engine_choice::ebpf)) return chosen;
  complain(error(is_own ? "samples=timer is not possible for a collector in the program: the kernel must sample"
                        : "samples=timer is not possible with engine=ebpf, which samples by itself",
                 "samples", 0, is_own ? "start the program by `adaptyst run --samples timer`" : "use engine=inline")
               .what());
  chosen.samples = sample_choice::automatic;
  chosen.context.samples = true;
  return chosen;
}

// Null if the options and the source do not need the context, or if it is not available.
std::unique_ptr<thread_context> request_context(const options& options, subject subject, const source& source) {
  const bool samples = options.wants_samples();
  if (!samples && (!options.context.cpu || (!options.context.requested && !source.is_in_kernel()))) return nullptr;
  const bool has_recorder_samples = !source.is_in_kernel();
  if (options.samples == sample_choice::timer) return request_samples(options, subject, error("samples=timer", 0, ""));
  try {
    return make_thread_context(options, subject, source.among_functions());
  } catch (const std::exception& failed) {  // regions are observed without it
    if (samples && has_recorder_samples) return request_samples(options, subject, to_error(failed));
    if (options.context.requested || samples) complain(failed.what());
    return nullptr;
  }
}

}  // namespace

session::session(options options, clock_pair before, std::unique_ptr<own_process> own)
    : options_(settle_samples(std::move(options), true)),
      open_file_(open_timeline_file),
      names_(options_.outputs),
      whose_{getpid(), false} {
  own_ = own.get();
  targets_.push_back(own_);
  processes_.push_back(std::move(own));
  watch_own_memory();
  try {
    names_.require_writable();
  } catch (const error& failed) {  // reported now, when the user can still correct it
    complain(failed.what());
  }
  start(before);
}

session::session(options options, clock_pair before, pid_t only, timeline_opener opener)
    : options_(settle_samples(std::move(options), false)),
      open_file_(opener),
      names_(options_.outputs),
      whose_{only, true} {
  names_.require_writable();
  start(before);
}

// The heap adapter, preloaded or linked, counts from now on. Its function is found by name: a program with a collector
// may be without the adapter.
void session::watch_own_memory() {
  if (options_.memory == memory_choice::none) return;
  own_->watch_memory();
  if (options_.memory == memory_choice::rss) return;
  void* const found = dlsym(RTLD_DEFAULT, "adaptyst_heap_use");
  if (found == nullptr) {
    complain(error("memory=heap: no heap adapter in this program", "", 0,
                   "link adaptyst::heap, or start the program by `adaptyst run`; resident memory is reported")
                 .what());
    return;
  }
  const int failed = reinterpret_cast<int (*)(int)>(found)(options_.memory == memory_choice::exact_heap ? 1 : 0);
  if (failed == EBUSY)
    complain(
        error("memory=heap: this program counts its heap in the other mode already", "", 0,
              "use heap or exact-heap in all observations of a process; this profile has the figures of the first mode")
            .what());
  else if (failed != 0 && failed != ENOTSUP)  // of which the adapter has informed the user
    complain(error("memory=heap: the table of blocks cannot be made, and frees are unknown", "", failed,
                   "allow the process 256 MiB more addresses: ulimit -v")
                 .what());
}

// For work that takes large blocks of memory or makes threads. An observer has a process of its own and calls the work
// directly.
void session::run_separately(const std::function<void()>& work) const {
  if (own_ != nullptr) run_on_thread(work, room());
  else work();
}

heap_room session::room() const noexcept {
  const bool has_much = own_ == nullptr || timeline_ || options_.wants_samples() || !options_.functions.empty() ||
                        options_.memory != memory_choice::none;
  return has_much || !own_->has_few_results() ? heap_room{} : small_heap_room;
}

// Starts with the source in the options; with engine=auto, with the recorders if the kernel cannot count.
void session::start(clock_pair before) {
  reason_ = "requested";
  const bool has_timers = options_.samples == sample_choice::timer;
  if (has_timers && options_.engine != engine_choice::inlined) reason_ = "samples=timer";
  if (options_.engine != engine_choice::inlined && !has_timers) {
    try {
      std::unique_ptr<source> kernel;
      run_separately([&] { kernel = make_kernel_source(options_, whose_); });
      start_with(std::move(kernel), before);
      if (options_.engine != engine_choice::ebpf) reason_ = "permitted";
      return;
    } catch (const std::exception& failed) {
      if (options_.engine == engine_choice::ebpf) throw;
      reason_ = to_error(failed).summary();
    }
    run_separately([this] { stop_observing(); });
  }
  start_with(make_recorder_source(whose_), before);
}

void session::open_timeline() {
  const std::string file = names_.of(output_form::trace);
  if (timeline_ || file.empty()) return;
  const auto spelled = [this](const std::string& name) { return constructs_.spelled(name); };
  try {
    timeline_.emplace(open_file_(file, detail::monotonic_ns(), spelled), options_.timeline_limit);
  } catch (const error& failed) {  // a program's own collector still produces the other results
    if (own_ == nullptr) throw;
    complain(failed.what());
  }
}

void session::start_with(std::unique_ptr<source> chosen, clock_pair before) {
  source_ = std::move(chosen);
  if (own_ == nullptr || !own_process::uses_counter()) {
    terms_.clock = calibrate(before);
    own_process::use_counter(terms_.clock);
  }
  costs_ = measure_event_costs(source_->is_in_kernel());  // the same in other processes: same clock
  open_timeline();
  terms_.by_probes = source_->is_in_kernel();
  terms_.levels = make_level_settings(options_.level, options_.levels, options_.without);
  const auto attach = [this] {
    context_ = request_context(options_, whose_, *source_);  // before an epoch in which threads announce themselves
    if (context_ && context_->scopes() != nullptr) {
      if (!timeline_) timeline_.emplace(nullptr, 0);
      timeline_->follow(context_->scopes());
    }
    terms_.trace_entries = timeline_ ? options_.trace_events : 0;
    if (context_ && context_->scopes() != nullptr)
      terms_.trace_entries = std::max(terms_.trace_entries, entries_of_samples);
    if (own_ != nullptr) {
      if (context_)
        for (const process_object& object : own_->objects()) context_->attach(object.file);
      own_->claim(terms_);
    }
    source_->start();
    if (own_ == nullptr) return;
    listen_to_own();
    if (context_) try_step([this] { context_->follow(own_->id(), thread_context::arrival::attached); });
  };
  run_separately(attach);
  costs_.engine_ns += source_->hit_ns();
  recorded_ns_ = costs_.recorder_ns;
  if (own_ != nullptr) start_own();
  phase_ = phase::running;
}

void session::listen_to_own() {
  count_refused(own_->id(), foreign_objects());
  source_->add_process(*own_, 0);
  const std::vector<process_object> objects = own_->objects();
  // In this case the kernel's rows would be empty, so they are not used.
  if (source_->is_in_kernel() && !objects.empty() &&
      std::all_of(objects.begin(), objects.end(), [](const auto& object) { return !object.no_probes_because.empty(); }))
    throw_no_probes(objects.front());
  for (const process_object& object : objects) {
    try_step([&] { listen_to(*own_, object); });
    constructs_.expect(own_->id(), object.file);
  }
  if (!options_.functions.empty())
    try_step([this] {
      for (const error& error : probe_functions(own_->id(), nullptr))
        complain(std::string("not probed: ") + error.what());
    });
}

void session::start_own() {
  if (timeline_)
    draining_ = std::make_unique<periodic>(
        poll_interval,
        [this] {
          const std::lock_guard lock(draining_mutex_);
          if (context_) try_step([this] { context_->drain(); });
          drain(*own_);
        },
        [] { return heap_room{}; });
  own_->start_now();
  if (!keeps_budget()) return;
  try {
    keeping_ = std::make_unique<periodic>(
        std::chrono::milliseconds(budget_poll_ms), [this] { try_step([this] { keep_budget(); }); },
        [this] { return room(); });
    give_budget(*own_);
  } catch (const std::exception& failed) {
    complain(std::string("the overhead budget is not kept: ") + failed.what());
  }
}

std::vector<unsigned> session::capabilities() const {
  std::vector<unsigned> needed = source_->capabilities();
  if (context_) needed.insert(needed.end(), {CAP_BPF, CAP_PERFMON});
  return needed;
}

// No budget if regions are nested in functions: the program does not know the functions.
bool session::keeps_budget() const { return options_.overhead != 0 && options_.functions.empty(); }

void session::give_budget(target& target) {
  const std::lock_guard lock(budget_mutex_);
  if (keeps_budget()) target.keep_within({options_.overhead, costs_, source_->is_in_kernel()});
}

void session::add(std::unique_ptr<target> target) {
  give_budget(*target);
  if (options_.memory != memory_choice::none) target->watch_memory();
  lib::target* const observed = target.get();
  processes_.push_back(std::move(target));
  try {
    targets_.push_back(observed);
  } catch (...) {
    processes_.pop_back();
    throw;
  }
}

void session::expect(target& target) {
  if (!context_) return;
  // Libraries that the program loads announce themselves.
  const bool is_sampled = context_->takes_samples() || context_->samples_unmarked();
  if (!is_sampled && has_markers(program_called(target.command()))) return;
  if (sample_unmarked(target, true)) target.start_now();  // it has not waited for this observer
}

bool session::sample_unmarked(target& target, bool is_starting) {
  if (!context_) return false;
  if (!context_->takes_samples() && !context_->samples_unmarked()) context_->sample_unmarked(options_);
  if (!context_->takes_samples() && !context_->samples_unmarked()) return false;
  using arrival = thread_context::arrival;
  try_step([&] { context_->follow(target.id(), is_starting ? arrival::starting : arrival::attached); });
  context_->add_process(target.id());
  if (is_starting) context_->set_command(target.id(), target.command());  // until exec() it is a copy of this process
  else note_mappings(target);
  follows_children_ = context_->threads() >= 0;  // it has a list of processes
  return true;
}

void session::note_unmarked_mappings() {
  constexpr std::size_t max_children = 64;
  if (!context_ || !follows_children_) return;
  if (has_seen_markers_) return context_->end_unmarked();
  std::vector<pid_t> all;
  for (const auto& target : targets_)
    if (target->is_running()) all.push_back(target->id());
  const std::uint64_t end_ns = detail::monotonic_ns() + max_round_ns;
  for (std::size_t at = 0; at != all.size() && detail::monotonic_ns() < end_ns; ++at) {
    context_->note_mappings(all[at]);
    for (const pid_t child : find_children(all[at])) {
      if (unmarked_.size() >= max_children && unmarked_.count(child) == 0) continue;
      if (unmarked_.insert(child).second) context_->add_process(child);
      all.push_back(child);
    }
  }
}

// Called before the threads of the target are in a new epoch.
void session::prepare(const target& target, const std::vector<process_object>& objects) {
  if (!context_) return;
  context_->add_process(target.id());
  note_mappings(target);
  for (const process_object& object : objects) context_->attach(object.file);
}

void session::begin(target& target, const std::vector<process_object>& objects) {
  prepare(target, objects);
  if (context_) try_step([&] { context_->follow(target.id(), thread_context::arrival::attached); });
  target.claim(terms_);
  source_->add_process(target, objects.empty() ? 0 : objects.front().control_block);
  for (const process_object& object : objects) {
    listen_to(target, object);
    constructs_.expect(target.id(), object.file);
  }
}

bool session::announce(target& target, const std::vector<process_object>& objects, std::uint64_t control_block,
                       bool all) {
  // Regions of an adapter are not the program's: its functions are still sampled.
  for (const process_object& object : objects) {
    const bool is_adapter = object.file.substr(object.file.rfind('/') + 1).rfind("libadaptyst-", 0) == 0;
    (is_adapter ? has_seen_adapters_ : has_seen_markers_) = true;
  }
  prepare(target, objects);
  if (context_) try_step([&] { context_->follow(target.id(), thread_context::arrival::announced); });
  source_->add_process(target, control_block);
  bool by_probes = source_->is_in_kernel();
  bool is_found = false;
  for (const process_object& object : objects) {
    is_found = is_found || object.control_block == control_block;
    if (all || object.control_block == control_block) by_probes = listen_to(target, object) && by_probes;
    constructs_.expect(target.id(), object.file);
  }
  if (!is_found) has_seen_markers_ = true;
  if (is_found || !by_probes) return by_probes;
  const std::string name = fmt::format("process {}", target.id());
  return listen_to(target, {name, control_block, nullptr,
                            fmt::format("cannot attach to the probes of {}: its data are in no mapped file", name)});
}

// Attaches to the probes of an ELF object. If that is not possible, engine=auto makes the program record its markers.
// Returns whether the kernel counts. Throws error.
bool session::listen_to(target& target, const process_object& object) {
  if (!source_->is_in_kernel()) return false;
  try {
    if (!object.no_probes_because.empty()) throw_no_probes(object);
    source_->attach_file(object.file);
    target.record(object.control_block, false);
    return true;
  } catch (const error& failed) {
    if (options_.engine == engine_choice::ebpf) throw;
    target.record(object.control_block, true);
    records_some_ = true;
    if (without_probes_.insert(failed.summary()).second)
      complain(failed.summary() + "\nits own recorder is read, which costs less and measures the same");
    return false;
  }
}

void session::count_refused(const std::string& why) {
  ++refused_.programs;
  if (refused_.why.empty()) refused_.why = why;
}

void session::count_refused(pid_t process, const std::vector<foreign_object>& objects) {
  for (const foreign_object& object : objects) {
    if (!foreign_.insert({process, object.file}).second) continue;
    count_refused(display_name(object));
    complain(error(fmt::format("markers of process {} stay idle: {}", process, display_name(object)), object.file, 0,
                   "build it with the headers of this version")
                 .what());
  }
}

void session::forget() {
  const pid_t process = targets_.back()->id();
  source_->remove_processes({process});
  if (context_) context_->remove_process(process);
  targets_.pop_back();
  processes_.pop_back();
}

std::vector<error> session::probe_functions(pid_t process, const std::vector<std::string>* command) {
  if (options_.level != 0 && options_.level < ADAPTYST_LEVEL_LIBRARY) return {};  // they are of libraries
  probed_functions made = source_->probe(options_.functions, process, command, context_ ? context_->threads() : -1);
  probes_functions_ = true;
  not_probed_.merge(made.unprobed);
  return std::move(made.refused);
}

// ELF objects that the target has loaded since the last call.
std::vector<process_object> session::discover(target& target) const {
  if (!target.is_running() || (!source_->is_in_kernel() && !context_)) return {};
  return target.changed_objects();
}

void session::adopt(target& target, const process_object& object) {
  if (context_) context_->attach(object.file);
  try_step([&] { listen_to(target, object); });
}

void session::adopt_own_objects() {
  for (const process_object& object : own_->objects()) {
    adopt(*own_, object);
    constructs_.expect(own_->id(), object.file);
  }
}

void session::note_mappings(const target& target) {
  if (!context_) return;
  context_->note_mappings(target.id());
  context_->set_command(target.id(), target.command());
}

template <class Work>
void session::guard(target& target, Work&& work) noexcept {
  if (target.is_given_up()) return;
  try {
    work(target);
  } catch (const std::exception& failed) {
    target.give_up(failed.what());
  }
}

// Works on the targets in turn until the time is over; the next call continues after the last target.
template <class Work>
void session::in_turn(std::size_t& next, std::uint64_t end_ns, Work&& work) noexcept {
  for (std::size_t left = targets_.size(); left != 0; --left) {
    if (next >= targets_.size()) next = 0;
    guard(*targets_[next++], work);
    if (own_ == nullptr) keep_windows();
    if (detail::monotonic_ns() >= end_ns) return;
  }
}

void session::poll_target(target& target) {
  guard(target, [this](lib::target& guarded) {
    if (!guarded.begin_poll()) return;
    guarded.limit_poll(max_process_poll_ns);
    guarded.poll(context_ != nullptr);
    note_mappings(guarded);
    constructs_.note_mappings(guarded.id());
    guarded.end_poll();
    drain(guarded);
  });
}

bool session::is_present(pid_t process) const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [&](const auto& target) { return target->id() == process && target->is_running(); });
}

std::size_t session::running() const {
  return static_cast<std::size_t>(
      std::count_if(targets_.begin(), targets_.end(), [](const auto& target) { return target->is_running(); }));
}

// Makes a profile, in the order of its steps.
profile session::read_all(purpose why, std::uint64_t longest_ns) {
  // A thread of this process gives the scopes to the context that is read here.
  std::unique_lock<std::mutex> lock;
  if (own_ != nullptr && context_ && context_->scopes() != nullptr) {
    lock = std::unique_lock(draining_mutex_);
    drain(*own_);
  }
  const bool is_whole = why == purpose::snapshot || why == purpose::report;
  std::optional<context_sums> sums;
  if (context_ && is_whole) {
    if (own_ != nullptr) note_mappings(*own_);
    sums = context_->read();
  }
  const std::uint64_t end_ns = detail::monotonic_ns() + longest_ns;
  std::optional<reading> all;
  for (unsigned attempt = 0; !all; ++attempt) {
    in_time(why, end_ns, [&](target& target) {
      // Reading comes first: discovery may wait for a file that is never delivered, and then the process is not read
      // again.
      read(target, why);
      for (const process_object& object : discover(target)) adopt(target, object);
    });
    settle_ended();
    if (why == purpose::poll) return {};
    recorded_.update(processes_);
    all = source_->read(recorded_.result(), attempt);
  }
  thread_context* const context = is_whole ? context_.get() : nullptr;
  assembly_parts parts{*all->rows, {}, processes_, costs_, !probes_functions_, context, std::move(sums)};
  if (all->changes_are_known) parts.changed = recorded_.take_changed();
  profile made = assembly_.make(std::move(parts), [&](const region& row) {
    return is_whole || std::exchange(reported_[row.id], row.count) != row.count;
  });
  complete(made, why);
  return made;
}

// For a whole profile, the processes that took the least time so far come first, and each has a fair share of the
// remaining time. A hostile process takes no time from the others. A process that was not read completely gets a second
// share.
template <class Step>
void session::in_time(purpose why, std::uint64_t end_ns, Step&& step) {
  if (why == purpose::poll || why == purpose::changes)
    return in_turn(next_polled_, end_ns, [&](target& target) {
      target.limit_poll(max_process_poll_ns);
      step(target);
    });
  std::vector<target*> all = targets_, late;
  std::stable_sort(all.begin(), all.end(),
                   [](const target* a, const target* b) { return a->read_for_ns() < b->read_for_ns(); });
  in_shares(all, end_ns, [&](target& target, std::uint64_t share_ns) {
    if (share_ns == 0) return target.is_running() ? target.leave_unread() : void();
    target.limit_poll(share_ns);
    step(target);
    if (target.was_late()) late.push_back(&target);
  });
  in_shares(late, end_ns, [&](target& target, std::uint64_t share_ns) {
    if (share_ns == 0 || !target.is_running()) return;
    target.limit_poll(share_ns);
    step(target);
  });
}

void session::read(target& target, purpose why) {
  const bool has_ended = !target.is_running();
  if (has_ended) drain(target);
  else constructs_.note_mappings(target.id());
  if (why != purpose::poll || has_ended || !target.outlives()) target.poll(context_ != nullptr);
  else target.note_time();
  if (has_ended && timeline_ && target.has_events_left() && target.count_last_drain() < max_last_drains) return;
  if (has_ended) return target.read_out();
  // Objects may be unloaded, and the markers of the first object may never have been enabled.
  if (probes_functions_ && target.state() != 0) source_->add_process(target, 0);
}

template <class Work>
void session::in_shares(const std::vector<target*>& all, std::uint64_t end_ns, Work&& work) noexcept {
  for (std::size_t at = 0; at != all.size(); ++at) {
    const std::uint64_t now_ns = detail::monotonic_ns();
    const std::uint64_t share_ns = (end_ns - std::min(end_ns, now_ns)) / (all.size() - at);
    guard(*all[at], [&](target& target) { work(target, share_ns); });
    if (own_ == nullptr) keep_windows();
  }
}

void session::settle_ended() {
  if (!source_->is_in_kernel() && !context_) return;
  std::vector<pid_t> ended;
  for (const auto& target : targets_) {
    if (target->is_running() || target->is_settled() || is_present(target->id())) continue;
    if (context_) try_step([&] { context_->remove_process(target->id()); });
    ended.push_back(target->id());
    target->settle();
  }
  if (!ended.empty()) source_->remove_processes(ended);
}

void session::poll() {
  const std::uint64_t now_ns = detail::monotonic_ns();
  const std::uint64_t end_ns = now_ns + max_round_ns;
  if (context_) try_step([this] { context_->drain(); });
  if (timeline_) in_turn(next_drained_, end_ns, [this](target& target) { drain(target); });
  // Rings fill in milliseconds, and are read as often; all else is read as often as without a timeline.
  const bool samples = context_ && context_->takes_samples();
  if (samples && now_ns - mapped_ns_ >= mapping_interval_ns) {
    mapped_ns_ = now_ns;
    in_turn(next_mapped_, end_ns, [this](target& target) {
      if (target.is_running()) note_mappings(target);
    });
  }
  if ((timeline_ || samples) && now_ns - polled_ns_ < poll_interval_ns) return;
  polled_ns_ = now_ns;
  read_all(purpose::poll, end_ns - std::min(end_ns, detail::monotonic_ns()));
}

void session::follow_memory() {
  constexpr std::uint64_t max_follow_ns = 5'000'000;  // for any number of processes: 5 % of a core
  in_turn(next_followed_, detail::monotonic_ns() + max_follow_ns, [](target& target) { target.follow_memory(); });
}

std::uint64_t session::keep_windows(std::uint64_t longest_wait_ns) noexcept {
  if (!context_ || has_failed_windows_) return 0;
  try {
    return context_->keep_windows(longest_wait_ns);
  } catch (const std::exception& failed) {
    has_failed_windows_ = true;
    complain(std::string("page faults are no longer recorded: ") + failed.what());
  }
  return 0;
}

std::uint64_t session::keep_windows() noexcept { return keep_windows(0); }

void session::keep_budget() {
  const std::lock_guard lock(budget_mutex_);
  if (own_ != nullptr) keep_windows(std::uint64_t{budget_poll_ms} * 1'000'000);
  bool has_read = false;
  const double traced_ns = timeline_ ? recorded_ns_ + written_ns_.load(std::memory_order_relaxed) : 0;
  in_turn(next_kept_, detail::monotonic_ns() + max_round_ns,
          [&](target& target) { has_read = target.keep_budget(context_share_, traced_ns) || has_read; });
  const std::optional<std::uint64_t> known_ns = context_ && has_read ? context_->cost_ns() : std::nullopt;
  if (!known_ns) return;
  // Only from increases since the last call: short processes and processes without markers add to the cost, but their
  // CPU time is not read.
  constexpr double min_cpu_ns = 10e6;
  double cpu_ns = 0;
  for (const auto& target : targets_) cpu_ns += static_cast<double>(target->budgeted_cpu_ns());
  if (cpu_ns - shared_cpu_ns_ < min_cpu_ns) return;
  context_->keep_within(options_.overhead, static_cast<std::uint64_t>(cpu_ns));
  const auto cost_ns = static_cast<double>(*known_ns);
  context_share_ = std::clamp((cost_ns - shared_cost_ns_) / (cpu_ns - shared_cpu_ns_), 0.0, 1.0);
  shared_cpu_ns_ = cpu_ns;
  shared_cost_ns_ = cost_ns;
}

double session::seconds_between_polls(double seconds) const {
  constexpr double seconds_of_events = 0.005;
  const bool has_events =
      timeline_ && (timeline_->has_file() || std::any_of(targets_.begin(), targets_.end(), [](const target* target) {
                      return target->has_markers() && !target->is_settled();
                    }));
  if (has_events) return std::min(seconds, seconds_of_events);
  return context_ && context_->takes_samples() ? std::min(seconds, context_->seconds_to_drain()) : seconds;
}

profile session::snapshot() {
  if (phase_ != phase::running) return result_;
  return read_all(purpose::snapshot, max_whole_round_ns);
}

void session::write_metrics() {
  const std::string file = names_.of(output_form::prometheus);
  if (file.empty() || has_failed_metrics_ || phase_ != phase::running) return;
  try {
    write_profile_as(output_form::prometheus, file, snapshot(), options_.rows, &listed_);
  } catch (const std::exception& failed) {
    has_failed_metrics_ = true;
    complain(failed.what());
  }
}

profile session::changes() {
  if (phase_ != phase::running) return result_;
  polled_ns_ = detail::monotonic_ns();
  return read_all(purpose::changes, max_round_ns);
}

std::vector<std::int64_t> session::find_processes(std::uint64_t region) const {
  std::vector<std::int64_t> running, ended;
  for (const auto& target : targets_)
    if (const auto row = target->recorded().rows.find(region);
        row != target->recorded().rows.end() && row->second.count != 0)
      (target->is_running() ? running : ended).push_back(target->id());
  return running.empty() ? ended : running;
}

// Adds all but rows and processes. Values from files come later: stacks, the size of a timeline.
void session::complete(profile& made, purpose why) {
  add_refused(made.accounting, refused_);
  made.engine = source_->name();
  made.mechanism = source_->mechanism();
  if (records_some_) made.mechanism += "; own recorder where there are no probes";
  made.reason = reason_;
  made.options = changed_values(options_);
  made.not_probed = not_probed_;
  made.adapters = adapters_;
  made.skipped_adapters = skipped_adapters_;
  if (costs_.floor_ns != 0) made.timer_floor_ns = costs_.floor_ns;
  if (keeps_budget()) complete_budget(made);
  if (constructs_.are_expected()) constructs_.spell(made);
  if (why != purpose::changes) {
    set_rank_spreads(made, processes_, source_->find_rank_times());
    if (constructs_.are_expected()) join_same_rows(made.regions);
  }
  const bool has_adapters_only = has_seen_adapters_ && !has_seen_markers_;
  if (why != purpose::snapshot && context_ && (!made.has_markers() || has_adapters_only))
    try_step([&] { made.functions = context_->functions(); });
  if (why != purpose::report) return;
  try_step([&] { made.machines.push_back(describe_machine(expand("%h"))); });
}

void session::complete_budget(profile& made) {
  if (costs_.sampled_floor_ns != 0) {
    made.sampled_floor_ns = costs_.sampled_floor_ns;
    made.sampled_floor_error_ns = costs_.sampled_floor_error_ns;
    add_floor_error(made, costs_.sampled_floor_error_ns);
    bound_estimated_totals(made);
  }
  if (made.accounting.overhead_ns) {
    double cpu_ns = 0;
    for (const target* const target : targets_) cpu_ns += static_cast<double>(target->used_cpu_ns());
    double cost_ns = *made.accounting.overhead_ns;
    if (made.context) cost_ns += made.context->cost_ns.value_or(0);
    if (made.samples) cost_ns += made.samples->cost_ns.value_or(0);
    made.budget = {cpu_ns, options_.overhead * cpu_ns, cost_ns};
  }
  const std::lock_guard lock(budget_mutex_);
  for (region& row : made.regions)
    for (const target* const target : targets_)
      for (const auto& [step, time_ns] : target->find_steps(row.id)) row.measured_on[step] += time_ns;
}

// Complains once about a file that cannot be written.
void session::drain(target& target) noexcept {
  if (!timeline_) return;
  const std::uint64_t began_ns = thread_cpu_ns();
  std::uint64_t events = 0;
  guard(target, [&](lib::target& guarded) {
    try {
      events = guarded.trace_to(*timeline_);
      timeline_->flush();
    } catch (const error& failed) {  // an error of the file
      complain(failed.what());
    }
  });
  // Writing uses the program's CPU time only if the collector is part of the program. The budget skips events by their
  // cost: calls with few events have a cost that skipping does not lower. A cost that is not measured again decays.
  if (own_ == nullptr) return;
  constexpr std::uint64_t min_events = 256;
  constexpr double decay = 0.98, newest = 0.125;
  double of_event_ns = written_ns_.load(std::memory_order_relaxed);
  if (events < min_events) {
    of_event_ns *= decay;
  } else {
    const double measured_ns = static_cast<double>(thread_cpu_ns() - began_ns) / static_cast<double>(events);
    of_event_ns += newest * (measured_ns - of_event_ns);
  }
  written_ns_.store(of_event_ns, std::memory_order_relaxed);
}

// Called after the last event.
void session::finish_timeline() {
  if (!timeline_) return;
  draining_.reset();
  in_shares(targets_, detail::monotonic_ns() + max_whole_round_ns, [this](target& target, std::uint64_t share_ns) {
    timeline_->limit_poll(share_ns);
    drain(target);
  });
  if (!timeline_->has_file()) return;
  try_step([this] {
    timeline_->finish();
    names_.note_written(output_form::trace);
  });
  result_.timeline = timeline_->usage();
}

void session::stop_observing() {
  // The context owns the object that receives the scopes.
  std::unique_ptr<thread_context> ending;
  {
    const std::lock_guard lock(draining_mutex_);
    if (context_ && context_->scopes() != nullptr) timeline_->follow(nullptr);
    std::swap(ending, context_);
  }
  {
    // At the same time, since each waits for the kernel.
    std::future<void> other;
    try {
      if (ending) other = std::async(std::launch::async, [&ending] { ending.reset(); });
    } catch (const std::system_error&) {  // no further thread: one after the other
    }
    if (source_) source_->stop();
  }
  ending.reset();
  for (const auto& target : targets_) target->release();
}

void session::stop() {
  if (phase_ != phase::running) return;
  keeping_.reset();
  try {
    result_ = read_all(purpose::report, max_whole_round_ns);
    const std::lock_guard lock(draining_mutex_);
    if (context_) context_->finish_stacks(names_, constructs_, result_);
  } catch (...) {
    phase_ = phase::ended;
    stop_observing();
    throw;
  }
  phase_ = phase::ended;
  stop_observing();
  finish_timeline();
  put_out(result_, options_, names_, &listed_);
}

}  // namespace adaptyst::lib
