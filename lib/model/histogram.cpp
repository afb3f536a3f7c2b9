#include <adaptyst/detail/histogram.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

namespace adaptyst { inline namespace v1 {

void histogram::add(std::uint64_t value_ns, std::uint64_t times) {
  add_bucket(adaptyst_histogram_bucket(value_ns), times);
}

void histogram::add_bucket(unsigned bucket, std::uint64_t times) {
  times = std::min(times, std::numeric_limits<std::uint64_t>::max() - count_);  // the process may be malicious
  if (times == 0) return;
  if (buckets_.size() <= bucket) buckets_.resize(bucket + 1);
  buckets_[bucket] += times;
  count_ += times;
}

void histogram::merge(const histogram& other) {
  if (buckets_.size() < other.buckets_.size()) buckets_.resize(other.buckets_.size());
  for (std::size_t bucket = 0; bucket != other.buckets_.size(); ++bucket) buckets_[bucket] += other.buckets_[bucket];
  count_ += other.count_;
}

std::optional<std::uint64_t> histogram::quantile(double q) const {
  if (count_ == 0) return std::nullopt;
  // The smallest value with at least q·count values at or below it (nearest rank).
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count_));
  // Near 2^64, a double may exceed the count and the range of the cast.
  const std::uint64_t rank =
      wanted >= static_cast<double>(count_) ? count_ : std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  std::uint64_t below = 0;
  unsigned bucket = 0;
  for (; bucket != buckets_.size(); ++bucket)
    if ((below += buckets_[bucket]) >= rank) break;
  const std::uint64_t lower = adaptyst_histogram_lower(bucket);
  const std::uint64_t upper = adaptyst_histogram_lower(bucket + 1) - 1;
  // The harmonic mean of the lowest and highest value has the smallest relative error within the bucket.
  const double l = static_cast<double>(lower);
  const double u = static_cast<double>(upper);
  if (lower == upper) return lower;
  return static_cast<std::uint64_t>(std::llround(2 * l * u / (l + u)));
}

}}  // namespace adaptyst::v1
