// A histogram with a limited number of buckets, whatever it holds.
//
// Where more would be needed, neighbouring buckets become one: at level 1 two, at level 2 four, at level 3 an octave,
// and so on. The level is the lowest at which the limit is kept. As more values never need fewer buckets, the level of a
// sum is that of all its values, in any order and grouping of adding.
#ifndef ADAPTYST_LIB_MERGE_SPARSE_HISTOGRAM_HPP
#define ADAPTYST_LIB_MERGE_SPARSE_HISTOGRAM_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace adaptyst::lib {

class message_reader;
class message_writer;

class sparse_histogram {
 public:
  static constexpr unsigned max_level = 9;  // at which two buckets are left

  // What it was is forgotten, but for the room that it took.
  void assign(const histogram& from);
  void assign(std::uint64_t value);
  // False: no histogram has these.
  template <class Read>
  bool assign(unsigned level, std::size_t count, const Read& read_next) {
    level_ = level;
    counts_.resize(count);
    for (auto& one : counts_) one = read_next();
    return is_sound();
  }
  void clear() {
    level_ = 0;
    counts_.clear();
  }

  void add(const sparse_histogram& other);
  // 0: as many buckets as there are.
  void limit(std::size_t buckets);
  // What stands for many buckets goes into the middle one.
  histogram whole() const;

  unsigned level() const noexcept { return level_; }
  // By the first of the buckets that they stand for; none is 0.
  const std::vector<std::pair<unsigned, std::uint64_t>>& counts() const noexcept { return counts_; }

 private:
  bool is_sound() const;
  void raise(unsigned level);
  bool add_known(const sparse_histogram& other);

  unsigned level_ = 0;
  std::vector<std::pair<unsigned, std::uint64_t>> counts_;
};

// In a message: its level, and pairs of the distance to the bucket before and a count. With `buckets` of them at most; 0: all.
void put_histogram(message_writer& writer, sparse_histogram& histogram, std::size_t buckets);
void get_histogram(message_reader& from, sparse_histogram& histogram);

}  // namespace adaptyst::lib

#endif
