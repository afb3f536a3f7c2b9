#include "regular_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>

#include "error.hpp"

namespace adaptyst::lib {

namespace {

// The copies by the names of the open files, for callers that open a file again by its path().
std::mutex copies_mutex;
std::map<std::string, int>& copies() {
  static auto& all = *new std::map<std::string, int>;
  return all;
}

// For all copies together: they are in memory.
constexpr std::size_t max_copied_bytes = std::size_t{512} << 20;
std::size_t copied_bytes = 0;

std::size_t size_of(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

int find_copy(const std::string& name) {
  const std::lock_guard lock(copies_mutex);
  const auto entry = copies().find(name);
  return entry != copies().end() ? entry->second : -1;
}

}  // namespace

regular_file::regular_file(const std::string& name, std::string_view wanted, const std::string& hint) {
  const int copy = find_copy(name);
  file_ = open_regular(copy < 0 ? name : fmt::format("/proc/self/fd/{}", copy));
  const int number = errno;
  const auto fail = [&](std::string_view why, int because) {
    throw error(fmt::format("cannot open {} to find its {}{}", name, wanted, why), name, because, hint);
  };
  if (!file_.file) fail(number == 0 ? ": not a regular file" : "", number);
  if (!file_.contents) return;
  const std::size_t bytes = size_of(file_.contents.get());
  const std::lock_guard lock(copies_mutex);
  if (bytes > max_copied_bytes - copied_bytes) fail(": files in user space (FUSE) need more than 512 MiB", 0);
  copied_bytes += bytes;
  copies()[path()] = file_.contents.get();
}

regular_file::~regular_file() {
  if (!file_.contents) return;
  const std::lock_guard lock(copies_mutex);
  copies().erase(path());
  copied_bytes -= size_of(file_.contents.get());
}

int regular_file::descriptor() const noexcept { return (file_.contents ? file_.contents : file_.file).get(); }

std::string regular_file::path() const { return fmt::format("/proc/self/fd/{}", file_.file.get()); }

std::size_t regular_file::read(std::uint64_t offset, void* buffer, std::size_t bytes) const noexcept {
  const ssize_t got = pread(descriptor(), buffer, bytes, static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

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
