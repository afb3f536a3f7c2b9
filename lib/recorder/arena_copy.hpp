// Copies all names of a process at once: its arena, in which a record never changes once it is referenced.
#ifndef ADAPTYST_LIB_RECORDER_ARENA_COPY_HPP
#define ADAPTYST_LIB_RECORDER_ARENA_COPY_HPP

#include <cstddef>
#include <memory>
#include <string>

#include "memory.hpp"

namespace adaptyst::lib {

class arena_copy final : public memory {
 public:
  // Records that were referenced before the copy are complete in it. `process_memory`: the memory of the process, for
  // all other reads; must outlive this. `store`: the address of its store.
  arena_copy(const memory& process_memory, std::uint64_t store);

  using memory::read;
  using memory::write;
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override;
  bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept override;
  std::string text(std::uint64_t address, std::size_t max_bytes) const override;
  unsigned patience() const noexcept override { return process_memory_.patience(); }

 private:
  const char* find(std::uint64_t address, std::size_t bytes) const noexcept;

  const memory& process_memory_;
  std::uint64_t from_;
  std::unique_ptr<char[]> copy_;
  std::size_t bytes_ = 0;
};

}  // namespace adaptyst::lib

#endif
