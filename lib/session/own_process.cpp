// This process as a target: the control blocks of all its ELF objects, the state that they share, and its other
// observers.
#include "own_process.hpp"

#include <adaptyst/region.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "../discover/process_objects.hpp"
#include "../recorder/site_counts.hpp"
#include "../support/error.hpp"
#include "../support/loader_walk.hpp"
#include "../support/process_stat.hpp"

namespace adaptyst::lib {

namespace {

detail::process& shared_by_markers() {
  detail::process* const found = detail::get_process(adaptyst_object_v5);
  if (found == nullptr)
    throw error("cannot map memory for the recorder", ENOMEM, "raise the limit on address space (ulimit -v)");
  if (!detail::notice_fork(*found))
    throw error("cannot map memory for the recorder of a forked process", ENOMEM,
                "raise the limit on address space (ulimit -v)");
  return *found;
}

template <class Visit>
void visit_objects(Visit&& visit) {
  const loader_walk alone;
  detail::for_each_object([&](adaptyst_object& object, const detail::loaded_object&) {
    visit(object);
    return true;
  });
}

}  // namespace

observed_from_outside::observed_from_outside(pid_t by)
    : error(by == getpid()
                ? "cannot collect: a library that was loaded before already collects, as with adaptyst run --with mpi"
                : fmt::format("cannot collect: process {} observes this one from outside", by),
            std::to_string(by), 0, "see its report; use only one of the two at a time") {}

own_process::own_process() : target(getpid()), in_(shared_by_markers()) { refuse_if_observed(); }

void own_process::refuse_if_observed() const {
  const std::uint32_t observer = detail::load(in_.control.observer);
  const bool is_over = detail::load(in_.settings.over) != 0;
  if (observer != 0 && !is_over &&
      lib::is_running(static_cast<pid_t>(observer), detail::load(in_.control.observer_started)))
    throw observed_from_outside(static_cast<pid_t>(observer));
  // The observer has ended and left the recorders enabled, or its end has not been noticed yet.
  if (observer != 0) visit_objects([](adaptyst_object& object) { detail::store(object.recorder, 0); });
  detail::store(in_.control.observer, 0);
  // Another thread may clear the settings now. The memory that is mapped last is writable here, too.
  detail::store(in_.store->head.settings_owner, std::uint64_t{0});
  detail::clear_settings(in_.settings);
}

void own_process::call_when_loaded(void (*hook)()) noexcept {
  if (detail::process* const own = detail::get_process(adaptyst_object_v5); own != nullptr)
    detail::store_release(own->control.object_loaded, hook);
}

bool own_process::is_collected_elsewhere(void (*hook)()) noexcept {
  const detail::process* const own = detail::get_process(adaptyst_object_v5);
  const auto set = own != nullptr ? detail::load_acquire(own->control.object_loaded) : nullptr;
  return set != nullptr && set != hook;
}

std::vector<process_object> own_process::objects() const {
  visit_objects([this](adaptyst_object& object) { detail::store_release(object.process, state()); });
  return loaded_objects();
}

bool own_process::has_few_results() const noexcept {
  constexpr std::uint64_t most_names = 4096, most_rows = std::uint64_t{1} << 20;  // in bytes
  return detail::load(in_.store->arena_used) <= most_names && detail::load(in_.store->head.above) <= most_rows;
}

void own_process::use_counter(const detail::clock_line& line) noexcept {
  detail::process* const own = detail::get_process(adaptyst_object_v5);
  if (own == nullptr || !detail::notice_fork(*own) || uses_counter()) return;
  detail::use_clock(*own, line);
}

bool own_process::uses_counter() noexcept {
  const detail::process* const own = detail::get_process(adaptyst_object_v5);
  return own != nullptr && detail::load(own->control.clock.ns_per_tick) != 0;
}

void own_process::take_probes() {
  const auto self = static_cast<std::uint32_t>(id());
  if (in_.traced_process != 0 && in_.traced_process != self)
    throw error("cannot use probes in a process that was forked from one under observation", 0,
                "its code holds the parent's probes; engine=inline does not need any");
  in_.traced_process = self;
}

void own_process::claim(const claim_terms& terms) {
  if (terms.by_probes) take_probes();
  claimed_ = true;
  visit_objects([](adaptyst_object& object) { detail::store(object.unrecorded, 0); });
  detail::store(in_.control.trace_entries, terms.trace_entries);
  reset_steps(own_state(state()));
  set_levels(own_state(state()), terms.levels);
  detail::begin_epoch(in_);
}

void own_process::enable() {
  if (std::exchange(is_enabled_, true)) return;
  visit_objects([](adaptyst_object& object) { detail::fetch_add(object.recorder, 1); });
}

// An object that is loaded while another object is recorded has begun as recorded.
void own_process::record(std::uint64_t control_block, bool wanted) {
  if (recording_.empty() && !wanted) return;
  const bool was_wanted = recording_.count(control_block) != 0;
  if (wanted) recording_.insert(control_block);
  else recording_.erase(control_block);
  visit_objects([&](adaptyst_object& object) {
    if (reinterpret_cast<std::uint64_t>(&object) != control_block) return;
    if (wanted && !was_wanted && detail::load(object.recorder) == 0) detail::fetch_add(object.recorder, 1);
    if (!wanted) detail::store(object.recorder, 0);
  });
}

void own_process::release() noexcept {
  if (!std::exchange(claimed_, false) || id() != getpid()) return;  // else they belong to the parent
  try {
    const bool all = std::exchange(is_enabled_, false);
    const std::set<std::uint64_t> recording = std::exchange(recording_, {});
    if (all || !recording.empty())
      visit_objects([&](adaptyst_object& object) {
        if (!all && recording.count(reinterpret_cast<std::uint64_t>(&object)) == 0) return;
        if (detail::load(object.recorder) != 0) detail::fetch_add(object.recorder, -1);
      });
    if (in_.traced_process == static_cast<std::uint32_t>(id())) in_.traced_process = 0;
    release_budget(own_state(state()));
  } catch (const std::exception& failed) {
    complain(failed.what());
  }
}

}  // namespace adaptyst::lib
