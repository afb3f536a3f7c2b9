// How operations are submitted, completed and lost.
#ifndef ADAPTYST_DETAIL_OPERATIONS_CALLS_HPP
#define ADAPTYST_DETAIL_OPERATIONS_CALLS_HPP

#include "device_id_calls.hpp"
#include "handle_calls.hpp"
#include "operations.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The longest duration that a histogram can hold, 19 hours. Times that were taken in another clock than the program
// says mostly give a longer one.
constexpr uint64_t max_operation_ns = uint64_t{1} << 46;

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN handed_over hand_over() noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return {};
  recorder& r = *opened;
  const writing now(r);
  return {current_path(r), monotonic_ns(), r.epoch, load(r.thread)};
}

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending_operation
submit_event(text name, uint32_t device, uint32_t kind, uint64_t queue, const payload_values* payload, const char* file,
             const char* function, uint32_t line, const handed_over* when) noexcept {
  pending_operation made{};
  recorder* const opened = open_recorder();
  if (opened == nullptr) return made;
  recorder& r = *opened;
  if (device == 0) device = max_devices + 1;  // it could not be looked up, and is not the host
  {
    const writing now(r);
    if (when != nullptr && when->epoch != r.epoch) return made;  // of an earlier collector
    site marker{nullptr, 0, file, function, line, kind, nullptr};
    // Mostly the same work is submitted again: comparing its texts takes a third of the time of hashing them.
    const uint64_t place = mix(reinterpret_cast<uintptr_t>(name.data) ^ (uint64_t{line} << 32));
    const adaptyst_site*& known = r.submitted[place >> (64 - submitted_log2)];
    if (known != nullptr && is_record_for(*known, name, kind, file, function, line) &&
        is_record_with(*known, payload)) {
      marker.name = name.data;
      marker.record = known;
    }
    // What is left out is found again as fast as what is recorded.
    if (ADAPTYST_DETAIL_UNLIKELY(load(r.owner->has_deeper) != 0)) {
      const adaptyst_site* const record = find_record(*r.owner, marker, name, payload);
      if (record != nullptr && is_deeper(r, *record)) return known = record, made;
    }
    if (!begin_pending_below(r, when != nullptr ? when->region : current_path(r), marker, name, device, payload,
                             made.begun))
      return made;
    known = made.begun.path->site;
    made.thread = when != nullptr ? when->thread : load(r.thread);
    made.queue = queue;
  }
  // Not from the calibrated counter: its line drifts off CLOCK_MONOTONIC, in which the device's times are, by
  // microseconds a minute, and work may start within less after it was submitted.
  made.submitted_ns = when != nullptr ? when->submitted_ns : monotonic_ns();
  return made;
}

// An operation that will not be booked.
template <class = void>
ADAPTYST_DETAIL_COLD inline void lose_operation(recorder& r, const pending& begun, loss why) noexcept {
  if (begun.epoch != r.epoch) return;
  bump(r.begun, -1);
  count_loss(r, why);
}

template <class>
ADAPTYST_DETAIL_COLD void abandon_operation(const pending& begun, loss why) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  const writing now(*opened);
  lose_operation(*opened, begun, why);
}

ADAPTYST_DETAIL_INLINE device_work to_work(uint32_t site_kind) noexcept {
  if (site_kind == ADAPTYST_SITE_KERNEL) return device_work::kernel;
  return site_kind == ADAPTYST_SITE_OTHER ? device_work::other : device_work::copy;
}

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void complete_operation(const pending_operation& done,
                                                                         uint64_t started_ns,
                                                                         uint64_t ended_ns) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  const adaptyst_path* const path = done.begun.path;
  {
    const writing now(r);
    if (started_ns < done.submitted_ns || ended_ns < started_ns || ended_ns - done.submitted_ns > max_operation_ns)
      return lose_operation(r, done.begun, loss::bad_times);
    if (!book_handle(r, done.begun, ended_ns - started_ns)) return;
    const ledger_entry entry{started_ns, ended_ns,     done.submitted_ns,
                             done.queue, path->device, to_work(path->site->kind)};
    book_entry(*r.owner->store, r.epoch, r.booking, entry);
    if (r.ring != nullptr)
      trace_operation(*r.ring, path, done.submitted_ns, started_ns, ended_ns, done.queue, done.thread);
  }
  if (load(adaptyst_object_v3.region_end) != 0)
    end_probe (*r.owner)(path->site->name, path->id, started_ns, ended_ns, ended_ns - started_ns, path);
  if (load(adaptyst_object_v3.event) != 0)
    adaptyst_probe_operation(path->site->name, path->id, done.submitted_ns, started_ns, ended_ns, path);
}

}}}  // namespace adaptyst::v1::detail

#endif
