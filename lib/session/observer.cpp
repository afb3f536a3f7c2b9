// A session on other processes: accepts announcements, finds processes, and reads them in turn. It has no threads.
#include "observer.hpp"

#include <adaptyst/detail/clock.hpp>

#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "../discover/process_objects.hpp"
#include "../discover/running_processes.hpp"
#include "../support/error.hpp"
#include "../support/output_form.hpp"
#include "../support/process_stat.hpp"
#include "../support/reading_process.hpp"
#include "../support/repeating_timer.hpp"
#include "channel.hpp"
#include "observed_process.hpp"
#include "session.hpp"
#include "session_options.hpp"
#include "silent_programs.hpp"

namespace adaptyst { inline namespace v1 {

using lib::observed_process;

namespace {

template <class Given>
options read_options(const Given& chosen) {
  options options = lib::read_options(chosen, "the observer's options");
  if (options.engine == engine_choice::off)
    throw lib::error("cannot observe with engine=off", "engine", 0, "choose auto, ebpf or inline");
  if (!options.keep.empty())
    throw lib::error("cannot keep from outside", "keep", 0, "keep= is for a collector in the program");
  return options;
}

// The kernel does not check rights over a process with uprobes, so this function does.
pid_t require_ours(std::int64_t process) {
  struct stat owner {};
  if (process <= 0 || process > std::numeric_limits<pid_t>::max() ||
      stat(fmt::format("/proc/{}", process).c_str(), &owner) != 0)
    throw lib::error(fmt::format("cannot observe process {}", process), std::to_string(process), ESRCH,
                     "it must be running");
  if (geteuid() != 0 && owner.st_uid != geteuid())
    throw lib::error(fmt::format("cannot observe process {}: it belongs to another user", process),
                     std::to_string(process), EPERM, "be root");
  return static_cast<pid_t>(process);
}

// Waits until a descriptor is readable, for at most `longest_ms`, and until `end_ns` on the monotonic clock; 0: no such limit.
void sleep_until(std::vector<pollfd>& events, unsigned longest_ms, std::uint64_t end_ns) {
  constexpr std::uint64_t ns_in_ms = 1'000'000, ns_in_s = 1'000'000'000;
  const std::uint64_t now_ns = detail::monotonic_ns();
  std::uint64_t wait_ns = std::uint64_t{longest_ms} * ns_in_ms;
  if (end_ns != 0) wait_ns = std::min(wait_ns, end_ns - std::min(end_ns, now_ns));
  const timespec wait{static_cast<std::time_t>(wait_ns / ns_in_s), static_cast<long>(wait_ns % ns_in_s)};
  ::ppoll(events.data(), events.size(), &wait, nullptr);
}

}  // namespace

struct observer::state {
  static constexpr double seconds_of_budget = 0.02, seconds_of_metrics = 5, seconds_of_memory = 0.1, never = 1e9;
  static constexpr std::size_t max_strangers = 1000;

  lib::clock_pair before = lib::read_clock_pair();
  lib::session session;
  lib::channel channel;
  std::vector<observed_process*> processes;            // of the session, including ended ones
  std::map<pid_t, std::vector<std::string>> expected;  // commands of processes that will soon run them
  lib::silent_programs silent{[this](const std::string& message, const std::string& why) {
    session.count_refused(why);
    complain_once(message);
  }};
  std::set<std::string> messages;  // messages already printed
  std::set<pid_t> strangers;       // senders of ignored announcements

  template <class Given>
  state(const Given& chosen, pid_t only, lib::timeline_opener opener)
      : session((lib::start_reading(), read_options(chosen)), before, only, opener) {}

  observed_process* find(pid_t process) const {
    for (observed_process* const observed : processes)
      if (observed->id() == process && observed->is_running()) return observed;
    return nullptr;
  }

  observed_process& add(pid_t process, bool started) {
    auto made = std::make_unique<observed_process>(process, started, session.terms().levels);
    processes.push_back(made.get());
    session.add(std::move(made));
    return *processes.back();
  }

