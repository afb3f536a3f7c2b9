// A histogram with memory only between its lowest and highest used bucket. A kernel's durations are mostly within one
// or two octaves, and a full histogram takes 4.7 KB; for tens of thousands of names, that was most of the memory of an
// analysis.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_BUCKET_COUNTS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_BUCKET_COUNTS_HPP

#include <adaptyst/detail/histogram.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace adaptyst::lib {

class bucket_counts {
 public:
  // `bucket`: a valid index of a histogram.
  void add(unsigned bucket, std::uint64_t count) {
    if (bucket - first_ >= counts_.size()) reach(bucket);
    counts_[bucket - first_] += count;
  }
  void add(const bucket_counts& more) {
    more.visit([this](unsigned bucket, std::uint64_t count) { add(bucket, count); });
  }

  std::uint64_t operator[](unsigned bucket) const {
    return bucket - first_ < counts_.size() ? counts_[bucket - first_] : 0;
  }
  // Visits the non-empty buckets in ascending order.
  template <class Visit>
  void visit(const Visit& visit) const {
    for (std::size_t at = 0; at != counts_.size(); ++at)
      if (counts_[at] != 0) visit(first_ + static_cast<unsigned>(at), counts_[at]);
  }
  // The number of allocated buckets.
  std::size_t room() const noexcept { return counts_.capacity(); }

 private:
  // Grows by half on that side, so that a slowly growing range is not copied for each bucket.
  void reach(unsigned bucket) {
    constexpr unsigned min_capacity = 4, all = ADAPTYST_HISTOGRAM_BUCKETS;
    const auto size = static_cast<unsigned>(counts_.size());
    const unsigned more = std::max(min_capacity, size / 2);
    unsigned begin = size == 0 ? bucket : std::min(first_, bucket), end = std::max(first_ + size, bucket + 1);
    if (size == 0 || bucket < first_) begin -= std::min(begin, more);
    if (size == 0 || bucket >= first_ + size) end = std::min(all, end + more);
    std::vector<std::uint64_t> made(end - begin);
    std::copy(counts_.begin(), counts_.end(), made.begin() + (size == 0 ? 0 : first_ - begin));
    counts_ = std::move(made);
    first_ = begin;
  }

  unsigned first_ = 0;
  std::vector<std::uint64_t> counts_;
};

}  // namespace adaptyst::lib

#endif
