// Records asynchronous work of a device.
//
//   adaptyst::operation copy = adaptyst::submit("upload", gpu, queue, adaptyst::operation_kind::copy_to,
//                                               adaptyst::work{bytes});
//   ...                                            // any thread, any time later
//   copy.complete(started_ns, ended_ns);           // CLOCK_MONOTONIC, as of adaptyst::now_ns()
//
// The operation belongs to the region that is open in submit(), and is recorded on the device. Overlapping operations
// count once in its busy time. Times must be submitted <= started <= ended, none of them 0; otherwise the operation is
// counted as lost (bad_times). A device_clock (adapter/) converts times of another clock.
//
// Operations may complete in any order, on any thread. Figures of devices are exact as long as none completes after
// 450,000 later-started operations of the process; later ones are counted as late. Use ADAPTYST_WAIT (offload.hpp)
// where the host waits.
//
// Cost when idle: a comparison, a branch and the arguments, which are evaluated (unlike a macro's). When enabled:
// docs/overhead.md. Thread-safe; two threads must not complete one operation at the same time. Operations that never
// complete stay open in the account; their number is unlimited. Threads share no lock and no written memory, except
// while one sums completed operations, about every 8,000 (detail/device_activity.hpp).
#ifndef ADAPTYST_OPERATION_HPP
#define ADAPTYST_OPERATION_HPP

#include "detail/clock.hpp"
#include "detail/device.hpp"
#include "region.hpp"

#ifndef ADAPTYST_DISABLE
#include "detail/operations.hpp"
#endif

namespace adaptyst { inline namespace v1 {

// CLOCK_MONOTONIC, for adapters without a device clock. 20 ns, any thread, signal-safe.
inline uint64_t now_ns() noexcept { return detail::monotonic_ns(); }

enum class operation_kind : uint32_t { kernel, copy_to, copy_from, fill, other };

// Why an operation has no times.
enum class operation_loss : uint32_t {
  no_times,       // the device did not report when it ran
  unknown_clock,  // the clock of the reported times cannot be converted
  device_lost,    // it never ends, or its handle was released before
};

// Amount of work of an operation, without <adaptyst/payload.hpp>. 0: does not apply.
struct work {
  uint64_t bytes = 0;
  double flops = 0;
};

#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // as in region.hpp
#endif

// Place and time of a submission, for adapters that learn later which work it was: a launch of many kernels, or a
// library that reports afterwards. 32 bytes, trivially copyable.
class submission {
 public:
  submission() noexcept = default;  // empty; operations made from it do nothing
#ifdef ADAPTYST_DISABLE
  explicit operator bool() const noexcept { return false; }
#else
  explicit operator bool() const noexcept { return where_.submitted_ns != 0; }

  // For submit().
  explicit submission(const detail::handed_over& where) noexcept : where_(where) {}
  const detail::handed_over& where() const noexcept { return where_; }

 private:
  detail::handed_over where_{};
#endif
};

// Move-only.
class [[nodiscard]] operation {
 public:
  operation() noexcept = default;  // empty; complete() does nothing
#ifdef ADAPTYST_DISABLE
  operation(operation&&) noexcept = default;
  operation& operator=(operation&&) noexcept = default;
  explicit operator bool() const noexcept { return false; }
  template <class = void>
  void complete(uint64_t, uint64_t) noexcept {}
  template <class = void>
  void abandon(operation_loss) noexcept {}
#else
  explicit operation(const detail::pending_operation& submitted) noexcept : pending_(submitted) {}
  operation(operation&& from) noexcept : pending_(from.pending_) { from.pending_.begun.path = nullptr; }
  operation& operator=(operation&& from) noexcept {
    pending_ = from.pending_;
    if (this != &from) from.pending_.begun.path = nullptr;
    return *this;
  }

  // True while it is observed and not yet completed.
  explicit operator bool() const noexcept { return pending_.begun.path != nullptr; }

  // Start and end on the device, CLOCK_MONOTONIC. A second call does nothing.
  template <class = void>
  void complete(uint64_t started_ns, uint64_t ended_ns) noexcept;

  // Counts the operation as lost, with this reason.
  template <class = void>
  void abandon(operation_loss why) noexcept;

