// A collector that writes its report when those of all ranks have been merged. Its session writes timelines and stacks
// before.
#include <adaptyst/adapter/rank_transport.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <adaptyst/collector.hpp>
#include <adaptyst/detail/system.hpp>
#include <adaptyst/options.hpp>
#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "../merge/rank_merge.hpp"
#include "../support/error.hpp"
#include "../support/output_form.hpp"
#include "outputs.hpp"
#include "session_options.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

bool is_profile_output(const output& output) { return lib::source_of(output.form) == lib::output_source::profile; }

std::string find_host(const profile& profile) {
  if (!profile.processes.empty()) return profile.processes.front().host;
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace

merged_ranks merge_ranks(const profile& own, rank_transport& over, const collective_calls& collective) {
  return lib::merge_ranks(own, find_host(own), over, collective);
}

struct rank_collector::state {
  options requested;
  collector own;
  pid_t pid = getpid();
  std::mutex mutex;
  bool is_stopped = false;
  profile result;

  explicit state(options all) : requested(std::move(all)), own(collector::chosen{keep_back_profile(requested)}) {}

  static options keep_back_profile(options all) {
    all.report = report_choice::none;
    all.outputs.erase(std::remove_if(all.outputs.begin(), all.outputs.end(), is_profile_output), all.outputs.end());
    return all;
  }

  template <class Given>
  static std::unique_ptr<state> begin(const Given& chosen) noexcept {
    const detail::system::errno_kept number;
    try {
      auto made = std::make_unique<state>(lib::with_environment(lib::read_options(chosen, "the collector's options")));
      static const bool is_registered = std::atexit([] {
                                          if (at_exit() != nullptr && at_exit()->pid == getpid())
                                            at_exit()->stop_local("the program ended before the ranks came together");
                                        }) == 0;
      if (is_registered) at_exit() = made.get();
      return made;
    } catch (const std::exception& failed) {
      lib::complain(failed.what() + std::string("\nthe program continues, nothing is collected"));
      return nullptr;
    }
  }
  ~state() {
    if (at_exit() == this) at_exit() = nullptr;
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  static state*& at_exit() {
    static state* state = nullptr;
    return state;
  }

  // The name is the requested one, since this is the only report.
  void put_out_all(const profile& all) const { put(all, requested, lib::output_names::of_whom::all_ranks); }

  // Writes the profile of this rank, at least to a file.
  void put_out_alone(std::string_view why) const {
    options alone = requested;
    const auto is_json = [](const output& output) { return output.form == output_form::json; };
    if (std::none_of(alone.outputs.begin(), alone.outputs.end(), is_json))
      alone.outputs.push_back({output_form::json, "adaptyst-%r.json"});
    alone.report = report_choice::none;
    lib::complain(fmt::format("no report of all ranks: {}; each rank writes its own", why));
    put(result, alone, lib::output_names::of_whom::this_process);
  }

  static void put(const profile& what, options chosen, lib::output_names::of_whom owner) {
    chosen.outputs.erase(std::remove_if(chosen.outputs.begin(), chosen.outputs.end(),
                                        [](const output& output) { return !is_profile_output(output); }),
                         chosen.outputs.end());
    lib::output_names names(chosen.outputs, owner);
    lib::put_out(what, chosen, names);
  }

  void stop(rank_transport& over, const collective_calls& collective) {
    const std::lock_guard lock(mutex);
    if (pid != getpid() || std::exchange(is_stopped, true)) return;
    result = own.stop();
    std::string why;
    try {
      const merged_ranks merged = merge_ranks(result, over, collective);
      if (merged.all) result = *merged.all;
      // Also if this rank's collector is disabled, for example by an earlier collector, while those of other ranks are
      // not.
      if (merged.all && (own.error() == nullptr || result.accounting.begun != 0)) put_out_all(result);
      if (merged.is_delivered) return;
      why = "nothing came from rank 0";
    } catch (const std::exception& failed) {
      why = failed.what();
    }
    if (own.error() == nullptr) put_out_alone(why);
  }

  void stop_local(std::string_view why) noexcept {
    const detail::system::errno_kept number;
    try {
      const std::lock_guard lock(mutex);
      if (pid != getpid() || std::exchange(is_stopped, true)) return;
      result = own.stop();
      if (own.error() == nullptr) put_out_alone(why);
    } catch (const std::exception& failed) {
      lib::complain(failed.what());
    }
  }
};

rank_collector::rank_collector(std::string_view options) noexcept : state_(state::begin(options)) {}
rank_collector::rank_collector(const options& options) noexcept : state_(state::begin(options)) {}
rank_collector::~rank_collector() {
  if (state_) state_->stop_local("the collector was destroyed before it was stopped");
}

profile rank_collector::snapshot() const noexcept { return state_ ? state_->own.snapshot() : profile(); }

profile rank_collector::stop(rank_transport& over, const collective_calls& collective) noexcept {
  const detail::system::errno_kept number;
  try {
    if (!state_) return {};
    state_->stop(over, collective);
    const std::lock_guard lock(state_->mutex);
    return state_->result;
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
    return {};
  }
}

profile rank_collector::stop_local(std::string_view why) noexcept {
  if (!state_) return {};
  state_->stop_local(why);
  try {
    const std::lock_guard lock(state_->mutex);
    return state_->result;
  } catch (const std::exception& failed) {
    lib::complain(failed.what());
    return {};
  }
}

const adaptyst::error* rank_collector::error() const noexcept {
  static const adaptyst::error no_memory("cannot collect", 0, "");
  return state_ ? state_->own.error() : &no_memory;
}

}}  // namespace adaptyst::v1
