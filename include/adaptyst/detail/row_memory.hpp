// Additional memory of rows: pieces of some hundred bytes. A piece is not reused within an epoch: an observer that
// follows an address finds valid data.
#ifndef ADAPTYST_DETAIL_ROW_MEMORY_HPP
#define ADAPTYST_DETAIL_ROW_MEMORY_HPP

#include "recorder_store.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

class row_memory {
 public:
  // Zeroed; null if the store is full. `bytes`: a fraction of a block.
  void* allocate(recorder_store& from, uint64_t bytes) noexcept {
    constexpr uint64_t line = 64;
    bytes = (bytes + line - 1) & ~(line - 1);
    if ((current_ == nullptr || used_ + bytes > block_bytes) && !next_block(from)) return nullptr;
    char* const made = reinterpret_cast<char*>(current_) + used_;
    used_ += bytes;
    auto* const words = reinterpret_cast<uint64_t*>(made);
    for (uint64_t at = 0; at != bytes / sizeof words[0]; ++at) store(words[at], 0);
    return made;
  }
  // A new epoch: earlier pieces are no longer read.
  void begin_anew() noexcept { current_ = nullptr; }
  // In a forked child, which has another store.
  void forget() noexcept { first_ = current_ = nullptr; }

 private:
  static constexpr uint64_t block_bytes = uint64_t{1} << 16;
  struct alignas(64) block {
    block* next;
  };

  bool next_block(recorder_store& from) noexcept {
    block*& next = current_ != nullptr ? current_->next : first_;
    if (next == nullptr) next = static_cast<block*>(from.allocate_pages(block_bytes));
    if (next == nullptr) return false;
    current_ = next;
    used_ = sizeof(block);
    return true;
  }

  block* first_;
  block* current_;  // null: none in this epoch yet
  uint64_t used_;   // bytes used of current_
};

}}}  // namespace adaptyst::v1::detail

#endif
