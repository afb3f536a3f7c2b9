// Records of any number in limited memory: further ones are in an unnamed file.
#ifndef ADAPTYST_LIB_TRACE_SORTED_RECORDS_HPP
#define ADAPTYST_LIB_TRACE_SORTED_RECORDS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// Added in any order, then taken in the order of `Less`, which must be total.
template <class Record, class Less>
class sorted_records {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // As stored_records().
  sorted_records(std::uint64_t max_bytes, std::string of) : beyond_(max_bytes, std::move(of)) {}

  void add(const Record& record) {
    // A vector that grows by itself copies all, and touches twice the memory.
    constexpr std::size_t few = records_in_memory / 32;
    if (some_.size() == few) some_.reserve(records_in_memory);
    some_.push_back(record);
    if (some_.size() != records_in_memory) return;
    std::sort(some_.begin(), some_.end(), Less{});
    runs_.push_back({beyond_.write({{some_.data(), some_.size() * sizeof(Record)}}), some_.size(), {}, 0});
    some_.clear();
  }

  // All records in order, if they fit into memory.
  std::optional<std::vector<Record>> take_if_in_memory() {
    if (!runs_.empty()) return std::nullopt;
    std::sort(some_.begin(), some_.end(), Less{});
    return std::exchange(some_, {});
  }

  // Calls take(record) for each, and removes all.
  template <class Take>
  void take_all(const Take& take) {
    if (!std::is_sorted(some_.begin(), some_.end(), Less{})) std::sort(some_.begin(), some_.end(), Less{});
    if (runs_.empty()) {
      for (Record& element : some_) take(element);
      some_ = {};
      return;
    }
    runs_.push_back({0, 0, std::move(some_), 0});
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
