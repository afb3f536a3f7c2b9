// Operations between submit() and complete().
#ifndef ADAPTYST_DETAIL_OPERATIONS_HPP
#define ADAPTYST_DETAIL_OPERATIONS_HPP

#include "device_id.hpp"
#include "handle.hpp"
#include "loss.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Place and time of a submission.
struct handed_over {
  const adaptyst_path* region;  // null: outside all regions
  uint64_t submitted_ns;        // 0: idle
  uint64_t epoch;
  uint64_t thread;
};

struct pending_operation {
  pending begun;
  uint64_t submitted_ns;
  uint64_t queue;
  uint64_t thread;  // the submitting thread
};

template <class Queue>
ADAPTYST_DETAIL_INLINE uint64_t queue_number(Queue queue) noexcept {
  return static_cast<uint64_t>(queue);
}
template <class Queue>
ADAPTYST_DETAIL_INLINE uint64_t queue_number(Queue* queue) noexcept {
  return reinterpret_cast<uintptr_t>(queue);
}
ADAPTYST_DETAIL_INLINE uint64_t queue_number(decltype(nullptr)) noexcept { return 0; }

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN handed_over hand_over() noexcept;
// `when`: null for now.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN pending_operation
submit_event(text name, uint32_t device, uint32_t kind, uint64_t queue, const payload_values* payload, const char* file,
             const char* function, uint32_t line, const handed_over* when) noexcept;
template <class = void>
ADAPTYST_DETAIL_COLD void abandon_operation(const pending& begun, loss why) noexcept;
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN void complete_operation(const pending_operation& done,
                                                                         uint64_t started_ns,
                                                                         uint64_t ended_ns) noexcept;

}}}  // namespace adaptyst::v1::detail

#ifndef ADAPTYST_LINK_MARKERS
#include "operations_calls.hpp"
#endif

#endif
