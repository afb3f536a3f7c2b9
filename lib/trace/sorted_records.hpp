// Records of any number in limited memory: further ones are in an unnamed file.
#ifndef ADAPTYST_LIB_TRACE_SORTED_RECORDS_HPP
#define ADAPTYST_LIB_TRACE_SORTED_RECORDS_HPP

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spill_file.hpp"

namespace adaptyst::lib {

constexpr std::size_t records_in_memory = std::size_t{1} << 19U;
constexpr std::size_t records_at_once = 4096;

// Appended, then read by number. Reading is thread-safe.
template <class Record>
class stored_records {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // The limit of the unnamed file, and the file that the records are from.
  stored_records(std::uint64_t max_bytes, std::string of) : max_bytes_(max_bytes), of_(std::move(of)) {}

  void add(const Record& record) {
    some_.push_back(record);
    ++count_;
    if (some_.size() == at_once_) spill();
  }
  // The same for all records, if there are none before.
  void add_all(std::vector<Record>&& all) {
    count_ = all.size();
    some_ = std::move(all);
  }
  // They are more than fit into memory: none is kept there.
  void expect_many() { at_once_ = records_at_once; }
  // No records can be appended after this.
  void finish() {
    if (beyond_) spill();
  }
  std::uint64_t size() const noexcept { return count_; }

  // Calls visit(record) for the records from `first` up to `last`.
  template <class Visit>
  void visit(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    last = std::min(last, count_);
    if (!beyond_) {
      for (std::uint64_t at = first; at < last; ++at) visit(some_[static_cast<std::size_t>(at)]);
      return;
    }
    std::vector<Record> read(
        static_cast<std::size_t>(std::min<std::uint64_t>(records_at_once, last - std::min(first, last))));
    for (std::uint64_t at = first; at < last; at += read.size()) {
      read.resize(static_cast<std::size_t>(std::min<std::uint64_t>(read.size(), last - at)));
      beyond_->read(at * sizeof(Record), read.data(), read.size() * sizeof(Record));
      for (const Record& element : read) visit(element);
    }
  }
  Record at(std::uint64_t number) const {
    Record found{};
    visit(number, number + 1, [&](const Record& record) { found = record; });
    return found;
  }

 private:
  void spill() {
    if (!beyond_) beyond_ = std::make_unique<spill_file>(max_bytes_, of_);
    if (!some_.empty()) beyond_->write({{some_.data(), some_.size() * sizeof(Record)}});
    some_.clear();
    at_once_ = records_at_once;
  }

  std::uint64_t max_bytes_;
  std::string of_;
  std::size_t at_once_ = records_in_memory;  // the number of records at which they are written
  std::vector<Record> some_;
  std::uint64_t count_ = 0;
  std::unique_ptr<spill_file> beyond_;
};

// Asks for large pages: on a virtual machine, the page faults of small ones cost more than the sort.
inline void prefer_large_pages(const void* begin, std::size_t bytes) noexcept {
  constexpr std::uintptr_t page = 4096;
  const std::uintptr_t from = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) & ~(page - 1);
  const std::uintptr_t to = (reinterpret_cast<std::uintptr_t>(begin) + bytes) & ~(page - 1);
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
}

// Sorts by insertion if few elements are out of order; else as std::sort().
template <class Iterator, class Less>
void sort_nearly_sorted(Iterator first, Iterator last, const Less& is_less) {
  constexpr std::ptrdiff_t moves_per_element = 8;
  std::ptrdiff_t left = (last - first) * moves_per_element;
  for (Iterator at = first; at != last && left >= 0; ++at) {
    if (at == first || !is_less(*at, *(at - 1))) continue;
    const auto moved = *at;
    Iterator to = at;
    for (; to != first && left >= 0 && is_less(moved, *(to - 1)); --to, --left) *to = *(to - 1);
    *to = moved;
  }
  if (left < 0) std::sort(first, last, is_less);
}

// Added in any order, then taken in the order of `Less`, which must be total. If it has a static member group(record),
// records are in the order of their groups, numbers from 0.
template <class Record, class Less>
class sorted_records {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // As stored_records().
  sorted_records(std::uint64_t max_bytes, std::string of) : beyond_(max_bytes, std::move(of)) {}

