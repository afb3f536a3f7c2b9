// What happened when, as a timeline shows it.
#ifndef ADAPTYST_LIB_MODEL_TRACED_EVENT_HPP
#define ADAPTYST_LIB_MODEL_TRACED_EVENT_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <string>

namespace adaptyst::lib {

struct traced_site {
  std::string name;  // with the payload's texts in brackets
  region_kind kind = region_kind::region;
  std::uint32_t device = 0;
  const traced_site* parent = nullptr;  // of the call path around it; null at its root, or where it is not known
};

enum class traced_as {
  scope,      // nests with others of its thread
  handle,     // may end on another thread, and overlap anything
  operation,  // of a device
  metric,
  mark,
};

// A span of time, as of an event, a call or a piece of work. A reader makes one by bad_rows::take_span(), which checks it.
struct time_span {
  std::uint64_t begin_ns = 0, end_ns = 0;

  std::uint64_t duration_ns() const noexcept { return end_ns - begin_ns; }
};

// Its times are of CLOCK_MONOTONIC, or of the trace's clock.
struct traced_event : time_span {
  traced_as as = traced_as::scope;
  const traced_site* site = nullptr;  // never null; outlives the reader's next look
  std::uint32_t thread = 0;           // that it happened on; of an operation, that submitted it
  std::uint64_t submitted_ns = 0;     // 0: not known
  std::uint64_t queue = 0;
  double value = 0;
  std::uint64_t correlation = 0;  // that links an operation with the call that submitted it, in its process; 0: none
  std::uint64_t bytes = 0;        // of a copy or a fill
};

}  // namespace adaptyst::lib

#endif
