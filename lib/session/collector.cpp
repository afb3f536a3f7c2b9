#include <adaptyst/collector.hpp>

#include <unistd.h>

#include <cerrno>
#include <exception>
#include <mutex>
#include <optional>

#include "../recorder/kept_file.hpp"
#include "../support/error.hpp"
#include "asked_options.hpp"
#include "own_process.hpp"
#include "session.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

// The collector that runs. The loader's threads come here through the hook of the process.
std::mutex running_mutex;
pid_t running_in = 0;              // 0: none does; a forked child inherits the number, but not the collection
lib::session* adopting = nullptr;  // that wants to be told of ELF objects

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
  std::mutex mutex;
  std::optional<adaptyst::error> error;
  pid_t pid = getpid();
  std::optional<lib::kept_file> kept;   // what stays if the program is killed
  std::optional<lib::session> session;  // empty: nothing is collected (any more)
  profile result;

  state() { result.engine = "off"; }

  // `given`: as text, or as values.
  template <class Given>
  static std::unique_ptr<state> begin(const Given& given) noexcept {
    std::unique_ptr<state> made;
    try {
      made = std::make_unique<state>();
      made->start(lib::with_environment(lib::asked_in(given, "the collector's options")));
    } catch (const std::exception& failed) {
      if (made && made->kept) made->kept->remove();
      lib::complain(failed.what() + std::string("\nthe program runs on, nothing is collected"));
      if (made) {
        try {
          made->error = lib::error_of(failed);
        } catch (...) {}
      }
    }
    return made;
  }

  void start(options asked) {
    if (asked.engine == engine_choice::off) return;
    const std::lock_guard lock(running_mutex);
    if (running_in == pid)
      throw lib::error("cannot start a second collector in this process", 0,
                       "stop the first one, or use its snapshot()");
    const lib::clock_pair before = lib::read_clock_pair();
    if (!asked.keep.empty()) keep(asked);
    auto own = std::make_unique<lib::own_process>();
    // Before the session looks for ELF objects: one that is loaded meanwhile waits for the lock, and is adopted then.
    lib::own_process::call_when_loaded(&object_loaded);
    try {
      session.emplace(std::move(asked), before, std::move(own));
    } catch (...) {
      lib::own_process::call_when_loaded(nullptr);
      throw;
    }
    adopting = &*session;
    running_in = pid;
  }

  // The kernel's rows go with the program.
  void keep(options& asked) {
    if (asked.engine == engine_choice::ebpf)
      throw lib::error("cannot keep what engine=ebpf records", "keep", 0, "leave engine= away, or say engine=inline");
    try {
      kept.emplace(asked.keep);
      asked.engine = engine_choice::inlined;
    } catch (const lib::error& failed) {  // all else is collected
      lib::complain(failed.what());
    }
  }

  // In a forked child the collection is the parent's.
  bool is_ours() const { return session && pid == getpid(); }

  void stop() {
    if (!is_ours()) return;
    {
      const std::lock_guard lock(running_mutex);
      lib::own_process::call_when_loaded(nullptr);
      adopting = nullptr;
    }
    try {
      session->stop();
      if (kept) kept->remove();
    } catch (const std::exception& failed) {
      lib::complain(failed.what() + (kept ? "\nwhat it has recorded stays in " + kept->name() : ""));
    }
    kept.reset();
    {
      const std::lock_guard lock(running_mutex);  // not before all is read: the next collector's threads begin anew
      running_in = 0;
    }
    result = session->snapshot();
    session.reset();
  }
};

collector::collector(std::string_view options) noexcept : state_(state::begin(options)) {}
collector::collector(const options& asked) noexcept : state_(state::begin(asked)) {}

collector::~collector() { stop(); }

profile collector::snapshot() const noexcept {
  try {
    if (!state_) return {};
    const std::lock_guard lock(state_->mutex);
    return state_->is_ours() ? state_->session->snapshot() : state_->result;
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
    return {};
  }
}

profile collector::stop() noexcept {
  try {
    if (!state_) return {};
    const std::lock_guard lock(state_->mutex);
    state_->stop();
    return state_->result;
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
    return state_->result;
  }
}

const adaptyst::error* collector::error() const noexcept {
  static const adaptyst::error no_memory("cannot collect", ENOMEM, "");
  if (!state_) return &no_memory;
  return state_->error ? &*state_->error : nullptr;
}

}}  // namespace adaptyst::v1
