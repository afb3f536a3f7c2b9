// Memory of a process that never was: an address space of 4 GiB in which only the pages are readable that something was
// written to. Written as a list of pokes, so that whatever changes in the list changes words at addresses, and so that
// a pointer is a number like any other.
#ifndef ADAPTYST_TESTS_FUZZ_POKED_MEMORY_HPP
#define ADAPTYST_TESTS_FUZZ_POKED_MEMORY_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "recorder/memory.hpp"

namespace fuzz {

// One 8-byte word. The address is a multiple of 8; what is above it is the number of reads, of those after which an
// earlier late poke was done, before this one is: a process goes on while it is being read, and may do so in malice.
struct poke {
  static constexpr std::size_t bytes = 12;
  std::uint32_t address_and_delay;
  std::uint64_t value;

  std::uint32_t address() const { return address_and_delay & ~7U; }
  unsigned delay() const { return address_and_delay & 7U; }

  static poke from(const std::uint8_t* data) {
    poke made{};
    std::memcpy(&made.address_and_delay, data, sizeof made.address_and_delay);
    std::memcpy(&made.value, data + sizeof made.address_and_delay, sizeof made.value);
    return made;
  }
  void to(std::uint8_t* data) const {
    std::memcpy(data, &address_and_delay, sizeof address_and_delay);
    std::memcpy(data + sizeof address_and_delay, &value, sizeof value);
  }
};

class poked_memory final : public adaptyst::lib::memory {
 public:
  poked_memory(const std::uint8_t* data, std::size_t size) {
    for (std::size_t at = 0; at + poke::bytes <= size; at += poke::bytes) {
      const poke change = poke::from(data + at);
      if (change.delay() == 0) apply(change);
      else late_.push_back(change);
    }
  }

  using memory::read;
  using memory::write;
  bool write(std::uint64_t, const void*, std::size_t) const noexcept override { return true; }
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override {
    go_on();
    return copy(address, static_cast<unsigned char*>(buffer), bytes);
  }
  std::string text(std::uint64_t address, std::size_t max_bytes) const override {
    go_on();
    std::string found;
    for (unsigned char character = 0;
         found.size() < max_bytes && copy(address + found.size(), &character, 1) && character != 0;)
      found += static_cast<char>(character);
    return found;
  }
  unsigned patience() const noexcept override { return 3; }

 private:
  using page = std::array<unsigned char, 4096>;

  void apply(const poke& poke) const {
    page& in = pages_[poke.address() / sizeof(page)];
    std::memcpy(in.data() + poke.address() % sizeof(page), &poke.value, sizeof poke.value);
  }

  void go_on() const {
    if (done_ == late_.size() || ++waited_ < late_[done_].delay()) return;
    waited_ = 0;
    apply(late_[done_++]);
  }

  bool copy(std::uint64_t address, unsigned char* buffer, std::size_t bytes) const {
    for (std::size_t done = 0; done != bytes;) {
      const std::uint64_t from = address + done;
      const auto found = pages_.find(from / sizeof(page));
      if (found == pages_.end()) return false;
      const std::size_t part = std::min<std::size_t>(bytes - done, sizeof(page) - from % sizeof(page));
      std::memcpy(buffer + done, found->second.data() + from % sizeof(page), part);
      done += part;
    }
    return true;
  }

  mutable std::map<std::uint64_t, page> pages_;
  std::vector<poke> late_;
  mutable std::size_t done_ = 0;
  mutable unsigned waited_ = 0;
};

}  // namespace fuzz

#endif
