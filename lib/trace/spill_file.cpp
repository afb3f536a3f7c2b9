#include "spill_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_parts = 256;  // of one write; Linux takes 1024

}  // namespace

void spill_file::open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_) return;
  const char* const set = std::getenv("TMPDIR");
  folder_ = set != nullptr && *set != '\0' ? set : "/tmp";
  file_.reset(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_) return;
  // Some file systems do not support unnamed files.
  std::string name = folder_ + "/adaptyst-spans-XXXXXX";
  file_.reset(mkostemp(name.data(), O_CLOEXEC));
  if (!file_)
    throw error(fmt::format("cannot make a file in {} for spans that exceed the memory limit", folder_), folder_, errno,
                "set TMPDIR to another folder");
  unlink(name.c_str());
}

std::uint64_t spill_file::write(const std::vector<piece>& pieces) {
  open();
  std::size_t bytes = 0;
  for (const piece& piece : pieces) bytes += piece.count;
  const std::uint64_t begin = end_.fetch_add(bytes);
  if (begin + bytes > max_bytes_)
    throw error(fmt::format("{} needs more than {} MiB of temporary files in {}", of_, max_bytes_ >> 20U, folder_), of_,
                0, "its size does not explain that: check where the file comes from, or uncompress it first");
  std::uint64_t at = begin;
  // In large pieces: a system call for each page costs more than the page.
  std::vector<iovec> parts;
  for (std::size_t first = 0; first != pieces.size();) {
    parts.clear();
    std::size_t wanted = 0;
    for (; first != pieces.size() && parts.size() != max_parts; ++first) {
      parts.push_back({const_cast<void*>(pieces[first].bytes), pieces[first].count});
      wanted += pieces[first].count;
    }
    iovec* part = parts.data();
    iovec* const behind = part + parts.size();
    while (wanted != 0) {
      const ssize_t written = pwritev(file_.get(), part, static_cast<int>(behind - part), static_cast<off_t>(at));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0)
        throw error(fmt::format("cannot write spans that exceed the memory limit to {}", folder_), folder_,
                    written < 0 ? errno : ENOSPC, "set TMPDIR to a folder with more free space");
      auto done = static_cast<std::size_t>(written);
      at += done;
      wanted -= done;
      for (; part != behind && done >= part->iov_len; ++part) done -= part->iov_len;
      if (part == behind) break;
      part->iov_base = static_cast<char*>(part->iov_base) + done;
      part->iov_len -= done;
    }
  }
  return begin;
}

void spill_file::read(std::uint64_t at, void* to, std::size_t bytes) const {
  for (std::size_t done = 0; done != bytes;) {
    const ssize_t got = pread(file_.get(), static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw error(fmt::format("cannot read back spans from {}", folder_), folder_, got < 0 ? errno : EIO, "");
    done += static_cast<std::size_t>(got);
  }
}

}  // namespace adaptyst::lib
