#include <adaptyst/observer.hpp>
#include <adaptyst/region.hpp>

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <ctime>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../discover/function_sets.hpp"
#include "../discover/library_files.hpp"
#include "../discover/process_objects.hpp"
#include "../kernel/function_probes.hpp"
#include "../kernel/probe_links.hpp"
#include "../profile/reconcile.hpp"
#include "../profile/region_list.hpp"
#include "../recorder/clock_line.hpp"
#include "../support/error.hpp"
#include "../support/options.hpp"
#include "../support/output_file.hpp"
#include "../support/stopwatch.hpp"
#include "capabilities.hpp"
#include "channel.hpp"
#include "observed_context.hpp"
#include "observed_process.hpp"
#include "process_sums.hpp"

namespace adaptyst { inline namespace v1 {

using lib::engine_choice;
using lib::measured;
using lib::observed_process;

namespace {

constexpr std::uint64_t refresh_interval_ns = 1'000'000'000;
constexpr std::uint64_t look_interval_ns = 100'000'000;  // a program may end before it has been looked at

}  // namespace

struct observer::state {
  lib::options options;
  std::string reason;
  detail::clock_line clock;
  lib::channel channel;
  std::optional<lib::probe_links> links;         // empty: recorders
  std::optional<lib::observed_context> context;  // empty: the kernel is not asked
  std::optional<lib::function_probes> functions;
  lib::event_costs costs;
  std::vector<std::unique_ptr<observed_process>> processes;  // also those that have ended
  std::map<pid_t, std::vector<std::string>> expected;        // what processes are about to become
  lib::process_sums recorded;
  lib::region_list regions;
  std::unordered_map<std::uint64_t, std::uint64_t> reported;  // by changes(): events of each path
  std::optional<lib::timeline> timeline;
  std::uint64_t refreshed_ns = 0, looked_ns = 0;
  std::optional<profile> result;

  state(std::string_view given, pid_t only) {
    const lib::clock_pair before = lib::read_clock_pair();
    lib::apply(options, given, "the observer's options");
    if (options.engine == engine_choice::off)
      throw lib::error("cannot observe with engine=off", 0, "choose auto, ebpf or inline");
    if (options.engine == engine_choice::inlined) {
      reason = "asked for";
    } else {
      try {
        links.emplace(only, true, !options.functions.empty());
        links->start();
        reason = options.engine == engine_choice::ebpf ? "asked for" : "permitted";
      } catch (const lib::error& failed) {
        links.reset();
        if (options.engine == engine_choice::ebpf) throw;
        const std::string message = failed.what();
        reason = message.substr(0, message.find('\n'));
      }
    }
    ask_for_context(only);
    clock = lib::calibrate(before);
    if (!options.timeline.empty()) timeline.emplace(lib::expand(options.timeline), detail::monotonic_ns());
    // What a marker costs here, it costs there.
    std::uint16_t& awake = links ? adaptyst_object_v1.event : adaptyst_object_v1.recorder;
    detail::fetch_add(awake, 1);
    const double region_ns = lib::median_step_ns(200, [] { ADAPTYST_REGION("adaptyst calibration"); });
    costs = lib::measure_event_costs(region_ns + (links ? links->hit_ns() : 0));
    detail::fetch_add(awake, -1);
  }

  void ask_for_context(pid_t only) {
    const bool samples = options.wants_samples();
    if (!samples && (!options.context.cpu || (!options.context.asked && !links))) return;
    try {
      const bool among_functions = links && !options.functions.empty();
      context.emplace(options, only, among_functions ? &links->rows() : nullptr);
    } catch (const std::exception& failed) {  // the regions can be had all the same
      if (options.context.asked || samples) lib::print(failed.what());
    }
  }

  // Before its threads are in a new epoch, in which they announce themselves.
  void ask_for_context_of(pid_t process, const std::vector<lib::process_object>& objects) {
    if (!context) return;
    context->admit(process);
    look_at(process);
    for (const lib::process_object& one : objects) context->attach(one.file);
  }

  void look_at(pid_t process) {
    if (!context) return;
    context->look_at(process);
    if (const observed_process* const known = find(process); known != nullptr)
      context->call(process, known->info().command);
  }

  observed_process* find(pid_t process) {
    for (const auto& one : processes)
      if (one->id() == process && one->is_running()) return one.get();
    return nullptr;
  }

  observed_process& add(pid_t process) {
    processes.push_back(std::make_unique<observed_process>(process, budget()));
    return *processes.back();
  }

