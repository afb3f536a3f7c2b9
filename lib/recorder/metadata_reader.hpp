// Reads the metadata that a process has set with adaptyst::metadata().
#ifndef ADAPTYST_LIB_RECORDER_METADATA_READER_HPP
#define ADAPTYST_LIB_RECORDER_METADATA_READER_HPP

#include <adaptyst/detail/recorder_state.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "recorder_reader.hpp"

namespace adaptyst::lib {

struct program_metadata {
  std::map<std::string, std::string> values;
  std::uint64_t lost = 0;  // calls without room for their data
};

inline program_metadata read_metadata(const process_state& state) {
  program_metadata made;
  detail::store_head head{};
  const std::uint64_t table = state.address + offsetof(detail::recorder_store, metadata);
  std::uint64_t count = 0;
  if (state.address == 0 || !state.in->read(state.address, head) || head.layout != detail::state_layout ||
      !state.in->read(table + offsetof(detail::metadata_table, calls), count))
    return made;
  const std::uint64_t kept = std::min<std::uint64_t>(count, detail::max_metadata);
  made.lost = count - kept;
  for (std::uint64_t at = 0; at != kept; ++at) {
    detail::metadata_entry entry{};
    const std::uint64_t place = table + offsetof(detail::metadata_table, entries) + at * sizeof entry;
    // Read first: the rest is copied in any order.
    if (!state.in->read(place + offsetof(detail::metadata_entry, is_present), entry.is_present)) break;
    if (entry.is_present == 0) continue;  // it is being written
    detail::fence_acquire();
    if (!state.in->read(place, entry)) break;
    made.values[std::string(entry.name, strnlen(entry.name, sizeof entry.name))] =
        std::string(entry.value, strnlen(entry.value, sizeof entry.value));
  }
  return made;
}

}  // namespace adaptyst::lib

#endif
