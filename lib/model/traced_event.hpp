// An event of a timeline.
#ifndef ADAPTYST_LIB_MODEL_TRACED_EVENT_HPP
#define ADAPTYST_LIB_MODEL_TRACED_EVENT_HPP

#include <adaptyst/profile.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace adaptyst::lib {

// "#RRGGBB" of the colour of a site; empty without one.
inline std::string to_color_text(std::uint32_t color) {
  constexpr const char* digits = "0123456789abcdef";
  if (color == 0) return {};
  std::string made = "#";
  for (int shift = 20; shift >= 0; shift -= 4) made += digits[(color >> shift) & 0xF];
  return made;
}

// 0xFFRRGGBB of such a text; 0: it is none.
inline std::uint32_t read_color_text(std::string_view text) {
  if (text.size() != 7 || text[0] != '#') return 0;
  std::uint32_t rgb = 0;
  const auto [end, failure] = std::from_chars(text.data() + 1, text.data() + text.size(), rgb, 16);
  return failure == std::errc() && end == text.data() + text.size() ? rgb | 0xFF000000U : 0;
}

struct traced_site {
  std::string name;  // with the payload's texts in brackets
  region_kind kind = region_kind::region;
  std::uint32_t device = 0;
  const traced_site* parent = nullptr;     // of the call path around it; null at the root or if unknown
  std::optional<adaptyst::level> level{};  // if the trace contains one
  std::uint32_t color = 0;                 // 0xFFRRGGBB; 0: none given
  std::uint64_t path = 0;                  // id of the call path; 0: unknown
  std::string file{};                      // of the source; empty: unknown
  std::uint32_t line = 0;                  // in it; 0: unknown
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

// A communicator of MPI.
struct traced_communicator {
  std::string name;
  std::vector<std::uint32_t> ranks;  // of the world, in the order of this communicator; empty: unknown
};

// A message that a call of MPI sent or received, or a collective call. Unknown values are absent.
struct traced_message {
  enum class form : std::uint8_t { send, receive, collective };
  form what = form::send;
  const traced_communicator* communicator = nullptr;
  std::optional<std::uint32_t> peer;  // rank in the communicator; of a collective call, the root
  std::optional<std::uint32_t> tag;
  std::optional<std::uint64_t> bytes;           // of a collective call, the sent ones; absent: those of the event
  std::optional<std::uint64_t> received_bytes;  // of a collective call

  bool operator<(const traced_message& other) const {
    return std::tie(what, communicator, peer, tag, bytes, received_bytes) <
           std::tie(other.what, other.communicator, other.peer, other.tag, other.bytes, other.received_bytes);
  }
};
using traced_messages = std::vector<traced_message>;  // of a call, in order

// Its times are of CLOCK_MONOTONIC or of the trace's clock.
struct traced_event : time_span {
  traced_as as = traced_as::scope;
  const traced_site* site = nullptr;  // never null; valid until the next read
  std::uint32_t thread = 0;           // the thread of the event; for an operation, the thread that submitted it
  std::uint64_t submitted_ns = 0;     // 0: unknown
  std::uint64_t queue = 0;
  double value = 0;
  std::uint64_t correlation = 0;  // links an operation to the call of its process that submitted it; 0: none
  std::uint64_t bytes = 0;        // of a copy, a fill or the only message
  const traced_messages* messages = nullptr;  // of a call of MPI; null: unknown; valid as long as the site

  // Absent: unknown.
  std::optional<std::uint64_t> bytes_of(const traced_message& message) const {
    return message.bytes || bytes == 0 ? message.bytes : std::optional(bytes);
  }
};

}  // namespace adaptyst::lib

#endif
