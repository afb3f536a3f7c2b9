// A histogram with a limited number of buckets for any contents.
//
// If more buckets are needed, neighbouring ones are joined: two at level 1, four at level 2, an octave at level 3, and
// so on. The level is the lowest one within the limit. More values never need fewer buckets, so the level of a sum is
// that of all its values, in any order and grouping of adding.
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
  static constexpr unsigned max_level = 9;  // where two buckets are left

  // Replaces the contents and reuses the memory.
  void assign(const histogram& from);
  void assign(std::uint64_t value);
  // False: invalid buckets.
  template <class Read>
  bool assign(unsigned level, std::size_t count, const Read& read_next) {
    level_ = level;
    counts_.resize(count);
    for (auto& bucket : counts_) bucket = read_next();
    return is_sound();
  }
  void clear() {
    level_ = 0;
    counts_.clear();
  }

  void add(const sparse_histogram& other);
  // 0: unlimited.
  void limit(std::size_t buckets);
  // A joined bucket becomes its middle one.
  histogram whole() const;

  unsigned level() const noexcept { return level_; }
  // By the first of the joined buckets; no count is 0.
  const std::vector<std::pair<unsigned, std::uint64_t>>& counts() const noexcept { return counts_; }

 private:
  bool is_sound() const;
  void raise(unsigned level);
  bool add_if_known(const sparse_histogram& other);

  unsigned level_ = 0;
  std::vector<std::pair<unsigned, std::uint64_t>> counts_;
};

// In a message: the level, and pairs of the distance to the previous bucket and a count. At most `buckets` of them; 0:
// all.
void put_histogram(message_writer& writer, sparse_histogram& histogram, std::size_t buckets);
void get_histogram(message_reader& from, sparse_histogram& histogram);

}  // namespace adaptyst::lib

#endif
