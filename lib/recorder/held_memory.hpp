// The store of another process, kept by its descriptor: it exists as long as the descriptor, even after the process has
// ended. Or a store that a process has left in a file.
#ifndef ADAPTYST_LIB_RECORDER_HELD_MEMORY_HPP
#define ADAPTYST_LIB_RECORDER_HELD_MEMORY_HPP

#include <cstdint>
#include <string>

#include "../support/descriptor.hpp"
#include "memory.hpp"

namespace adaptyst::lib {

class held_memory final : public memory {
 public:
  // `process_memory`: for all other reads of the process, and for all writes; must outlive this. Throws error unless it
  // is a store that is sealed against being shortened. A store `in_file` may be shortened, and is not read beyond its
  // end.
  held_memory(descriptor file, const memory& process_memory, bool in_file = false);

  // The store's address in the process.
  std::uint64_t address() const noexcept { return base_; }

  using memory::read;
  using memory::write;
  // By pread() and not by a mapping: in a mapping, the read of a page that was never written would create it.
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override;
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept override;
  std::string text(std::uint64_t address, std::size_t max_bytes) const override;
  unsigned patience() const noexcept override { return 3; }

 private:
  bool holds(std::uint64_t address, std::size_t bytes) const noexcept;

  descriptor file_;
  const memory& process_memory_;
  std::uint64_t base_ = 0, bytes_ = 0;
};

}  // namespace adaptyst::lib

#endif
