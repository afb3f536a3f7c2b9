// Submission, completion and loss of operations.
#ifndef ADAPTYST_DETAIL_OPERATIONS_CALLS_HPP
#define ADAPTYST_DETAIL_OPERATIONS_CALLS_HPP

#include "device_id_calls.hpp"
#include "handle_calls.hpp"
#include "operations.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The longest duration of a histogram, 19 hours. Times of a wrong clock mostly exceed it.
constexpr uint64_t max_operation_ns = uint64_t{1} << 46;

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN handed_over hand_over() noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return {};
  recorder& r = *opened;
  const writing now(r);
  return {current_path(r), monotonic_ns(), r.epoch, load(r.thread)};
}

struct begin_of_operation : begin_of_handle {
  pending_operation& made;
  const handed_over* when;  // null: now
  const adaptyst_site** cached_record = nullptr;

  ADAPTYST_DETAIL_INLINE begin_of_operation(pending_operation& into, const handed_over* at) noexcept
      : begin_of_handle(into.begun), made(into), when(at) {}
  ADAPTYST_DETAIL_INLINE bool is_passed_over(recorder& r, const event_source& from) noexcept {
    if (when != nullptr && when->epoch != r.epoch) return true;  // of an earlier collector
    // The same work is often submitted again: comparing its texts takes a third of the time of hashing them.
    site& marker = from.marker;
    const uint64_t place = mix(reinterpret_cast<uintptr_t>(from.name.data) ^ (uint64_t{marker.line} << 32));
    cached_record = &r.submitted[place >> (64 - submitted_log2)];
    if (*cached_record != nullptr &&
        is_record_for(**cached_record, from.name, marker.kind, marker.file, marker.function, marker.line) &&
        is_record_with(**cached_record, from.payload)) {
      marker.name = from.name.data;
      marker.record = *cached_record;
    }
    return false;
  }
  // Skipped events are found again as fast as recorded events.
  ADAPTYST_DETAIL_INLINE void remember(const adaptyst_site* record) const noexcept {
    if (record != nullptr) *cached_record = record;
  }
  ADAPTYST_DETAIL_INLINE const adaptyst_path* parent(const recorder& r) const noexcept {
    return when != nullptr ? when->region : current_path(r);
  }
  ADAPTYST_DETAIL_INLINE void open(recorder& r, const row& where, const event_source& from) const noexcept {
    begin_of_handle::open(r, where, from);
    made.thread = when != nullptr ? when->thread : load(r.thread);
  }
  // Not from the calibrated counter: it drifts from CLOCK_MONOTONIC, the clock of device times, by microseconds per
  // minute. Work may start sooner than that after its submission.
  ADAPTYST_DETAIL_INLINE void start(const recorder&) const noexcept {
    made.submitted_ns = when != nullptr ? when->submitted_ns : monotonic_ns();
  }
};

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending_operation
submit_event(text name, uint32_t device, uint32_t kind, uint64_t queue, const payload_values* payload, const char* file,
             const char* function, uint32_t line, const handed_over* when) noexcept {
  pending_operation made{};
  made.queue = queue;
  if (device == 0) device = max_devices + 1;  // the look-up failed, and it is not the host
  site marker{nullptr, 0, file, function, line, kind, nullptr};
  begin_of_operation how(made, when);
  begin_event(how, {marker, name, device, payload});
  return made;
}

// An operation that is not recorded.
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

// The end of an operation, in the device's times.
struct end_of_operation : end_of_handle {
  const pending_operation& submitted;

  ADAPTYST_DETAIL_INLINE end_of_operation(const pending_operation& of, uint64_t started_ns, uint64_t ended_ns) noexcept
      : end_of_handle(of.begun, started_ns, ended_ns, ended_ns - started_ns), submitted(of) {}
  ADAPTYST_DETAIL_INLINE row* close(recorder& r, ended_event& done) const noexcept {
    if (begin >= submitted.submitted_ns && end >= begin && end - submitted.submitted_ns <= max_operation_ns)
      return end_of_handle::close(r, done);
    lose_operation(r, begun, loss::bad_times);
    return nullptr;
  }
  ADAPTYST_DETAIL_INLINE void book(recorder& r, row& where, const ended_event& done) const noexcept {
    add_numbers(where, done);
    book_entry(
        *r.owner->store, r.epoch, r.booking,
        {begin, end, submitted.submitted_ns, submitted.queue, done.path->device, to_work(done.path->site->kind)});
    if (r.ring != nullptr)
      trace_operation(*r.ring, done.path, submitted.submitted_ns, begin, end, submitted.queue, submitted.thread);
  }
  ADAPTYST_DETAIL_INLINE void report(const recorder& r, const ended_event& done) const noexcept {
    end_probe (*r.owner)(done.path->site->name, done.path->id, begin, end, duration_ns, done.path);
  }
};

template <class>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void complete_operation(const pending_operation& done,
                                                                         uint64_t started_ns,
                                                                         uint64_t ended_ns) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr || !end_event(*opened, end_of_operation(done, started_ns, ended_ns))) return;
  const adaptyst_path* const path = done.begun.path;
  if (load(adaptyst_object_v5.event) != 0)
    adaptyst_probe_operation(path->site->name, path->id, done.submitted_ns, started_ns, ended_ns, path);
}

}}}  // namespace adaptyst::v1::detail

#endif
