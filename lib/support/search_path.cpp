#include "search_path.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace adaptyst::lib {

std::string program_called(const std::string& word) {
  const auto is_program = [](const std::string& file) {
    std::error_code missing;
    return std::filesystem::is_regular_file(file, missing) && access(file.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) return is_program(word) ? word : std::string();
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':') && !word.empty();) {
    std::string file = (std::filesystem::path(folder) / word).string();
    if (is_program(file)) return file;
  }
  return {};
}

}  // namespace adaptyst::lib