  // The kernel asks for no right over a process that is probed, so we do.
  static void require_ours(std::int64_t process) {
    struct stat owner {};
    if (process <= 0 || process > std::numeric_limits<pid_t>::max() ||
        stat(fmt::format("/proc/{}", process).c_str(), &owner) != 0)
      throw lib::error(fmt::format("cannot observe process {}", process), ESRCH, "it must be running");
    if (geteuid() != 0 && owner.st_uid != geteuid())
      throw lib::error(fmt::format("cannot observe process {}: it belongs to another user", process), EPERM, "be root");
  }

  void attach(std::int64_t given) {
    require_ours(given);
    const auto process = static_cast<pid_t>(given);
    if (find(process) != nullptr) return;
    observed_process& added = add(process);
    try {
      // Behind its memory, or they could be those of the program that it was before.
      const std::vector<lib::process_object> found = lib::find_objects(process);
      if (found.empty() && !functions)
        throw lib::error(fmt::format("cannot observe process {}: there are no markers in it", process), 0,
                         "put ADAPTYST_REGION into its source, or name functions");
      for (const lib::process_object& one : found) added.add_object(one.control_block);
      ask_for_context_of(process, found);
      if (links) begin_with_probes(added, found);
      else added.claim(clock, trace_entries()), added.wake();
    } catch (...) {
      if (links) links->rows().dismiss(process);
      if (context) context->dismiss(process);
      if (functions) functions->release({process});
      processes.pop_back();
      throw;
    }
  }

  void begin_with_probes(observed_process& added, const std::vector<lib::process_object>& found) {
    try {
      added.claim(clock, trace_entries());
    } catch (const lib::error&) {  // the kernel counts all the same
      added.leave_recorders();
    }
    links->rows().admit(added.id(), {found.empty() ? 0 : found.front().control_block, added.state()});
    for (const lib::process_object& one : found) links->attach(one.file);
  }

  std::vector<std::string> probe_functions(std::int64_t given) {
    if (options.functions.empty()) return {};
    require_ours(given);
    const auto process = static_cast<pid_t>(given);
    if (!links) throw lib::error("cannot probe functions with engine=inline", 0, "they need engine=ebpf");
    const auto command = expected.find(process);
    const bool begins = command != expected.end();
    lib::function_options how;
    how.pid = process;
    how.family = begins;
    how.through_exceptions = options.through_exceptions;
    how.single_stepped = options.single_stepped;
    how.among = &links->rows();
    if (context) how.threads = context->threads();
    if (!functions) functions.emplace(how);
    const lib::named_functions found = lib::find_named(options.functions, [&](const lib::function_request& one) {
      return begins ? lib::files_for(one, command->second) : lib::files_for(one, process);
    });
    std::vector<std::string> refused = functions->attach(found, process);
    if (begins && !functions->follows_family())
      refused.emplace_back(
          "functions in what the program starts: Linux 6.13 or later can tell them from those of others");
    return refused;
  }

  adaptyst_answer answer(pid_t who, const adaptyst_announcement& told) {
    adaptyst_answer reply{};
    try {
      observed_process* known = find(who);
      if (known != nullptr && known->is_another_program()) {
        if (known->has_markers()) known->retire(), known = nullptr;
        else known->take_image();  // it was expected
      }
      if (told.what == ADAPTYST_OBJECT_UNLOADING) {
        if (known == nullptr) return reply;
        known->refresh(context.has_value());
        look_at(who);
        trace(*known);
        known->remove_object(told.object);
        return reply;
      }
      if (known == nullptr) known = &add(who);
      const std::vector<lib::process_object> found = lib::find_objects(who);
      // Whoever has told it may have become a setuid program since.
      const bool is_there = std::any_of(
          found.begin(), found.end(), [&](const lib::process_object& one) { return one.control_block == told.object; });
      if (!is_there && !known->is_of_our_user()) return reply;
      known->add_object(told.object);
      known->adopt(!links);
      if (told.what == ADAPTYST_PROCESS_FORKED)
        for (const lib::process_object& one : found) known->add_object(one.control_block);
      ask_for_context_of(who, found);
      if (links) {
        links->rows().admit(who, {told.object, known->state()});
        for (const lib::process_object& one : found)
          if (one.control_block == told.object) links->attach(one.file);
      }
      reply = {static_cast<std::uint32_t>(links ? ADAPTYST_OBSERVED_BY_PROBES : ADAPTYST_OBSERVED_BY_RECORDER),
               static_cast<std::uint32_t>(getpid()),
               clock.ns_per_tick,
               clock.base_ticks,
               clock.base_ns,
               trace_entries()};
    } catch (const std::exception& failed) {
      lib::print(failed.what());
    }
    return reply;
  }

