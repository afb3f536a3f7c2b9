// What an event log is made of, as docs/event-log.md describes it.
#ifndef ADAPTYST_LIB_TRACE_EVENT_LOG_FORMAT_HPP
#define ADAPTYST_LIB_TRACE_EVENT_LOG_FORMAT_HPP

#include <zlib.h>

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adaptyst::lib {

constexpr std::string_view event_log_name = "adaptyst event log ";  // the first line, with the version
constexpr int event_log_version = 1;
// Kinds are written as their numbers.
static_assert(static_cast<int>(region_kind::metric) == 10, "a new kind goes behind those that files have");

// In front of a block's records.
struct log_block_head {
  std::uint32_t checksum;  // Adler-32 of all behind it
  std::uint32_t bytes;     // of the records, with log_has_names
};
static_assert(sizeof(log_block_head) == 8, "two numbers of four bytes, the lowest first");
constexpr std::size_t log_checksum_bytes = sizeof(log_block_head::checksum);

// Of what stands behind it in the block. `bytes`: log_max_block at most.
inline std::uint32_t block_checksum(std::string_view bytes) noexcept {
  return static_cast<std::uint32_t>(
      adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

constexpr std::uint32_t log_has_names = std::uint32_t{1} << 31U;  // not only places and events
// A block takes no further record once it has so many bytes, so it has at most one more.
constexpr std::size_t log_block_bytes = std::size_t{1} << 16U;
constexpr std::size_t log_max_text = std::size_t{1} << 16U;  // longer ones are cut
constexpr std::uint32_t log_max_block = std::uint32_t{1} << 19U;

enum class log_record : std::uint8_t {
  begin = 1,  // when time 0 was
  process = 2,
  thread = 3,
  device = 4,
  site = 5,   // numbered as they come, from 1
  place = 6,  // process and thread of the events behind it, in its block
  loss = 7,
  end = 8,           // all is there
  span = 0x10,       // from here on, events: with the bits below
  handle = 0x20,     // that does not nest
  operation = 0x30,  // of a device
  metric = 0x40,
  mark = 0x50,
};

// In the low bits of an event's first byte: what else is in it.
constexpr std::uint8_t log_has_submission = 1, log_has_correlation = 2, log_has_bytes = 4, log_has_all = 7;

}  // namespace adaptyst::lib

#endif
