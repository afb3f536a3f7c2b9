#include "nsys_tables.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace adaptyst::lib::nsys {

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
