// Histogram of durations, with quantiles. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_HISTOGRAM_HPP
#define ADAPTYST_PROFILE_HISTOGRAM_HPP

#include <cstdint>
#include <optional>
#include <vector>

namespace adaptyst { inline namespace v1 {

// Counts in log-linear buckets: any quantile to within 3 %, up to 19 hours.
class histogram {
 public:
  void add(std::uint64_t value_ns, std::uint64_t times = 1);
  // Adds to one bucket, numbered as in docs/profile-schema.json.
  void add_bucket(unsigned bucket, std::uint64_t times);
  void merge(const histogram& other);

  std::uint64_t count() const noexcept { return count_; }
  // The value below which the fraction `q` (0 … 1) of all values lies; empty without values.
  std::optional<std::uint64_t> quantile(double q) const;
  // Indexed by bucket; shorter than the number of buckets if the upper buckets are empty.
  const std::vector<std::uint64_t>& buckets() const noexcept { return buckets_; }

  friend bool operator==(const histogram& a, const histogram& b) { return a.buckets_ == b.buckets_; }

 private:
  std::vector<std::uint64_t> buckets_;
  std::uint64_t count_ = 0;
};

}}  // namespace adaptyst::v1

#endif
