// An event of a timeline.
#ifndef ADAPTYST_LIB_MODEL_TRACED_EVENT_HPP
#define ADAPTYST_LIB_MODEL_TRACED_EVENT_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

struct traced_site {
  std::string name;  // with the payload's texts in brackets
  region_kind kind = region_kind::region;
  std::uint32_t device = 0;
  const traced_site* parent = nullptr;     // of the call path around it; null at the root or if unknown
  std::optional<adaptyst::level> level{};  // if the trace contains one
};

enum class traced_as {
  scope,      // nests with other scopes of its thread
  handle,     // may end on another thread, and overlap any event
  operation,  // on a device
  metric,
  instant_event,
};

// The time span of an event, call or operation. Readers make it with bad_rows::take_span(), which checks it.
struct time_span {
  std::uint64_t begin_ns = 0, end_ns = 0;

  std::uint64_t duration_ns() const noexcept { return end_ns - begin_ns; }
};

// Its times are of CLOCK_MONOTONIC or of the trace's clock.
struct traced_event : time_span {
  traced_as as = traced_as::scope;
  const traced_site* site = nullptr;  // never null; valid until the next read
  std::uint32_t thread = 0;           // the thread of the event; for an operation, the thread that submitted it
  std::uint64_t submitted_ns = 0;     // 0: unknown
  std::uint64_t queue = 0;
  double value = 0;
  std::uint64_t correlation = 0;  // links an operation to the call of its process that submitted it; 0: none
  std::uint64_t bytes = 0;        // of a copy or fill
};

}  // namespace adaptyst::lib

#endif
