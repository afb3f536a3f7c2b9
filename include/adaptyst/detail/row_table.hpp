// Hash table of a thread's rows by path id, used by its thread only. It contains a few slots and grows: a thread with a
// dozen call paths touches one page. A forked child has a copy.
#ifndef ADAPTYST_DETAIL_ROW_TABLE_HPP
#define ADAPTYST_DETAIL_ROW_TABLE_HPP

#include "system.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class Row>
class row_table {
 public:
  // Empties it; also required before first use of zeroed memory.
  void clear() noexcept {
    const system::errno_kept unchanged;
    if (slots_ != nullptr && slots_ != first_slots_) system::unmap(slots_, count_ * bytes_per_slot);
    slots_ = first_slots_;
    count_ = first_count;
    __builtin_memset(static_cast<void*>(first_slots_), 0, sizeof first_slots_);
  }

  // Null if there is no such row.
  Row* find(uint64_t id) const noexcept { return *find_slot(id); }

  // Makes room for `rows` + 1, at most half full. False without memory.
  bool make_room(uint32_t rows) noexcept { return 2 * (uint64_t{rows} + 1) <= count_ || grow(); }

  // Requires room, and no row with this id.
  void insert(Row& row) noexcept { *find_slot(row.id) = &row; }

 private:
  static constexpr uint64_t first_count = 256;
  static constexpr uint64_t bytes_per_slot = sizeof(void*);

  Row** find_slot(uint64_t id) const noexcept {
    for (uint64_t at = id;; ++at) {
      Row** const slot = &slots_[at & (count_ - 1)];
      if (*slot == nullptr || (*slot)->id == id) return slot;
    }
  }

  bool grow() noexcept {
    const system::errno_kept unchanged;
    const uint64_t old_count = count_;
    Row** const old = slots_;
    void* const made =
        system::map(nullptr, 2 * old_count * bytes_per_slot, system::read_write, system::private_memory, -1, 0);
    if (reinterpret_cast<intptr_t>(made) == -1) return false;
    slots_ = static_cast<Row**>(made);
    count_ = 2 * old_count;
    for (uint64_t at = 0; at != old_count; ++at)
      if (old[at] != nullptr) insert(*old[at]);
    if (old != first_slots_) system::unmap(old, old_count * bytes_per_slot);
    return true;
  }

  Row** slots_;
  uint64_t count_;  // a power of two
  Row* first_slots_[first_count];
};

}}}  // namespace adaptyst::v1::detail

#endif
