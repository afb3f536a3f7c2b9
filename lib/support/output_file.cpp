#include "output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "error.hpp"

namespace adaptyst::lib {

void write_file(const std::string& name, const std::string& text) {
  const auto fail = [&](int number, const std::string& partial) {
    if (!partial.empty()) unlink(partial.c_str());
    throw error(
        fmt::format("cannot write the profile to {}", name), name, number,
        "the results are not lost if the table is on (report=table); choose another place with output=FILE.json");
  };
  // A device such as /dev/full cannot be replaced, only written to.
  struct stat there {};
  const bool in_place = stat(name.c_str(), &there) == 0 && !S_ISREG(there.st_mode);
  std::string partial;
  int file = in_place ? open(name.c_str(), O_WRONLY | O_CLOEXEC) : -1;
  for (int attempt = 0; !in_place && file < 0; ++attempt) {  // a name that nobody else has, no link to elsewhere either
    partial = fmt::format("{}.{}.{}.partial", name, getpid(), attempt);
    file = open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0 && (errno != EEXIST || attempt == 99)) break;
  }
  if (file < 0) fail(errno, {});
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(file, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int number = errno;
      close(file);
      fail(number, partial);
    }
    done += static_cast<std::size_t>(wrote);
  }
  if (close(file) != 0) fail(errno, partial);
  if (!in_place && std::rename(partial.c_str(), name.c_str()) != 0) fail(errno, partial);
}

}  // namespace adaptyst::lib