  void drop_capabilities() const {
    std::vector<unsigned> kept = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL, CAP_CHECKPOINT_RESTORE,
                                  CAP_DAC_OVERRIDE};  // the last for memory of processes of others
    if (links || context) kept.insert(kept.end(), {CAP_BPF, CAP_PERFMON});  // for ELF files that are loaded later
    if (links && !lib::kernel_has_uprobe_multi()) kept.push_back(CAP_SYS_ADMIN);
    lib::keep_capabilities(kept);
  }

  std::uint64_t trace_entries() const { return timeline ? options.trace_events : 0; }

  void trace(observed_process& from) {
    if (!timeline) return;
    try {
      from.trace_to(*timeline);
      timeline->flush();
    } catch (const lib::error& failed) {
      lib::print(failed.what());
    }
  }

  // When nothing comes any more.
  void finish_timeline() {
    if (!timeline) return;
    for (const auto& one : processes) trace(*one);
    try {
      timeline->finish();
    } catch (const lib::error& failed) {  // the profile is there all the same
      lib::print(failed.what());
    }
    result->timeline = timeline->usage();
  }

  void poll() {
    for (const auto& one : processes) trace(*one);
    // Rings fill in milliseconds, and are looked at as often; all else is read as often as without a timeline.
    const std::uint64_t now_ns = detail::monotonic_ns();
    const bool samples = context && context->takes_samples();
    if (samples && now_ns - looked_ns >= look_interval_ns) {
      looked_ns = now_ns;
      for (const auto& one : processes)
        if (one->is_running()) look_at(one->id());
    }
    if ((timeline || samples) && now_ns - refreshed_ns < refresh_interval_ns) return;
    refreshed_ns = now_ns;
    refresh();
  }

  void refresh() {
    for (const auto& one : processes) one->refresh(context.has_value());
    if (!links && !context) return;
    std::vector<pid_t> ended;
    for (const auto& one : processes) {
      if (one->is_running()) {
        for (const lib::process_object& object : one->changed_objects()) observe(object);
        // Objects go, and the first one known may be one whose markers have never been awake.
        if (functions && one->state() != 0) links->rows().admit(one->id(), {0, one->state()});
      } else if (!one->is_settled() && find(one->id()) == nullptr) {
        if (links) links->rows().dismiss(one->id());
        if (context) context->dismiss(one->id());
        ended.push_back(one->id());
        one->settle();
      }
    }
    if (functions && !ended.empty() && !functions->follows_family()) functions->release(ended);
  }

  // A library that a program has loaded since we have attached to it.
  void observe(const lib::process_object& object) {
    if (context) context->attach(object.file);
    if (!links) return;
    try {
      links->attach(object.file);
    } catch (const lib::error& failed) {  // the others can be observed all the same
      lib::print(failed.what());
    }
  }

  void read_recorders() {
    refresh();
    recorded.update(processes);
  }

