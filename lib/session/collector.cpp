// The public collector: a session on the process itself, with a thread for timelines and budgets, and the loader's hook
// for ELF objects that are loaded later. Nothing in this file throws into the program.
#include <adaptyst/collector.hpp>
#include <adaptyst/options.hpp>
#include <adaptyst/profile.hpp>

#include <unistd.h>

#include <adaptyst/detail/system.hpp>
#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>

#include "../recorder/kept_file.hpp"
#include "../support/error.hpp"
#include "../support/launch_rank.hpp"
#include "../support/threads.hpp"
#include "own_process.hpp"
#include "session.hpp"
#include "session_options.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

// The running collector. The loader's threads reach it through the hook of the process.
std::mutex running_mutex;
std::atomic<pid_t> running_in{0};  // 0: no collector runs; a forked child inherits the number, but not the collection
lib::session* adopting = nullptr;  // the session that adopts new ELF objects

void object_loaded() {
  const std::lock_guard lock(running_mutex);
  if (adopting == nullptr || running_in != getpid()) return;
  try {
    adopting->adopt_own_objects();
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
  }
}

}  // namespace

struct collector::state {
  std::timed_mutex mutex;
  std::optional<adaptyst::error> error;
  pid_t pid = getpid();
  std::optional<lib::kept_file> kept;   // the file that remains if the program is killed
  std::optional<lib::session> session;  // empty: nothing is collected
  lib::heap_room room;                  // for the result
  profile result;

  state() { result.engine = "off"; }

  // `options`: as text, or as values.
  template <class Given>
  static options read(const Given& options) {
    return lib::with_environment(lib::read_options(options, "the collector's options"));
  }
  static options read(const chosen& chosen) { return chosen.all; }

  template <class Given>
  static std::unique_ptr<state> begin(const Given& given) noexcept {
    const detail::system::errno_kept number;
    std::unique_ptr<state> made;
    options chosen;
    try {
      made = std::make_unique<state>();
      chosen = read(given);
      made->start(chosen);
      made->end_with_program();
    } catch (const lib::observed_from_outside& observed) {
      made->step_back(observed, chosen);
    } catch (const std::exception& failed) {
      if (made && made->kept) made->kept->remove();
      lib::complain(failed.what() + std::string("\nthe program continues, nothing is collected"));
      if (made) {
        try {
          made->error = lib::to_error(failed);
        } catch (...) {}
      }
    }
    return made;
  }

  void start(options options) {
    if (options.engine == engine_choice::off) return;
    const std::lock_guard lock(running_mutex);
    if (running_in == pid)
      throw lib::error("cannot start a second collector in this process", 0,
                       "stop the first one, or use its snapshot()");
    const lib::clock_pair before = lib::read_clock_pair();
    if (!options.keep.empty()) keep(options);
    auto own = std::make_unique<lib::own_process>();
    if (lib::own_process::is_collected_elsewhere(&object_loaded)) throw lib::observed_from_outside(pid);
    // Before the session searches for ELF objects: if an object is loaded at that time, its thread waits for the lock
    // and then has it adopted.
    lib::own_process::call_when_loaded(&object_loaded);
    try {
      session.emplace(std::move(options), before, std::move(own));
    } catch (...) {
      lib::own_process::call_when_loaded(nullptr);
      throw;
    }
    adopting = &*session;
    running_in = pid;
  }

  // The observer makes the report. Without this check, all ranks of a program would print the same message.
  void step_back(const lib::observed_from_outside& observed, const options& options) noexcept {
    try {
      if (kept) kept->remove();
      error = observed;
      const bool by_run = std::getenv("ADAPTYST_OBSERVER") != nullptr;
      const std::string process = observed.subject() != std::to_string(pid)
                                      ? fmt::format("{}, process {}", by_run ? " run" : "", observed.subject())
                                      : " in the library that was loaded before";
      if (options.report != report_choice::none && lib::prints_for_all_ranks())
        lib::complain(fmt::format("observed by adaptyst{}, which reports{}", process,
                                  options.outputs.empty() ? "" : "; its --output applies, not the program's output="));
    } catch (...) {}
  }

