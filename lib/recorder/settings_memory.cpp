// A memory file with an observer's settings. The observed program maps it; other_memory or held_memory reads everything
// else of that program.
#include "settings_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <utility>

#include "../support/error.hpp"

namespace adaptyst::lib {

namespace {

using detail::observer_settings;

constexpr std::size_t first_setting = offsetof(observer_settings, sampled_floor);

}  // namespace

settings_memory::settings_memory(const memory& process_memory, const detail::level_settings& levels)
    : process_memory_(process_memory), file_(static_cast<int>(detail::make_memory_file())) {
  const auto fail = [](int number) {
    throw error("cannot make memory for the settings of a program under observation", number,
                "allow the observer more open files (ulimit -n), files of 1 MiB and more (ulimit -f), and memory");
  };
  if (sizeof(observer_settings) > detail::file_limit()) fail(EFBIG);  // writing the file would cause a signal
  if (file_.get() < 0 || ftruncate(file_.get(), sizeof(observer_settings)) != 0) fail(errno);
  void* const mapped = mmap(nullptr, sizeof(observer_settings), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapped == MAP_FAILED) fail(errno);
  ours_ = static_cast<observer_settings*>(mapped);
  ours_->magic = detail::settings_magic;
  ours_->levels = levels;
  file_.reset(static_cast<int>(detail::seal_store(file_.release())));
  if (file_) return;
  const int number = errno;
  munmap(mapped, sizeof *ours_);
  fail(number);
}

settings_memory::~settings_memory() { munmap(ours_, sizeof *ours_); }

void settings_memory::end(std::uint64_t markers) noexcept {
  detail::store_release(ours_->over, std::uint64_t{1});
  for (std::uint64_t at = 0; at != std::min<std::uint64_t>(markers, detail::max_sites); ++at)
    detail::store_release(ours_->steps[at], detail::unclaimed_step);
}

descriptor settings_memory::file() const noexcept {
  return descriptor(file_ ? fcntl(file_.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

void settings_memory::mapped_at(std::uint64_t address) noexcept {
  base_ = address;
  file_.reset();  // saves a descriptor, as there may be thousands of processes
}

bool settings_memory::holds(std::uint64_t address, std::size_t bytes) const noexcept {
  const std::uint64_t at = address - base_;
  return base_ != 0 && address % 8 == 0 && at >= first_setting && at < sizeof(observer_settings) &&
         bytes <= sizeof(observer_settings) - at;
}

bool settings_memory::read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept {
  if (!holds(address, bytes)) return process_memory_.read(address, buffer, bytes);
  return own_memory().read(reinterpret_cast<std::uint64_t>(ours_) + (address - base_), buffer, bytes);
}

bool settings_memory::write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept {
  errno = EPERM;
  return holds(address, bytes) &&
         own_memory().write(reinterpret_cast<std::uint64_t>(ours_) + (address - base_), from, bytes);
}

}  // namespace adaptyst::lib
