// Spans by the block of windows that they belong to, in limited memory: what is more goes to a file without a name.
#ifndef ADAPTYST_LIB_DISTRIBUTE_SPAN_STORE_HPP
#define ADAPTYST_LIB_DISTRIBUTE_SPAN_STORE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "../analyse/variability/parts.hpp"
#include "../support/descriptor.hpp"

namespace adaptyst::lib {

// A file that is gone with the process, in $TMPDIR or /tmp. Thread-safe.
class spill_file {
 public:
  // Returns where they are. Throws error where the disk is full.
  std::uint64_t write(const kept_span* spans, std::size_t count);
  void read(std::uint64_t at, kept_span* spans, std::size_t count) const;
  std::uint64_t bytes() const noexcept { return end_; }

 private:
  void open();

  std::mutex mutex_;  // of opening it
  std::string folder_;
  descriptor file_;
  std::atomic<std::uint64_t> end_{0};
};

// Of one thread.
class span_store {
 public:
  // At most `max_bytes` are kept in memory.
  span_store(spill_file& beyond, std::size_t max_bytes) : beyond_(beyond), max_count_(max_bytes / sizeof(kept_span)) {}

  void add(std::uint64_t block, const kept_span& span) {
    if (last_ == nullptr || block != last_block_) {
      if (blocks_.size() == max_blocks) refuse(block);
      last_ = &blocks_[block];
      last_block_ = block;
    }
    last_->spans.push_back(span);
    if (++count_ >= max_count_) spill();
  }

  std::vector<std::uint64_t> blocks() const;
  // Puts the spans of a block behind those that are there, and forgets them.
  void take(std::uint64_t block, std::vector<kept_span>& to);

 private:
  struct extent {
    std::uint64_t at = 0;
    std::size_t count = 0;
  };
  struct kept_block {
    std::vector<kept_span> spans;
    std::vector<extent> spilled;
  };
  // More would be 8 million windows.
  static constexpr std::size_t max_blocks = std::size_t{1} << 17U;
  void refuse(std::uint64_t block) const;
  void spill();

  spill_file& beyond_;
  std::size_t max_count_, count_ = 0;
  std::unordered_map<std::uint64_t, kept_block> blocks_;
  kept_block* last_ = nullptr;
  std::uint64_t last_block_ = 0;
};

}  // namespace adaptyst::lib

#endif
