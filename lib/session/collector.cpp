// The one place that knows every step of the way: options, engine, profile, report.
#include <adaptyst/region.hpp>

#include <adaptyst/collector.hpp>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>

#include "../profile/region_list.hpp"
#include "../recorder/clock_line.hpp"
#include "../recorder/device_reader.hpp"
#include "../recorder/open_regions.hpp"
#include "../support/error.hpp"
#include "../support/options.hpp"
#include "../support/output_file.hpp"
#include "../support/periodic.hpp"
#include "budget_keeper.hpp"
#include "engine.hpp"
#include "own_context.hpp"
#include "timeline.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::engine;
using lib::engine_choice;

std::uint64_t cpu_time_ns() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(used.tv_nsec);
}

std::string command_name() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

// Often enough that a ring of 65,536 does not fill between two looks at ten million events a second.
constexpr std::chrono::milliseconds between_looks{5};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The collector that runs. The loader's threads come here through the hook of the process.
std::mutex running_mutex;
engine* running = nullptr;
lib::own_context* running_context = nullptr;
pid_t running_in = 0;  // a forked child inherits the pointer, but not the collection

void object_loaded() {
  const std::lock_guard lock(running_mutex);
  if (running == nullptr || running_in != getpid()) return;
  try {
    if (running_context != nullptr) running_context->adopt_objects();
    running->adopt_objects();
  } catch (const std::exception& failed) {
    lib::print(failed.what());
  }
}

}  // namespace

struct collector::state {
  std::mutex mutex;
  lib::options options;
  std::string error;
  std::string reason;
  pid_t pid = getpid();
  detail::process* process = nullptr;
  std::unique_ptr<engine> recording;          // null: nothing is collected (any more)
  std::unique_ptr<lib::own_context> context;  // null: the kernel is not asked
  unsigned cpus = 1;
  std::uint64_t started_ns = 0;
  std::uint64_t started_cpu_ns = 0;
  profile result;
  std::unique_ptr<lib::timeline> timeline;  // null: none was asked for
  std::unique_ptr<lib::periodic> draining;
  lib::event_costs costs;
  std::unique_ptr<lib::budget_keeper> budget;  // null: whatever it costs
  mutable std::mutex budget_mutex;
  std::unique_ptr<lib::periodic> keeping;

  void start(std::string_view given) {
    result.engine = "off";
    lib::apply(options, given, "the collector's argument");
    // Not in a setuid program: it may name a file to be written. One with capabilities of its own writes as its user.
    const bool as_its_user = getuid() == geteuid() && getgid() == getegid();
    if (const char* environment = as_its_user ? std::getenv("ADAPTYST") : nullptr)
      lib::apply(options, environment, "$ADAPTYST");
    if (options.engine == engine_choice::off) return;

    const std::lock_guard lock(running_mutex);
    if (running != nullptr && running_in == getpid())
      throw lib::error("cannot start a second collector in this process", 0,
                       "stop the first one, or use its snapshot()");
    const lib::clock_pair before = lib::read_clock_pair();
    process = detail::process_of(adaptyst_object_v1);
    if (process == nullptr)
      throw lib::error("cannot map memory for the recorder", ENOMEM, "raise the limit on address space (ulimit -v)");
    detail::notice_fork(*process, adaptyst_object_v1);
    refuse_beside_observer();
    // Before the engine looks for ELF objects: one that is loaded meanwhile waits for the lock, and is adopted then.
    detail::store_release(process->control.object_loaded, &object_loaded);
    try {
      start_engine(before);
    } catch (...) {
      detail::store_release(process->control.object_loaded, static_cast<void (*)()>(nullptr));
      throw;
    }
    running = recording.get();
    running_context = context.get();
    running_in = pid;
  }

  void refuse_beside_observer() const {
    const std::uint32_t observer = detail::load(process->control.observer);
    if (observer == 0) return;
    if (kill(static_cast<pid_t>(observer), 0) == 0 || errno == EPERM)
      throw lib::error(fmt::format("cannot collect: process {} observes this one from outside", observer), 0,
                       "see its report; one of the two at a time");
    // It is dead, and has left the recorders awake.
    detail::for_each_object([](adaptyst_object& object, const detail::loaded_object&) {
      detail::store(object.recorder, 0);
      return true;
    });
    detail::store(process->control.observer, 0);
  }

