#include "arena_copy.hpp"

#include <adaptyst/detail/recorder_store.hpp>
#include <algorithm>
#include <cstddef>
#include <cstring>

namespace adaptyst::lib {

arena_copy::arena_copy(const memory& process_memory, std::uint64_t store)
    : process_memory_(process_memory), from_(store + offsetof(detail::recorder_store, arena)) {
  std::uint64_t used = 0;
  if (!process_memory.read(store + offsetof(detail::recorder_store, arena_used), used)) return;
  const std::size_t bytes = std::min<std::uint64_t>(used, detail::arena_bytes) & ~std::uint64_t{7};
  copy_.reset(new char[bytes]);  // not cleared: every byte is written
  if (process_memory.read(from_, copy_.get(), bytes)) bytes_ = bytes;
}

const char* arena_copy::find(std::uint64_t address, std::size_t bytes) const noexcept {
  const bool is_present = address >= from_ && address - from_ < bytes_ && bytes <= bytes_ - (address - from_);
  return is_present ? copy_.get() + (address - from_) : nullptr;
}

bool arena_copy::read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept {
  const char* const there = find(address, bytes);
  if (there == nullptr) return process_memory_.read(address, buffer, bytes);
  std::memcpy(buffer, there, bytes);
  return true;
}

bool arena_copy::write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept {
  return process_memory_.write(address, from, bytes);
}

std::string arena_copy::text(std::uint64_t address, std::size_t max_bytes) const {
  const char* const there = find(address, 1);
  if (there == nullptr) return process_memory_.text(address, max_bytes);
  const std::size_t rest = bytes_ - (address - from_);
  const std::size_t length = strnlen(there, std::min(max_bytes, rest));
  return length == rest ? process_memory_.text(address, max_bytes) : std::string(there, length);
}

}  // namespace adaptyst::lib
