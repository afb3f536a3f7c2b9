// Memory of a process, this one or another, so that one reader of recorders works for both.
#ifndef ADAPTYST_LIB_RECORDER_MEMORY_HPP
#define ADAPTYST_LIB_RECORDER_MEMORY_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace adaptyst::lib {

// A pointer from another process is only a number here.
template <class T>
std::uint64_t as_address(const T* there) noexcept {
  return reinterpret_cast<std::uint64_t>(there);
}

class memory {
 public:
  virtual ~memory() = default;

  // Copies from an address that is a multiple of 8, word by word, each word in one access; false: not readable. Writes
  // work in the same way, after all earlier reads.
  virtual bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept = 0;
  // False, with errno: not permitted, or no such memory.
  virtual bool write(std::uint64_t address, const void* from, std::size_t bytes) const noexcept = 0;
  // The text at this address, without its NUL, at most `max_bytes` bytes; empty if not readable.
  virtual std::string text(std::uint64_t address, std::size_t max_bytes) const = 0;
  // The number of attempts if a writer interferes.
  virtual unsigned patience() const noexcept = 0;

  template <class T>
  bool read(std::uint64_t address, T& value) const noexcept {
    static_assert(sizeof(T) % 8 == 0);
    return read(address, static_cast<void*>(&value), sizeof value);
  }
  template <class T>
  bool write(std::uint64_t address, const T& from) const noexcept {
    return write(address, static_cast<const void*>(&from), sizeof from);
  }
};

// This process. A read of an unreadable address ends it.
const memory& own_memory();

}  // namespace adaptyst::lib

#endif