  void add(const Record& record) {
    // A vector that grows by itself copies all, and touches twice the memory.
    constexpr std::size_t few = records_in_memory / 32;
    if (some_.size() == few) {
      some_.reserve(records_in_memory);
      prefer_large_pages(some_.data(), some_.capacity() * sizeof(Record));
    }
    some_.push_back(record);
    if (some_.size() != records_in_memory) return;
    spill();
  }

  // All records in order, if they fit into memory.
  std::optional<std::vector<Record>> take_if_in_memory() {
    if (!runs_.empty()) return std::nullopt;
    sort_nearly_sorted(some_.begin(), some_.end(), Less{});
    return std::exchange(some_, {});
  }

  // Calls take(record) for each, and removes all.
  template <class Take>
  void take_all(const Take& take) {
    if constexpr (has_groups<Less>::value) {
      if (runs_.empty()) {
        for (const std::uint32_t at : find_order()) take(some_[at]);
        some_ = {};
        return;
      }
      spill();
    } else {
      sort_nearly_sorted(some_.begin(), some_.end(), Less{});
      if (runs_.empty()) {
        for (Record& element : some_) take(element);
        some_ = {};
        return;
      }
      runs_.push_back({0, 0, std::move(some_), 0});
    }
    some_ = {};
    const auto is_later = [this](std::size_t a, std::size_t b) {
      return Less{}(runs_[b].some[runs_[b].next], runs_[a].some[runs_[a].next]);
    };
    std::vector<std::size_t> heap;
    for (std::size_t at = 0; at != runs_.size(); ++at)
      if (fill(runs_[at])) heap.push_back(at);
    std::make_heap(heap.begin(), heap.end(), is_later);
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), is_later);
      run& from = runs_[heap.back()];
      take(from.some[from.next++]);
      if (fill(from)) std::push_heap(heap.begin(), heap.end(), is_later);
      else heap.pop_back();
    }
    runs_.clear();
  }

 private:
  template <class Order, class = void>
  struct has_groups : std::false_type {};
  template <class Order>
  struct has_groups<Order, std::void_t<decltype(Order::group(std::declval<const Record&>()))>> : std::true_type {};

  // Positions of the records, in order: groups move no records.
  std::vector<std::uint32_t> find_order() const {
    std::vector<std::size_t> ends;  // of the groups
    for (const Record& each : some_) {
      const std::size_t group = Less::group(each);
      if (group + 2 > ends.size()) ends.resize(group + 2);
      ++ends[group + 1];
    }
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    std::vector<std::uint32_t> order(some_.size());
    for (std::size_t at = 0; at != some_.size(); ++at)
      order[ends[Less::group(some_[at])]++] = static_cast<std::uint32_t>(at);
    auto first = order.begin();
    for (const std::size_t end : ends) {
      const auto last = order.begin() + static_cast<std::ptrdiff_t>(end);
      sort_nearly_sorted(first, last,
                         [this](std::uint32_t one, std::uint32_t other) { return Less{}(some_[one], some_[other]); });
      first = last;
    }
    return order;
  }

  void spill() {
    const std::size_t count = some_.size();
    if constexpr (has_groups<Less>::value) {
      std::vector<Record> block;
      std::optional<std::uint64_t> begin;
      const auto write = [&] {
        if (block.empty()) return;
        const std::uint64_t at = beyond_.write({{block.data(), block.size() * sizeof(Record)}});
        if (!begin) begin = at;
        block.clear();
      };
      for (const std::uint32_t at : find_order()) {
        block.push_back(some_[at]);
        if (block.size() == records_at_once) write();
      }
      write();
      runs_.push_back({begin.value_or(0), count, {}, 0});
    } else {
      sort_nearly_sorted(some_.begin(), some_.end(), Less{});
      runs_.push_back({beyond_.write({{some_.data(), count * sizeof(Record)}}), count, {}, 0});
    }
    some_.clear();
  }

  struct run {
    std::uint64_t at = 0;
    std::size_t left = 0;  // in the file
    std::vector<Record> some;
    std::size_t next = 0;
  };

  bool fill(run& of) const {
    if (of.next != of.some.size()) return true;
    of.some.resize(std::min(records_at_once, of.left));
    of.next = 0;
    if (of.some.empty()) return false;
    beyond_.read(of.at, of.some.data(), of.some.size() * sizeof(Record));
    of.at += of.some.size() * sizeof(Record);
    of.left -= of.some.size();
    return true;
  }

  spill_file beyond_;
  std::vector<Record> some_;
  std::vector<run> runs_;
};

}  // namespace adaptyst::lib

#endif
