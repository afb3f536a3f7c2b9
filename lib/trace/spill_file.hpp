// An unnamed file for data that exceeds the memory limit.
#ifndef ADAPTYST_LIB_TRACE_SPILL_FILE_HPP
#define ADAPTYST_LIB_TRACE_SPILL_FILE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "../support/descriptor.hpp"

namespace adaptyst::lib {

// A file in $TMPDIR or /tmp that ends with the process. Thread-safe.
class spill_file {
 public:
  struct piece {
    const void* bytes;
    std::size_t count;
  };
  // Writes the pieces one after the other; returns their position. Throws error if the disk is full.
  std::uint64_t write(const std::vector<piece>& pieces);
  void read(std::uint64_t at, void* to, std::size_t bytes) const;
  std::uint64_t bytes() const noexcept { return end_; }

 private:
  void open();

  std::mutex mutex_;  // for opening the file
  std::string folder_;
  descriptor file_;
  std::atomic<std::uint64_t> end_{0};
};

}  // namespace adaptyst::lib

#endif
