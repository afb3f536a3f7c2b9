#include "loaded_objects.hpp"

#include <adaptyst/detail/process.hpp>
#include <algorithm>

namespace adaptyst::lib {

std::vector<std::string> files_with_markers() {
  std::vector<std::string> files;
  detail::for_each_object([&](adaptyst_object&, const detail::loaded_object& object) {
    std::string file = *object.path != '\0' ? object.path : "/proc/self/exe";
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(std::move(file));
    return true;
  });
  return files;
}

}  // namespace adaptyst::lib
