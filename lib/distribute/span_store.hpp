// Spans by the block of windows that they belong to, in limited memory: what is more goes to a file without a name.
#ifndef ADAPTYST_LIB_DISTRIBUTE_SPAN_STORE_HPP
#define ADAPTYST_LIB_DISTRIBUTE_SPAN_STORE_HPP

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  struct piece {
    const void* bytes;
    std::size_t count;
  };
  // One behind the other; returns where they begin. Throws error where the disk is full.
  std::uint64_t write(const std::vector<piece>& pieces);
  void read(std::uint64_t at, void* to, std::size_t bytes) const;
  std::uint64_t bytes() const noexcept { return end_; }

 private:
  void open();

  std::mutex mutex_;  // of opening it
  std::string folder_;
  descriptor file_;
  std::atomic<std::uint64_t> end_{0};
};

// Of one thread. Spans stand in pages, which are mapped once and given from block to block: a vector for each block would be
// copied whenever it grows, and cost a page fault for each 4 KiB anew.
class span_store {
 public:
  // At most `max_bytes` are kept in memory. Throws error where there is no memory.
  span_store(spill_file& beyond, std::size_t max_bytes);
  ~span_store();
  span_store(const span_store&) = delete;
  span_store& operator=(const span_store&) = delete;

  void add(std::uint64_t block, const kept_span& span) {
    if (last_ == nullptr || block != last_block_) {
      if (blocks_.size() == max_blocks) refuse_more_than_known(block);
      last_ = &blocks_[block];
      last_block_ = block;
    }
    if (last_->last_page == nullptr || last_->last_page->count == page::capacity) add_page(*last_);
    last_->last_page->spans[last_->last_page->count++] = span;
  }

  std::vector<std::uint64_t> blocks() const;
  // How many spans a block has.
  std::uint64_t count(std::uint64_t block) const;
  // The spans of a block, some at a time, as they came but for what went to the file; they are forgotten.
  using taker = std::function<void(const kept_span* spans, std::size_t count)>;
  void take(std::uint64_t block, const taker& to);

  // That is 8 million windows.
  static constexpr std::size_t max_blocks = std::size_t{1} << 17U;
  [[noreturn]] static void refuse_blocks();

 private:
  struct page {
    static constexpr std::size_t capacity = 170;
    page* next;
    std::size_t count;
    kept_span spans[capacity];
  };
  static_assert(sizeof(page) == 4096);

  struct extent {
    std::uint64_t at = 0;
    std::size_t count = 0;
  };
  struct kept_block {
    page *first_page = nullptr, *last_page = nullptr;
    std::uint64_t count = 0;  // of full pages, and of what was spilled
    std::vector<extent> spilled;
  };
  void refuse_more_than_known(std::uint64_t block) const;
  void add_page(kept_block& to);
  void give_back(page* one) noexcept;
  void spill();
  void spill(kept_block& block);

  spill_file& beyond_;
  std::size_t max_pages_, used_pages_ = 0;
  page* pages_ = nullptr;       // all of them, mapped
  std::size_t made_pages_ = 0;  // those that were ever used
  page* free_ = nullptr;
  std::unordered_map<std::uint64_t, kept_block> blocks_;
  kept_block* last_ = nullptr;
  std::uint64_t last_block_ = 0;
};

}  // namespace adaptyst::lib

#endif