  measured read_kernel() {
    read_recorders();
    // What had ended before the kernel's rows are read must be in them, but for those that are on their way.
    const std::uint64_t ended_before = recorded.result().accounting.ended;
    const timespec on_their_way{0, 200'000};
    nanosleep(&on_their_way, nullptr);
    measured kernel = links->rows().read();
    read_recorders();
    measured all = lib::reconcile(std::move(kernel), recorded.result(), ended_before);
    // Of a program that was killed, or whose recorders are another's, the kernel knows more than its recorders told.
    std::uint64_t known = all.accounting.ended + all.accounting.open;
    for (const auto& [why, count] : all.accounting.lost) known += count;
    all.accounting.begun = std::max(all.accounting.begun, known);
    if (functions) {
      lib::add(all, functions->read());
      lib::settle_self_times(all);
    }
    return all;
  }

  // Numbers of devices are those of one process; of several, the one that has most.
  const observed_process* first_process() const {
    const observed_process* most = nullptr;
    for (const auto& one : processes)
      if (most == nullptr || one->devices().devices.size() > most->devices().devices.size()) most = one.get();
    return most;
  }

  lib::open_counts open_regions() const {
    lib::open_counts all;
    for (const auto& one : processes)
      for (const auto& [path, count] : one->open_regions()) all[path] += count;
    return all;
  }

  // With those regions that `wanted` says; and what the kernel knows of them.
  template <class Wanted>
  profile make_profile(Wanted&& wanted, const std::optional<lib::context_sums>& known = {}) {
    measured kernel;
    if (links) kernel = read_kernel();
    else read_recorders();
    const observed_process* const first = first_process();
    const std::vector<std::uint32_t> device_index =
        first != nullptr ? first->devices().index : std::vector<std::uint32_t>{};
    if (links) regions.update_all(kernel, device_index);
    else regions.update(recorded.result(), device_index, recorded.take_changed());
    profile made;
    made.accounting = (links ? kernel : recorded.result()).accounting;
    made.engine = links ? "ebpf" : "inline";
    made.mechanism = links ? links->mechanism() : "own recorder, from outside";
    made.reason = reason;
    if (first != nullptr) {
      made.devices = first->devices().devices;
      made.offload = first->devices().offload;
    }
    if (first != nullptr) made.processes.push_back(first->info());
    for (const region& row : regions.regions()) {
      if (wanted(row)) made.regions.push_back(row);
    }
    if (known && first != nullptr) {
      measured all = links ? kernel : recorded.result();
      context->add_to(all, *known, open_regions());
      made.samples = context->samples();
      made.regions = lib::assemble(all, device_index);
      made.devices.front().context = lib::sum_of(*known);
      made.context = known->account;
    }
    lib::add_amounts(made.devices, regions.regions());
    lib::set_overhead(made, links ? kernel : recorded.result(), costs);
    for (region& row : made.regions) set_steps(row);
    if (functions) made.accounting.overhead_ns.reset();
    profile others;
    for (const auto& one : processes) {
      if (one.get() == first) continue;
      profile part;
      part.devices = one->devices().devices;
      part.offload = one->devices().offload;
      merge(others, part);
      others.processes.push_back(one->info());
    }
    if (!functions) others.accounting.overhead_ns = 0;
    if (!others.processes.empty()) merge(made, others);
    return made;
  }

  void set_steps(region& row) const {
    for (const auto& one : processes)
      for (const auto& [step, time_ns] : one->steps_of(row.id)) row.measured_on[step] += time_ns;
  }

  // Not where regions stand below functions: the program does not know of these.
  std::optional<lib::budget_rules> budget() const {
    if (options.overhead == 0 || !options.functions.empty()) return std::nullopt;
    return lib::budget_rules{options.overhead, costs, links.has_value(), timeline.has_value()};
  }

  profile snapshot() {
    std::optional<lib::context_sums> known;
    if (context) known = context->read();
    return make_profile([](const region&) { return true; }, known);
  }

  profile changes() {
    return make_profile([this](const region& row) { return std::exchange(reported[row.id], row.count) != row.count; });
  }

  profile stop() {
    if (result) return *result;
    result = snapshot();
    if (links) links->stop();
    if (functions) functions->stop();
    for (const auto& one : processes) one->release();
    finish_timeline();
    if (context) context->write_stacks(options);
    if (options.report == lib::report_choice::table) {
      const std::string table = to_table(*result);
      std::fwrite(table.data(), 1, table.size(), stderr);
    }
    if (!options.output.empty()) lib::write_file(lib::expand(options.output), to_json(*result));
    return *result;
  }
};

observer::observer(std::string_view options, std::int64_t only)
    : state_(std::make_unique<state>(options, static_cast<pid_t>(only))) {}
observer::~observer() = default;

void observer::expect(std::int64_t process, const std::vector<std::string>& command) {
  state_->add(static_cast<pid_t>(process)).call(command.front());
  state_->expected[static_cast<pid_t>(process)] = command;
  if (!state_->context || !state_->context->takes_samples()) return;
  state_->context->admit(static_cast<pid_t>(process));  // it may have no markers
  state_->context->call(static_cast<pid_t>(process), command.front());
}
std::vector<std::string> observer::probe_functions(std::int64_t process) { return state_->probe_functions(process); }
void observer::attach(std::int64_t process) { state_->attach(process); }
const std::string& observer::socket() const noexcept { return state_->channel.name(); }
int observer::descriptor() const noexcept { return state_->channel.descriptor(); }
void observer::handle() {
  state_->channel.handle([this](pid_t who, const adaptyst_announcement& told) { return state_->answer(who, told); });
}
void observer::drop_capabilities() { state_->drop_capabilities(); }
void observer::poll() { state_->poll(); }
void observer::keep_budget() {
  for (const auto& one : state_->processes) one->keep_budget();
}
std::size_t observer::running() const {
  return static_cast<std::size_t>(std::count_if(state_->processes.begin(), state_->processes.end(),
                                                [](const auto& one) { return one->is_running(); }));
}
profile observer::snapshot() { return state_->result ? *state_->result : state_->snapshot(); }
profile observer::changes() { return state_->result ? *state_->result : state_->changes(); }
profile observer::stop() { return state_->stop(); }

}}  // namespace adaptyst::v1
