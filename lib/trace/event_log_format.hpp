// The format of an event log; docs/event-log.md describes it.
#ifndef ADAPTYST_LIB_TRACE_EVENT_LOG_FORMAT_HPP
#define ADAPTYST_LIB_TRACE_EVENT_LOG_FORMAT_HPP

#include <zlib.h>

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adaptyst::lib {

constexpr std::string_view event_log_name = "adaptyst event log ";  // the first line, before the version
constexpr int event_log_version = 3;                                // 1: without colours; 2: without levels
// Files contain the numbers of kinds.
static_assert(static_cast<int>(region_kind::metric) == 10, "a new kind goes behind those that files have");

// Precedes the records of a block.
struct log_block_head {
  std::uint32_t checksum;  // Adler-32 of the rest of the block
  std::uint32_t bytes;     // of the records, with log_has_names
};
static_assert(sizeof(log_block_head) == 8, "two numbers of four bytes, the lowest first");
constexpr std::size_t log_checksum_bytes = sizeof(log_block_head::checksum);

// Checksum of the part of a block after the checksum. `bytes`: log_max_block at most.
inline std::uint32_t block_checksum(std::string_view bytes) noexcept {
  return static_cast<std::uint32_t>(
      adler32(adler32(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

constexpr std::uint32_t log_has_names = std::uint32_t{1} << 31U;  // contains other records than places and events
// A block is closed when it reaches this size, so it exceeds it by at most one record.
constexpr std::size_t log_block_bytes = std::size_t{1} << 16U;
constexpr std::size_t log_max_text = std::size_t{1} << 16U;  // longer texts are cut
constexpr std::uint32_t log_max_block = std::uint32_t{1} << 19U;

enum class log_record : std::uint8_t {
  begin = 1,  // the time of day at time 0
  process = 2,
  thread = 3,
  device = 4,
  site = 5,   // numbered from 1 in the order of the file
  place = 6,  // process and thread of the following events in its block
  loss = 7,
  end = 8,           // the log is complete
  color = 9,         // of a site before it
  level = 10,        // of a site before it
  span = 0x10,       // from this number on: events, with the bits below
  handle = 0x20,     // does not nest
  operation = 0x30,  // of a device
  metric = 0x40,
  instant_event = 0x50,
};

// The low bits of an event's first byte: its optional fields.
constexpr std::uint8_t log_has_submission = 1, log_has_correlation = 2, log_has_bytes = 4, log_has_all = 7;

}  // namespace adaptyst::lib

#endif
