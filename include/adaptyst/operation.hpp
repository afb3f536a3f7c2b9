// Tells of work that a device does on its own, while the host goes on.
//
//   adaptyst::operation copy = adaptyst::submit("upload", gpu, queue, adaptyst::operation_kind::copy_to,
//                                               upload_payload{.bytes = n});
//   ...                                            // any thread, any time later
//   copy.complete(started_ns, ended_ns);           // CLOCK_MONOTONIC, as of adaptyst::now_ns()
//
// The operation belongs to the region that is open when it is submitted, and is booked on the device; what the device
// does at once is counted once in its busy time. Times must be submitted <= started <= ended, otherwise the operation
// is counted as lost (bad_times). The device's busy time is exact as long as no operation completes after 64 later,
// disjoint ones have; what comes later still is counted as late.
//
// Cost while nobody looks: a comparison and a branch, and the arguments: unlike a macro's they are evaluated. Thread-safe; one operation must not be completed
// by two threads at once. An operation that is never completed stays open in the account.
#ifndef ADAPTYST_OPERATION_HPP
#define ADAPTYST_OPERATION_HPP

#include "detail/clock.hpp"
#include "device.hpp"
#include "region.hpp"

#ifndef ADAPTYST_DISABLE
#include "detail/device_id.hpp"
#endif

namespace adaptyst { inline namespace v1 {

// CLOCK_MONOTONIC, for those who have no device clock of their own. 20 ns, any thread, signal-safe.
inline uint64_t now_ns() noexcept { return detail::monotonic_ns(); }

enum class operation_kind : uint32_t { kernel, copy_to, copy_from, fill, other };

#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // as in region.hpp
#endif

// Move-only.
class [[nodiscard]] operation {
 public:
  operation() noexcept = default;  // of nothing; complete() does nothing
#ifdef ADAPTYST_DISABLE
  operation(operation&&) noexcept = default;
  operation& operator=(operation&&) noexcept = default;
  template <class = void>
  void complete(uint64_t, uint64_t) noexcept {}
#else
  operation(const detail::pending& submitted, uint64_t submitted_ns) noexcept
      : pending_(submitted), submitted_ns_(submitted_ns) {}
  operation(operation&& from) noexcept : pending_(from.pending_), submitted_ns_(from.submitted_ns_) {
    from.pending_.path = nullptr;
  }
  operation& operator=(operation&& from) noexcept {
    pending_ = from.pending_;
    submitted_ns_ = from.submitted_ns_;
    if (this != &from) from.pending_.path = nullptr;
    return *this;
  }

  // When the device began and finished, CLOCK_MONOTONIC. A second call does nothing.
  template <class = void>
  void complete(uint64_t started_ns, uint64_t ended_ns) noexcept;

 private:
  detail::pending pending_{};
  uint64_t submitted_ns_ = 0;
#endif
};

#ifdef ADAPTYST_DISABLE

template <class Name, class Queue, class... Payload>
operation submit(const Name&, const device&, Queue, operation_kind, const Payload&...) noexcept {
  return {};
}
}  // namespace disabled

#else

// `queue` is whatever the program calls its queue or stream, a number or a pointer. No report tells queues apart yet.
template <class Name, class Queue>
operation submit(const Name& name, const device& on, Queue queue, operation_kind kind,
                 const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                 uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept;

// With a payload: needs <adaptyst/payload.hpp>.
template <class Name, class Queue, class Payload>
operation submit(const Name& name, const device& on, Queue queue, operation_kind kind, const Payload& payload,
                 const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                 uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept;

namespace detail {

template <class = void>
ADAPTYST_DETAIL_HIDDEN inline operation submit_event(text name, const device& on, operation_kind kind,
                                                     const payload_values* payload, const char* file,
                                                     const char* function, uint32_t line) noexcept {
  site marker{nullptr, 0, file, function, line, ADAPTYST_SITE_KERNEL + static_cast<uint32_t>(kind), nullptr};
  const pending begun = begin_pending(marker, name, device_access::id_of(on), payload);
  if (begun.path == nullptr) return {};
  // Not from the calibrated counter: its line drifts off CLOCK_MONOTONIC, in which the device's times are, by
  // microseconds a minute, and work may start within less after it was submitted.
  return {begun, monotonic_ns()};
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void complete_operation(const pending& done,
                                                                                uint64_t submitted_ns,
                                                                                uint64_t started_ns,
                                                                                uint64_t ended_ns) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  {
    const writing now(r);
    if (started_ns < submitted_ns || ended_ns < started_ns) {
      renew_if_stale(r);
      if (done.epoch != r.epoch) return;
      bump(r.handles, -1);
      bump(r.begun, -1);
      count_loss(r, loss::bad_times);
      return;
    }
    if (!book_handle(r, done, ended_ns - started_ns)) return;
    with_device(r.owner->devices[done.path->device - 1], [&](device_entry& entry) {
      const uint32_t kind = done.path->site->kind;
      const bool copy = kind == ADAPTYST_SITE_COPY_TO || kind == ADAPTYST_SITE_COPY_FROM;
      entry.busy.add(started_ns, ended_ns);
      if (kind == ADAPTYST_SITE_KERNEL) entry.kernels.add(started_ns, ended_ns);
      if (kind == ADAPTYST_SITE_KERNEL || copy) entry.kernels_and_copies.add(started_ns, ended_ns);
      if (copy) entry.copies.add(started_ns, ended_ns);
      entry.queue_wait_ns += started_ns - submitted_ns;
    });
  }
  if (load(adaptyst_object_v1.region_end) != 0)
    end_probe (*r.owner)(done.path->site->name, done.path->id, started_ns, ended_ns, ended_ns - started_ns, done.path);
  if (load(adaptyst_object_v1.event) != 0)
    adaptyst_probe_operation(done.path->site->name, done.path->id, submitted_ns, started_ns, ended_ns, done.path);
}

}  // namespace detail

template <class>
void operation::complete(uint64_t started_ns, uint64_t ended_ns) noexcept {
  if (pending_.path == nullptr) return;
  detail::complete_operation(pending_, submitted_ns_, started_ns, ended_ns);
  pending_.path = nullptr;
}

template <class Name, class Queue>
operation submit(const Name& name, const device& on, Queue, operation_kind kind, const char* file, const char* function,
                 uint32_t line) noexcept {
  if (!detail::is_awake()) return {};
  return detail::submit_event(detail::text_of_event(name), on, kind, nullptr, file, function, line);
}

template <class Name, class Queue, class Payload>
operation submit(const Name& name, const device& on, Queue, operation_kind kind, const Payload& payload,
                 const char* file, const char* function, uint32_t line) noexcept {
  if (!detail::is_awake()) return {};
  const detail::payload_reader<Payload> values(payload);
  return detail::submit_event(detail::text_of_event(name), on, kind, &values.read(), file, function, line);
}

#endif

}}  // namespace adaptyst::v1

#endif
