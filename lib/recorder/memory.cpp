#include "memory.hpp"

#include <cstring>

#include "../support/never_destroyed.hpp"

namespace adaptyst::lib {

namespace {

class this_memory final : public memory {
 public:
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override {
    const auto* const from = reinterpret_cast<const std::uint64_t*>(address);
    auto* const words = static_cast<unsigned char*>(buffer);
    for (std::size_t at = 0; at != bytes / sizeof *from; ++at) {
      const std::uint64_t word = __atomic_load_n(from + at, __ATOMIC_ACQUIRE);
      std::memcpy(words + at * sizeof word, &word, sizeof word);
    }
    return true;
  }
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept override {
    auto* const place = reinterpret_cast<std::uint64_t*>(address);
    const auto* const words = static_cast<const unsigned char*>(from);
    for (std::size_t at = 0; at != bytes / sizeof *place; ++at) {
      std::uint64_t word;
      std::memcpy(&word, words + at * sizeof word, sizeof word);
      __atomic_store_n(place + at, word, __ATOMIC_RELEASE);
    }
    return true;
  }
  std::string text(std::uint64_t address, std::size_t max_bytes) const override {
    const char* const from = reinterpret_cast<const char*>(address);
    return std::string(from, strnlen(from, max_bytes));
  }
  unsigned patience() const noexcept override { return 3000; }
};

}  // namespace

const memory& own_memory() {
  static const this_memory& only = never_destroyed(this_memory());
  return only;
}

}  // namespace adaptyst::lib
