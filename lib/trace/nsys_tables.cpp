#include "nsys_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "sqlite_database.hpp"

namespace adaptyst::lib::nsys {

bool is_event_table(std::string_view name) {
  const auto begins_with = [name](std::string_view what) { return is_same_name(name.substr(0, what.size()), what); };
  return begins_with("CUPTI_ACTIVITY_") || begins_with("NVTX_EVENTS");
}

bool is_read(std::string_view name) {
  const auto all = {kernels, graphs, copies, fills, runtime, ranges};
  return std::any_of(all.begin(), all.end(), [name](const char* one) { return is_same_name(name, one); });
}

const char* copy_kind(std::int64_t kind) {
  static constexpr std::array names = {"copy, kind unknown",     "copy host to device",
                                       "copy device to host",    "copy host to array",
                                       "copy array to host",     "copy array to array",
                                       "copy array to device",   "copy device to array",
                                       "copy device to device",  "copy host to host",
                                       "copy device to another", "unified memory to device",
                                       "unified memory to host", "unified memory, device to device"};
  return kind >= 0 && static_cast<std::size_t>(kind) < names.size() ? names[static_cast<std::size_t>(kind)] : names[0];
}

std::string graph_name(std::int64_t id) { return fmt::format("CUDA graph {}", id); }

}  // namespace adaptyst::lib::nsys
