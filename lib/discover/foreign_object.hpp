// An ELF object whose markers were built with headers of another ABI version: they stay asleep, and the report says so.
#ifndef ADAPTYST_LIB_DISCOVER_FOREIGN_OBJECT_HPP
#define ADAPTYST_LIB_DISCOVER_FOREIGN_OBJECT_HPP

#include <adaptyst/probe_abi.h>
#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace adaptyst::lib {

struct foreign_object {
  std::string file;
  std::uint32_t abi;
};

inline std::string display_name(const foreign_object& object) {
  return fmt::format("{} was built for ABI version {}, not {}", object.file, object.abi, int{ADAPTYST_ABI_VERSION});
}

}  // namespace adaptyst::lib

#endif
