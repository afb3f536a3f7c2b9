#include "regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "error.hpp"

namespace adaptyst::lib {

regular_file::regular_file(const std::string& name, std::string_view wanted, const std::string& hint) {
  const auto fail = [&](std::string_view why, int number) {
    throw error(fmt::format("cannot open {} to find its {}{}", name, wanted, why), name, number, hint);
  };
  // O_PATH does not open the file itself, so it can be examined first. The second open() gets the same file, even if
  // the name leads to another one by then.
  const int place = open(name.c_str(), O_PATH | O_CLOEXEC);
  if (place < 0) fail("", errno);
  struct stat known {};
  const bool is_regular = fstat(place, &known) == 0 && S_ISREG(known.st_mode);
  if (is_regular) descriptor_ = open(fmt::format("/proc/self/fd/{}", place).c_str(), O_RDONLY | O_CLOEXEC);
  const int number = errno;
  close(place);
  if (!is_regular) fail(": not a regular file", 0);
  if (descriptor_ < 0) fail("", number);
}

regular_file::~regular_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string regular_file::path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

std::size_t regular_file::read(std::uint64_t offset, void* buffer, std::size_t bytes) const noexcept {
  const ssize_t got = pread(descriptor_, buffer, bytes, static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace adaptyst::lib