  // The engine that was asked for; with auto, the program's own recorder where the kernel's way is barred.
  void start_engine(lib::clock_pair before) {
    if (options.engine != engine_choice::inlined) {
      try {
        start_engine(lib::make_ebpf_engine(*process, options), before);
        reason = options.engine == engine_choice::ebpf ? "asked for" : "permitted";
        return;
      } catch (const std::exception& failed) {
        recording.reset();
        context.reset();
        if (options.engine == engine_choice::ebpf) throw;
        reason = first_line(failed.what());
      }
    } else {
      reason = "asked for";
    }
    if (!options.functions.empty()) lib::print("no functions are probed: they need engine=ebpf");
    start_engine(lib::make_inline_engine(*process), before);
  }

  void start_engine(std::unique_ptr<engine> chosen, lib::clock_pair before) {
    recording = std::move(chosen);
    detail::control_page& control = process->control;
    if (detail::load(control.clock.ns_per_tick) == 0) {
      const detail::clock_line line = lib::calibrate(before);
      detail::store(control.clock.base_ticks, line.base_ticks);
      detail::store(control.clock.base_ns, line.base_ns);
      detail::store_release(control.clock.ns_per_tick, line.ns_per_tick);
    }
    recording->calibrate();
    detail::fetch_add(adaptyst_object_v1.event, 1);  // awake, and nothing else
    costs = lib::measure_event_costs(0);
    detail::fetch_add(adaptyst_object_v1.event, -1);
    detail::for_each_object([](adaptyst_object& object, const detail::loaded_object&) {
      detail::store(object.unrecorded, 0);
      return true;
    });
    if (timeline == nullptr && !options.timeline.empty())
      timeline = std::make_unique<lib::timeline>(lib::expand(options.timeline), detail::monotonic_ns());
    detail::store(control.trace_entries, timeline != nullptr ? options.trace_events : 0);
    start_context();
    lib::reset_steps(lib::own_state(address()));
    detail::store_release(control.epoch, ++process->epochs);
    recording->start();
    costs.engine_ns = recording->region_cost_ns();
    if (timeline != nullptr) draining = std::make_unique<lib::periodic>(between_looks, [this] { drain(); });
    cpus = lib::usable_cpus();
    started_cpu_ns = cpu_time_ns();
    started_ns = detail::monotonic_ns();
    keep_budget();
  }

  // Not where regions stand below functions: the program does not know of these.
  void keep_budget() {
    if (options.overhead == 0 || !options.functions.empty()) return;
    budget = std::make_unique<lib::budget_keeper>(
        lib::budget_rules{options.overhead, costs, recording->name() == "ebpf", timeline != nullptr});
    try {
      keeping = std::make_unique<lib::periodic>(std::chrono::milliseconds(lib::budget_look_ms), [this] { look(); });
    } catch (const std::exception& failed) {
      budget.reset();
      lib::print(std::string("the overhead budget is not kept: ") + failed.what());
    }
  }

  void look() noexcept {
    try {
      const std::lock_guard lock(budget_mutex);
      budget->look(lib::own_state(address()), detail::monotonic_ns(), cpu_time_ns() - started_cpu_ns);
    } catch (const std::exception& failed) {
      lib::print(failed.what());
    }
  }

  void set_steps(profile& in, const lib::measured& from, std::uint64_t now, std::uint64_t elapsed) const {
    if (budget == nullptr) return;
    const std::lock_guard lock(budget_mutex);
    for (region& row : in.regions)
      if (const auto path = from.paths.find(row.id); path != from.paths.end())
        row.measured_on = budget->times_of(path->second.site, now, elapsed);
  }

  // Before the epoch in which threads announce themselves.
  void start_context() {
    const lib::context_choice& asked = options.context;
    const bool samples = options.wants_samples();
    if (!samples && (!asked.cpu || (!asked.asked && recording->name() != "ebpf"))) return;
    try {
      context = recording->ask_for_context(asked.faults);
      context->adopt_objects();
      if (samples) beside([&] { context->sample(options); });
      if (asked.counters) beside([&] { context->count(); });
    } catch (const std::exception& failed) {  // the regions can be had all the same
      context.reset();
      if (asked.asked || samples) lib::print(failed.what());
    }
  }

  template <class Start>
  static void beside(Start&& start) {
    try {
      start();
    } catch (const std::exception& failed) {  // the rest can be had all the same
      lib::print(failed.what());
    }
  }

  // Complains of a file that cannot be written, once.
  void drain() noexcept {
    try {
      timeline->take(pid, command_name(), lib::own_state(address()));
      timeline->flush();
    } catch (const std::exception& failed) {
      lib::print(failed.what());
    }
  }

