#include "loaded_objects.hpp"

#include <adaptyst/detail/process.hpp>
#include <algorithm>
#include <cstring>

#include "../support/loader_walk.hpp"

namespace adaptyst::lib {

std::vector<std::string> files_with_markers() {
  std::vector<std::string> files;
  const loader_walk alone;
  detail::for_each_object([&](adaptyst_object&, const detail::loaded_object& object) {
    std::string file = *object.path != '\0' ? object.path : "/proc/self/exe";
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(std::move(file));
    return true;
  });
  return files;
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
              {*object.path != '\0' ? object.path : "/proc/self/exe", abi});
        return 0;
      },
      &found);
  return found;
}

}  // namespace adaptyst::lib
