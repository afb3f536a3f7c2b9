#include "library_files.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace adaptyst::lib {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> library_directories() {
  std::vector<fs::path> all;
  if (const char* const first = std::getenv("LD_LIBRARY_PATH")) {
    std::istringstream parts(first);
    for (std::string one; std::getline(parts, one, ':');)
      if (!one.empty()) all.emplace_back(one);
  }
  for (const char* const one : {"/usr/local/lib", "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64",
                                "/usr/lib64", "/lib", "/usr/lib"})
    all.emplace_back(one);
  return all;
}

// Beside libx.so.1 lie libx.a and libx.la.
bool is_shared(const fs::path& file) { return file.filename().string().find(".so") != std::string::npos; }

std::vector<std::string> mapped_files(pid_t process) {
  std::vector<std::string> found;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path != std::string::npos) found.push_back(line.substr(path));
  }
  return found;
}

}  // namespace

std::vector<std::string> files_for(const function_request& request, pid_t process) {
  if (request.file.find('/') != std::string::npos) return {request.file};
  std::vector<std::string> found;
  std::set<fs::path> seen;
  const auto consider = [&](const fs::path& file) {
    std::error_code missing;
    const fs::path real = fs::canonical(file, missing);
    if (!missing && seen.insert(real).second) found.push_back(real.string());
  };
  for (const std::string& file : mapped_files(process))
    if (is_for(request, file)) consider(file);
  if (!found.empty()) return found;
  for (const fs::path& directory : library_directories()) {
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, missing))
      if (is_shared(entry.path()) && is_for(request, entry.path().string())) consider(entry.path());
    if (!found.empty()) break;  // the loader stops at the first directory, too
  }
  return found;
}

}  // namespace adaptyst::lib