  void finish_timeline() {
    if (timeline == nullptr) return;
    draining.reset();
    drain();
    try {
      timeline->finish();
    } catch (const std::exception& failed) {
      lib::print(failed.what());
    }
    result.timeline = timeline->usage();
  }

  profile read(engine& from, lib::own_context* asked) {
    // Before the regions' times, which are to hold what was booked on them.
    std::optional<lib::context_sums> known;
    lib::sampling* const samples = asked != nullptr ? asked->samples() : nullptr;
    if (samples != nullptr) {
      samples->look_at(pid);
      samples->call(pid, command_name());
      samples->read();
    }
    if (asked != nullptr) known = asked->read();
    lib::measured all = from.read();
    if (known) lib::add_context(all, *known, lib::read_open_regions(lib::own_state(address())));
    if (samples != nullptr) samples->add_to(all);
    const std::uint64_t now = detail::monotonic_ns();
    const std::uint64_t elapsed = now - started_ns;
    lib::device_list devices =
        lib::read_devices(lib::own_state(address()), now, elapsed, (cpu_time_ns() - started_cpu_ns) / cpus);
    profile made;
    made.engine = from.name();
    made.mechanism = from.mechanism();
    made.reason = reason;
    made.regions = lib::assemble(all, devices.index);
    lib::add_amounts(devices.devices, made.regions);
    made.devices = std::move(devices.devices);
    made.offload = devices.offload;
    if (known) {
      made.devices.front().context = lib::sum_of(*known);
      made.context = std::move(known->account);
    }
    if (samples != nullptr) made.samples = samples->usage();
    made.accounting = all.accounting;
    lib::set_overhead(made, all, costs);
    set_steps(made, all, now, elapsed);
    made.processes.push_back({pid, command_name(), lib::expand("%h"), elapsed});
    return made;
  }

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(process); }

  // At once, since each waits for the kernel.
  static void stop_both(engine& of, std::unique_ptr<lib::own_context>& asked) {
    std::future<void> other;
    try {
      if (asked != nullptr) other = std::async(std::launch::async, [&asked] { asked.reset(); });
    } catch (const std::system_error&) {  // no further thread: one after the other
    }
    of.stop();
  }

  void finish() {
    if (recording == nullptr) return;
    {
      const std::lock_guard lock(running_mutex);
      detail::store_release(process->control.object_loaded, static_cast<void (*)()>(nullptr));
      running_context = nullptr;  // it goes before the engine
    }
    const std::unique_ptr<engine> ended = std::move(recording);
    std::unique_ptr<lib::own_context> asked = std::move(context);
    // Not before all is read: the next collector's threads begin anew.
    struct at_end {
      ~at_end() {
        const std::lock_guard lock(running_mutex);
        running = nullptr;
      }
    };
    const at_end no_longer_running;
    keeping.reset();
    result = read(*ended, asked.get());
    if (asked != nullptr && asked->samples() != nullptr) asked->samples()->write(options);
    stop_both(*ended, asked);
    if (budget != nullptr) budget->release(lib::own_state(address()));
    finish_timeline();
    if (options.report == lib::report_choice::table) {
      const std::string table = to_table(result);
      std::fwrite(table.data(), 1, table.size(), stderr);
    }
    if (!options.output.empty()) lib::write_file(lib::expand(options.output), to_json(result));
  }
};

collector::collector(std::string_view options) noexcept {
  try {
    state_ = std::make_unique<state>();
    state_->start(options);
  } catch (const std::exception& failed) {
    lib::print(failed.what() + std::string("\nthe program runs on, nothing is collected"));
    if (state_) {
      state_->recording.reset();
      state_->context.reset();
      try {
        state_->error = failed.what();
      } catch (...) {}
    }
  }
}

collector::~collector() { stop(); }

profile collector::snapshot() const noexcept {
  try {
    if (!state_) return {};
    const std::lock_guard lock(state_->mutex);
    return state_->recording && state_->pid == getpid() ? state_->read(*state_->recording, state_->context.get())
                                                        : state_->result;
  } catch (const std::exception& failed) {
    lib::print(failed.what());
    return {};
  }
}

profile collector::stop() noexcept {
  try {
    if (!state_) return {};
    const std::lock_guard lock(state_->mutex);
    // In a forked child the collection is the parent's.
    if (state_->pid == getpid()) state_->finish();
    return state_->result;
  } catch (const std::exception& failed) {
    lib::print(failed.what());
    return state_->result;
  }
}

const std::string& collector::error() const noexcept {
  static const std::string no_memory = "out of memory";
  return state_ ? state_->error : no_memory;
}

}}  // namespace adaptyst::v1
