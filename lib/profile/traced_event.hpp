// What happened when, as a timeline shows it.
#ifndef ADAPTYST_LIB_PROFILE_TRACED_EVENT_HPP
#define ADAPTYST_LIB_PROFILE_TRACED_EVENT_HPP

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

struct traced_event {
  traced_as as = traced_as::scope;
  const traced_site* site = nullptr;  // never null; outlives the reader's next look
  std::uint32_t thread = 0;           // that it happened on; of an operation, that submitted it
  std::uint64_t submitted_ns = 0;     // CLOCK_MONOTONIC, as the next two
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::uint64_t queue = 0;
  double value = 0;
  std::uint64_t correlation = 0;  // that links an operation with the call that submitted it, in its process; 0: none
  std::uint64_t bytes = 0;        // of a copy or a fill
};

}  // namespace adaptyst::lib

#endif