 private:
  detail::pending_operation pending_{};
#endif
};

#ifdef ADAPTYST_DISABLE

inline submission submitting() noexcept { return {}; }

template <class Name, class Queue, class... Payload>
operation submit(const Name& name, const device&, Queue, operation_kind, const Payload&...) noexcept {
  return static_cast<void>(detail::to_text(name)), operation{};
}
template <class Name, class Queue, class... Payload>
operation submit(const submission&, const Name& name, const device&, Queue, operation_kind,
                 const Payload&...) noexcept {
  return static_cast<void>(detail::to_text(name)), operation{};
}
}  // namespace disabled

#else

// The submission of this thread, now.
template <class = void>
submission submitting() noexcept {
  return detail::is_enabled() ? submission{detail::hand_over()} : submission{};
}

// `queue` is the program's number or pointer of its queue or stream. Operations of one queue are expected to run one
// after the other.
template <class Name, class Queue>
operation submit(const Name& name, const device& on, Queue queue, operation_kind kind,
                 const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                 uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept;

// With a payload: adaptyst::work, or any aggregate with <adaptyst/payload.hpp>.
template <class Name, class Queue, class Payload>
operation submit(const Name& name, const device& on, Queue queue, operation_kind kind, const Payload& payload,
                 const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                 uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept;

// For work that any thread submitted before.
template <class Name, class Queue, class Payload>
operation submit(const submission& when, const Name& name, const device& on, Queue queue, operation_kind kind,
                 const Payload& payload, const char* file = __builtin_FILE(),
                 const char* function = __builtin_FUNCTION(),
                 uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept;

template <class>
void operation::complete(uint64_t started_ns, uint64_t ended_ns) noexcept {
  if (pending_.begun.path == nullptr) return;
  detail::complete_operation(pending_, started_ns, ended_ns);
  pending_.begun.path = nullptr;
}

template <class>
void operation::abandon(operation_loss why) noexcept {
  if (pending_.begun.path == nullptr) return;
  detail::abandon_operation(pending_.begun, static_cast<detail::loss>(static_cast<uint32_t>(detail::loss::no_times) +
                                                                      static_cast<uint32_t>(why)));
  pending_.begun.path = nullptr;
}

namespace detail {

template <>
struct payload_reader<work, true> {
  explicit payload_reader(const work& amount) noexcept
      : values_{names, 2, {nullptr, 0}, {static_cast<double>(amount.bytes), amount.flops}} {}
  const payload_values& read() const noexcept { return values_; }

 private:
  static constexpr const char* names[] = {"bytes", "flops"};
  payload_values values_;
};

template <class = void>
ADAPTYST_DETAIL_INLINE uint32_t to_site_kind(operation_kind kind) noexcept {
  return ADAPTYST_SITE_KERNEL + static_cast<uint32_t>(kind);
}

}  // namespace detail

template <class Name, class Queue>
operation submit(const Name& name, const device& on, Queue queue, operation_kind kind, const char* file,
                 const char* function, uint32_t line) noexcept {
  if (!detail::is_enabled()) return {};
  return operation{detail::submit_event(detail::to_event_text(name), device_access::get_id(on),
                                        detail::to_site_kind(kind), detail::queue_number(queue), nullptr, file,
                                        function, line, nullptr)};
}

template <class Name, class Queue, class Payload>
operation submit(const Name& name, const device& on, Queue queue, operation_kind kind, const Payload& payload,
                 const char* file, const char* function, uint32_t line) noexcept {
  if (!detail::is_enabled()) return {};
  const detail::payload_reader<Payload> values(payload);
  return operation{detail::submit_event(detail::to_event_text(name), device_access::get_id(on),
                                        detail::to_site_kind(kind), detail::queue_number(queue), &values.read(), file,
                                        function, line, nullptr)};
}

template <class Name, class Queue, class Payload>
operation submit(const submission& when, const Name& name, const device& on, Queue queue, operation_kind kind,
                 const Payload& payload, const char* file, const char* function, uint32_t line) noexcept {
  if (!when || !detail::is_enabled()) return {};
  const detail::payload_reader<Payload> values(payload);
  return operation{detail::submit_event(detail::to_event_text(name), device_access::get_id(on),
                                        detail::to_site_kind(kind), detail::queue_number(queue), &values.read(), file,
                                        function, line, &when.where())};
}

#endif

}}  // namespace adaptyst::v1

#endif