  void attach(pid_t process) {
    if (find(process) != nullptr) return;
    observed_process& added = add(process, false);
    try {
      // Read after the memory was opened; otherwise, these could be the objects of the previous program.
      const std::vector<lib::process_object> found = lib::find_objects(process);
      const std::vector<lib::foreign_object> foreign = lib::find_foreign_objects(process);
      if (found.empty() && !foreign.empty())
        throw lib::error(fmt::format("cannot observe process {}: {}", process, display_name(foreign.front())),
                         std::to_string(process), 0, "build it with the headers of this version");
      session.count_refused(process, foreign);
      if (found.empty() && !session.sample_unmarked(added) && !session.probes_functions())
        throw lib::error(fmt::format("cannot observe process {}: there are no markers in it", process),
                         std::to_string(process), 0,
                         "put ADAPTYST_REGION into its source, name functions, or sample its functions: --context "
                         "samples (adaptyst doctor)");
      for (const lib::process_object& object : found) added.add_object(object.control_block);
      session.begin(added, found);
    } catch (...) {
      processes.pop_back();
      session.forget();
      throw;
    }
  }

  // The objects of a program that has announced itself. If its file can be run but not read, the kernel hides its
  // mappings; then the store that it has handed over is enough.
  std::vector<lib::process_object> list_objects(const observed_process& process) const {
    try {
      return lib::find_objects(process.id());
    } catch (const error&) {
      if (session.is_in_kernel() || !process.has_our_user()) throw;
      return {};
    }
  }

  std::vector<error> probe_functions(pid_t process) {
    const auto command = expected.find(process);
    return session.probe_functions(process, command != expected.end() ? &command->second : nullptr);
  }

  void expect(pid_t process, const std::vector<std::string>& command) {
    observed_process& added = add(process, true);
    added.set_command(command.front());
    expected[process] = command;
    silent.expect(process, command.front());
    session.expect(added);
  }

  std::optional<lib::channel::reply> answer(pid_t who, const adaptyst_announcement& announcement,
                                            lib::descriptor held) {
    lib::channel::reply reply;
    if (lib::has_hung(who)) return std::nullopt;
    silent.note_announced(who);
    try {
      if (has_given_up(who)) return reply;
      if (announcement.abi != ADAPTYST_ABI_VERSION) {
        session.count_refused(who, lib::find_foreign_objects(who));
        return std::nullopt;
      }
      observed_process* existing = find(who);
      if (existing != nullptr && existing->is_another_program()) {
        if (existing->has_markers() || existing->has_announced()) existing->retire(), existing = nullptr;
        else existing->take_image();  // it was expected
      }
      if (announcement.what == ADAPTYST_OBJECT_UNLOADING) {
        if (existing == nullptr) return reply;
        session.poll_target(*existing);
        existing->remove_object(announcement.object);
        return reply;
      }
      if (existing == nullptr) existing = &add(who, true);
      if (held) existing->hold(std::move(held));
      existing->note_refusal();
      const std::vector<lib::process_object> found = list_objects(*existing);
      // The process that announced the object may have become a setuid program in the meantime.
      const bool is_present = std::any_of(found.begin(), found.end(), [&](const lib::process_object& object) {
        return object.control_block == announcement.object;
      });
      if (!is_present && !existing->has_our_user()) return reply;
      existing->add_object(announcement.object);
      reply.along = existing->adopt(!session.is_in_kernel());
      if (announcement.what == ADAPTYST_PROCESS_FORKED)
        for (const lib::process_object& object : found) existing->add_object(object.control_block);
      const bool by_probes =
          session.announce(*existing, found, announcement.object, announcement.what == ADAPTYST_PROCESS_FORKED);
      if (!by_probes) existing->note_enabled();
      const lib::claim_terms& terms = session.terms();
      reply.answer = {
          static_cast<std::uint32_t>(by_probes ? ADAPTYST_OBSERVED_BY_PROBES : ADAPTYST_OBSERVED_BY_RECORDER),
          static_cast<std::uint32_t>(getpid()),
          lib::own_start(),
          terms.clock.ns_per_tick,
          terms.clock.base_ticks,
          terms.clock.base_ns,
          terms.trace_entries};
    } catch (const std::exception& failed) {
      session.count_refused(lib::to_error(failed).summary());
      complain_once(failed.what());
    }
    return reply;
  }

  // A process that announces without end must not fill the screen.
  void complain_once(const std::string& message) {
    constexpr std::size_t max_messages = 100;
    if (messages.size() < max_messages && messages.insert(message).second) lib::complain(message);
  }

  bool has_given_up(pid_t process) const {
    return std::any_of(processes.begin(), processes.end(), [&](const observed_process* candidate) {
      return candidate->id() == process && candidate->is_given_up() && !candidate->is_gone();
    });
  }

