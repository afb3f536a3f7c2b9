#include "held_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adaptyst/detail/recorder_store.hpp>
#include <algorithm>
#include <cstring>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

held_memory::held_memory(descriptor file, const memory& process_memory, bool in_file)
    : file_(std::move(file)), process_memory_(process_memory) {
  struct stat status {};
  detail::store_head head{};
  // Without the seals, its owner could shorten it during a read, or another process could write it.
  const bool is_safe = in_file || detail::is_store(file_.get());
  if (is_safe && fstat(file_.get(), &status) == 0 &&
      pread(file_.get(), &head, sizeof head, 0) == static_cast<ssize_t>(sizeof head) &&
      head.magic == detail::store_magic && head.bytes == static_cast<std::uint64_t>(status.st_size) &&
      head.base % detail::page_bytes == 0 && head.base + head.bytes > head.base) {
    base_ = head.base;
    bytes_ = head.bytes;
    return;
  }
  throw error("a program has handed over a file that is no store of recorders", 0,
              "build it with the headers of this version");
}

bool held_memory::holds(std::uint64_t address, std::size_t bytes) const noexcept {
  return address >= base_ && address - base_ <= bytes_ && bytes <= bytes_ - (address - base_);
}

bool held_memory::read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept {
  if (!holds(address, bytes)) return process_memory_.read(address, buffer, bytes);
  return pread(file_.get(), buffer, bytes, static_cast<off_t>(address - base_)) == static_cast<ssize_t>(bytes);
}

bool held_memory::write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept {
  return process_memory_.write(address, from, bytes);
}

std::string held_memory::text(std::uint64_t address, std::size_t max_bytes) const {
  if (!holds(address, 1)) return process_memory_.text(address, max_bytes);
  std::string read(std::min<std::uint64_t>(max_bytes, base_ + bytes_ - address), '\0');
  const ssize_t got = pread(file_.get(), read.data(), read.size(), static_cast<off_t>(address - base_));
  read.resize(got > 0 ? strnlen(read.data(), static_cast<std::size_t>(got)) : 0);
  return read;
}

}  // namespace adaptyst::lib