  // exit() does not destroy a collector that is local to main().
  void end_with_program() {
    if (!session) return;
    static const bool is_registered = std::atexit([] { end_for_exit(); }) == 0;
    const std::lock_guard lock(exit_mutex());
    if (is_registered) ended_by_exit() = this;
  }
  ~state() {
    if (pid != getpid()) return;
    const std::lock_guard lock(exit_mutex());  // exit() may stop the collector on another thread
    if (ended_by_exit() == this) ended_by_exit() = nullptr;
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  // A forked child may inherit locks of threads that do not exist in it. If a signal handler interrupts a snapshot and
  // calls exit(), this thread itself holds the lock.
  static void end_for_exit() noexcept {
    if (running_in != getpid()) return;
    const std::unique_lock all = lock_for_a_while(exit_mutex());
    if (!all) return;
    state* const state = ended_by_exit();
    if (state == nullptr) return;
    const std::unique_lock session_lock = lock_for_a_while(state->mutex);
    if (!session_lock) return lib::complain("the program ends during a snapshot or during stop(): no report");
    state->stop_noexcept(std::adopt_lock);
  }
  static std::unique_lock<std::timed_mutex> lock_for_a_while(std::timed_mutex& which) {
    return std::unique_lock(which, std::chrono::seconds(5));
  }
  // Locked before any other lock.
  static std::timed_mutex& exit_mutex() {
    static std::timed_mutex only;
    return only;
  }
  static state*& ended_by_exit() {
    static state* state = nullptr;
    return state;
  }

  void stop_noexcept() noexcept {
    const std::lock_guard lock(mutex);
    stop_noexcept(std::adopt_lock);
  }
  void stop_noexcept(std::adopt_lock_t) noexcept {
    const detail::system::errno_kept number;
    try {
      stop();
    } catch (const std::exception& failed) {
      lib::complain(failed.what());
    }
  }

  // The kernel's rows do not outlive the program.
  void keep(options& options) {
    if (options.engine == engine_choice::ebpf)
      throw lib::error("cannot keep what engine=ebpf records", "keep", 0, "remove engine=, or use engine=inline");
    try {
      kept.emplace(options.keep);
      options.engine = engine_choice::inlined;
    } catch (const lib::error& failed) {  // everything else is collected
      lib::complain(failed.what());
    }
  }

  // In a forked child, the collection belongs to the parent.
  bool is_ours() const { return session && pid == getpid(); }

  void stop() {
    if (!is_ours()) return;
    {
      const std::lock_guard lock(running_mutex);
      lib::own_process::call_when_loaded(nullptr);
      adopting = nullptr;
    }
    room = session->room();
    lib::run_on_thread([this] { end_session(); }, room);
  }

  void end_session() {
    try {
      session->stop();
      if (kept) kept->remove();
    } catch (const std::exception& failed) {
      lib::complain(failed.what() + (kept ? "\nthe recorded events remain in " + kept->name() : ""));
    }
    kept.reset();
    {
      const std::lock_guard lock(running_mutex);  // after all is read: threads begin again with the next collector
      running_in = 0;
    }
    result = session->take();
    session.reset();
  }

  // The program frees the copy.
  profile copy_result() const {
    if (result.regions.empty()) return result;
    profile copy;
    lib::run_on_thread([&] { copy = result; }, room);
    return copy;
  }
};

collector::collector(std::string_view options) noexcept : state_(state::begin(options)) {}
collector::collector(const options& options) noexcept : state_(state::begin(options)) {}
collector::collector(const chosen& options) noexcept : state_(state::begin(options)) {}

collector::~collector() {
  if (state_ && state_->pid == getpid()) state_->stop_noexcept();
}

profile collector::snapshot() const noexcept {
  const detail::system::errno_kept number;
  try {
    if (!state_) return {};
    const std::lock_guard lock(state_->mutex);
    if (!state_->is_ours()) return state_->copy_result();
    profile now;
    lib::run_on_thread([&] { now = state_->session->snapshot(); }, state_->session->room());
    return now;
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
    return {};
  }
}

profile collector::stop() noexcept {
  const detail::system::errno_kept number;
  try {
    if (!state_) return {};
    state_->stop_noexcept();
    const std::lock_guard lock(state_->mutex);
    return state_->copy_result();
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
    return {};
  }
}

const adaptyst::error* collector::error() const noexcept {
  static const adaptyst::error no_memory("cannot collect", ENOMEM, "");
  if (!state_) return &no_memory;
  return state_->error ? &*state_->error : nullptr;
}

}}  // namespace adaptyst::v1
