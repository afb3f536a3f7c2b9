// Spans by block of windows, in limited memory: further spans go to an unnamed file.
#ifndef ADAPTYST_LIB_DISTRIBUTE_SPAN_STORE_HPP
#define ADAPTYST_LIB_DISTRIBUTE_SPAN_STORE_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "../analyse/variability/parts.hpp"
#include "../trace/spill_file.hpp"

namespace adaptyst::lib {

// For one thread. Spans are in pages, which are mapped once and passed from block to block: a vector for each block
// would be copied when it grows, and would cost a page fault for each 4 KiB.
class span_store {
 public:
  // Keeps at most `max_bytes` in memory. Throws error if there is no memory.
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
  // The number of spans of a block.
  std::uint64_t count(std::uint64_t block) const;
  // Visits the spans of a block in parts, in order of arrival except for those in the file, and removes them.
  using taker = std::function<void(const kept_span* spans, std::size_t count)>;
  void take(std::uint64_t block, const taker& to);

  // 8 million windows.
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
    std::uint64_t count = 0;  // of full pages and spilled spans
    std::vector<extent> spilled;
  };
  void refuse_more_than_known(std::uint64_t block) const;
  void add_page(kept_block& to);
  void give_back(page* page) noexcept;
  void spill();
  void spill(kept_block& block);

  spill_file& beyond_;
  std::size_t max_pages_, used_pages_ = 0;
  page* pages_ = nullptr;       // the mapping of all pages
  std::size_t made_pages_ = 0;  // pages used so far
  page* free_ = nullptr;
  std::unordered_map<std::uint64_t, kept_block> blocks_;
  kept_block* last_ = nullptr;
  std::uint64_t last_block_ = 0;
};

}  // namespace adaptyst::lib

#endif