  void handle() {
    channel.handle([this](pid_t who, const adaptyst_announcement& announcement, lib::descriptor along) {
      return answer(who, announcement, std::move(along));
    });
    for (std::uint64_t left = channel.take_unanswered(); left != 0; --left)
      session.count_refused("a program has not waited for the observer's answer");
    for (const pid_t ignored : channel.take_ignored()) {
      constexpr const char* why = "a program of another user that this observer has not started";
      if (messages.insert(why).second) lib::complain(fmt::format("process {} is not observed: it is {}", ignored, why));
      if (strangers.size() < max_strangers && strangers.insert(ignored).second) session.count_refused(why);
    }
  }

  void run(double seconds, const std::vector<int>& wakers, const std::function<std::optional<int>()>& go_on) {
    const options& chosen = session.chosen_options();
    lib::repeating_timer polling(seconds), keeping(chosen.overhead == 0 ? never : seconds_of_budget), looking(0.05),
        following(chosen.memory == memory_choice::none ? never : seconds_of_memory),
        exporting(chosen.find_file(output_form::prometheus).empty() ? never : seconds_of_metrics);
    std::vector<pollfd> events{{channel.descriptor(), POLLIN, 0}};
    for (const int waker : wakers) events.push_back({waker, POLLIN, 0});
    const std::function<bool()> steps[] = {
        [&] { return keeping.is_over() && (session.keep_budget(), true); },
        [&] { return polling.is_over() && (session.poll(), true); },
        [&] { return following.is_over() && (session.follow_memory(), true); },
        [&] { return exporting.is_over() && (session.write_metrics(), true); },
        [&] { return looking.is_over() && (session.note_unmarked_mappings(), silent.poll(), true); },
    };
    for (std::size_t turn = 0;;) {
      handle();
      const std::optional<int> left_ms = go_on();
      if (!left_ms) return;
      polling.set_length(session.seconds_between_polls(seconds));
      const std::uint64_t next_window_ns = session.keep_windows();
      // One step at a time, in turn: `go_on` serves signals.
      bool has_worked = false;
      for (std::size_t left = std::size(steps); left != 0 && !has_worked; --left)
        has_worked = steps[turn++ % std::size(steps)]();
      if (has_worked) continue;
      const int idle_ms = std::min({*left_ms, polling.left_ms(), keeping.left_ms(), looking.left_ms(),
                                    exporting.left_ms(), following.left_ms()});
      sleep_until(events, static_cast<unsigned>(std::max(idle_ms, 0)), next_window_ns);
    }
  }

  void drop_capabilities() const {
    std::vector<unsigned> kept = session.capabilities();
    kept.insert(kept.end(), {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_KILL, CAP_CHECKPOINT_RESTORE,
                             CAP_DAC_OVERRIDE});  // CAP_DAC_OVERRIDE: for the memory of other users' processes
    lib::keep_capabilities(kept);
  }
};

observer::observer(std::string_view options, std::int64_t only)
    : state_(std::make_unique<state>(options, static_cast<pid_t>(only), lib::open_timeline_file)) {}
observer::observer(const options& options, std::int64_t only, lib::timeline_opener opener)
    : state_(std::make_unique<state>(options, static_cast<pid_t>(only), opener)) {}
observer::~observer() = default;

void observer::expect(std::int64_t process, const std::vector<std::string>& command) {
  state_->expect(static_cast<pid_t>(process), command);
}
void observer::note_adapters(const std::map<std::string, std::string>& loaded,
                             const std::map<std::string, std::string>& skipped) {
  state_->session.note_adapters(loaded, skipped);
}
std::vector<error> observer::probe_functions(std::int64_t process) {
  if (state_->session.chosen_options().functions.empty()) return {};
  return state_->probe_functions(require_ours(process));
}
void observer::attach(std::int64_t process) { state_->attach(require_ours(process)); }
const std::string& observer::socket() const noexcept { return state_->channel.name(); }
std::string observer::sample_file() const { return state_->session.sample_file(); }
int observer::descriptor() const noexcept { return state_->channel.descriptor(); }
void observer::handle() { state_->handle(); }
void observer::drop_capabilities() { state_->drop_capabilities(); }
void observer::poll() { state_->session.poll(); }
void observer::run(double seconds, const std::vector<int>& wakers, const std::function<std::optional<int>()>& go_on) {
  state_->run(seconds, wakers, go_on);
}
std::size_t observer::running() const { return state_->session.running(); }
profile observer::snapshot() { return state_->session.snapshot(); }
profile observer::changes() { return state_->session.changes(); }
std::vector<std::int64_t> observer::find_processes(std::uint64_t region) const {
  return state_->session.find_processes(region);
}
profile observer::stop() {
  state_->silent.finish();
  state_->session.stop();
  return state_->session.snapshot();
}

}}  // namespace adaptyst::v1
