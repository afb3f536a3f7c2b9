#include "process_objects.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adaptyst/detail/process.hpp>
#include <cstring>
#include <memory>

#include "../support/error.hpp"
#include "../support/loader_walk.hpp"

namespace adaptyst::lib {

namespace {

constexpr const char* own_program = "/proc/self/exe";

bool leads_to(const std::string& name, const mapping& piece) {
  struct stat there {};
  return stat(name.c_str(), &there) == 0 && there.st_dev == piece.identity.first &&
         there.st_ino == piece.identity.second;
}

}  // namespace

std::vector<process_object> loaded_objects() {
  std::vector<process_object> found;
  {
    const loader_walk alone;
    detail::for_each_object([&](adaptyst_object& object, const detail::loaded_object& in) {
      found.push_back(
          {*in.path != '\0' ? in.path : own_program, reinterpret_cast<std::uint64_t>(&object), nullptr, {}});
      return true;
    });
  }
  const std::vector<mapping> mapped = find_mapped_pieces(getpid());
  for (process_object& object : found) {
    const mapping* const data = find_holder(mapped, object.control_block);
    if (data != nullptr && !leads_to(object.file, *data)) object.file = name_from_here(getpid(), *data);
    try {
      object.markers = std::make_shared<const elf_markers>(find_elf_markers(object.file));
      if (data != nullptr)
        object.no_probes_because = why_no_probes(mapped, *data, object.control_block, *object.markers);
      else
        object.no_probes_because = fmt::format(
            "cannot attach to the probes of {}: the program has moved its data to other memory", object.file);
    } catch (const error& failed) {
      object.no_probes_because = failed.summary();
    }
  }
  return found;
}

std::vector<foreign_object> foreign_objects() {
  std::vector<foreign_object> found;
  const loader_walk alone;
  detail::system::for_each_object(
      [](void* info, std::size_t, void* list) {
        detail::loaded_object object;
        std::memcpy(&object, info, sizeof object);
        std::uint32_t abi = 0;
        detail::control_block(object, &abi);
        if (abi != 0)
          static_cast<std::vector<foreign_object>*>(list)->push_back(
              {*object.path != '\0' ? object.path : own_program, abi});
        return 0;
      },
      &found);
  return found;
}

}  // namespace adaptyst::lib
