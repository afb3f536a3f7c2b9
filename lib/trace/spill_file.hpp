// An unnamed file for data that exceeds the memory limit.
#ifndef ADAPTYST_LIB_TRACE_SPILL_FILE_HPP
#define ADAPTYST_LIB_TRACE_SPILL_FILE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "../support/descriptor.hpp"

namespace adaptyst::lib {

// A file in $TMPDIR or /tmp that ends with the process. Thread-safe.
class spill_file {
 public:
  // `max_bytes`: write() throws error beyond it; `of`: the file that the data is from, for this error.
  explicit spill_file(std::uint64_t max_bytes = ~std::uint64_t{0}, std::string of = {})
      : max_bytes_(max_bytes), of_(std::move(of)) {}

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

  std::uint64_t max_bytes_;
  std::string of_;
  std::mutex mutex_;  // for opening the file
  std::string folder_;
  descriptor file_;
  std::atomic<std::uint64_t> end_{0};
};

}  // namespace adaptyst::lib

#endif
