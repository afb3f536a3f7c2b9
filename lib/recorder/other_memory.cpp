// A child reads and writes /proc/PID/mem. Writing is allowed only where the process itself could write: the descriptor
// would allow more.
#include "other_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>

#include "../support/process_maps.hpp"
#include "../support/reading_process.hpp"

namespace adaptyst::lib {

void other_memory::open() {
  close();
  image_ = find_image_number(process_);
  descriptor_ = ::open(fmt::format("/proc/{}/mem", process_).c_str(), (to_write_ ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  why_not_ = descriptor_ < 0 ? errno : 0;
  if (find_image_number(process_) != image_) image_ = 0;
  // Checked now: the check covers a setuid program that started before the descriptor was opened, not a later one.
  const std::optional<process_rights> rights = read_rights(process_);
  may_write_ = rights && rights->have_one_user() && (!rights_ || rights->follow(*rights_));
  if (!rights_ || may_write_) rights_ = rights;
}

void other_memory::close() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  why_not_ = ESRCH;
  writable_.clear();
  lost_ns_ = 0;
}

bool other_memory::is_gone() const noexcept { return descriptor_ >= 0 && is_memory_gone(memory_of_program()); }

bool other_memory::has_hung() const noexcept { return descriptor_ >= 0 && lib::has_hung(process_); }

int other_memory::refusal() const noexcept {
  return descriptor_ >= 0 || why_not_ == ESRCH || why_not_ == ENOENT ? 0 : why_not_;
}

bool other_memory::has_our_user() const noexcept {
  return may_write_ && rights_->users[0] == geteuid() && rights_->users[0] != 0;
}

bool other_memory::read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept {
  const ssize_t done = descriptor_ >= 0 ? read_memory(memory_of_program(), buffer, bytes, address) : -1;
  if (descriptor_ < 0) errno = why_not_;
  else if (done == 0) errno = ESRCH;
  return done == static_cast<ssize_t>(bytes);
}

// Adjacent ranges are joined; in the order of addresses.
std::vector<other_memory::range> other_memory::writable_ranges() const {
  constexpr std::string_view memory_store = "/memfd:adaptyst";
  constexpr std::string_view kept_store = ".kept";
  std::vector<range> found;
  for_each_mapping(process_, [&](const mapping& piece) {
    // The only writable shared mappings are stores, which the process itself could write.
    const bool is_store = piece.path.compare(0, memory_store.size(), memory_store) == 0 ||
                          piece.path.find(kept_store) != std::string::npos;
    if (!piece.readable || !piece.writable || (piece.shared && !is_store)) return;
    if (!found.empty() && found.back().end == piece.begin) found.back().end = piece.end;
    else found.push_back({piece.begin, piece.end});
  });
  return found;
}

// The descriptor would also write where the process itself cannot.
bool other_memory::is_writable(std::uint64_t address, std::size_t bytes) const {
  const auto is_among = [&] {
    const auto above = std::upper_bound(writable_.begin(), writable_.end(), address,
                                        [](std::uint64_t wanted, const range& piece) { return wanted < piece.begin; });
    return above != writable_.begin() && bytes <= std::prev(above)->end - std::min(address, std::prev(above)->end);
  };
  if (is_among()) return true;
  // A process with unmapped addresses must not keep this process busy.
  constexpr std::uint64_t between_misses_ns = 100'000'000;
  const std::uint64_t now_ns = detail::monotonic_ns();
  if (lost_ns_ != 0 && now_ns - lost_ns_ < between_misses_ns) return false;
  writable_ = writable_ranges();
  const bool found = is_among();
  lost_ns_ = found ? 0 : now_ns;
  return found;
}

bool other_memory::write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept {
  errno = descriptor_ < 0 ? why_not_ : EPERM;
  if (descriptor_ < 0 || !may_write_ || !to_write_) return false;
  try {
    if (!is_writable(address, bytes)) {
      errno = EFAULT;
      return false;
    }
  } catch (const std::exception&) {  // no memory for the list
    errno = ENOMEM;
    return false;
  }
  const ssize_t done = write_memory(memory_of_program(), from, bytes, address);
  if (done == 0) errno = ESRCH;
  return done == static_cast<ssize_t>(bytes);
}

std::string other_memory::text(std::uint64_t address, std::size_t max_bytes) const {
  constexpr std::uint64_t page = 4096;
  std::string read(max_bytes, '\0');
  std::size_t done = 0;
  while (done < max_bytes) {  // a page at a time: the next page may not exist, nor be needed
    const std::size_t part = std::min<std::uint64_t>(max_bytes - done, page - (address + done) % page);
    if (!this->read(address + done, read.data() + done, part)) break;
    done += part;
    if (std::memchr(read.data() + done - part, 0, part) != nullptr) break;
  }
  read.resize(strnlen(read.data(), done));
  return read;
}

}  // namespace adaptyst::lib
