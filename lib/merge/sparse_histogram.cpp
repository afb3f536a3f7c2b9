// A histogram with a limited number of buckets: to stay within the limit, it joins neighbouring buckets.
#include "sparse_histogram.hpp"

#include <adaptyst/detail/histogram.h>

#include <algorithm>
#include <array>
#include <utility>

#include "wire.hpp"

namespace adaptyst::lib {

namespace {

constexpr unsigned linear = 64;  // below, a bucket holds one value
constexpr unsigned octave_level = 3;

// The first bucket of the group of a bucket. Buckets that are joined at a level are joined at all higher levels.
constexpr unsigned compute_group(unsigned bucket, unsigned level) {
  if (level == 0) return bucket;
  if (bucket < linear) return level < 6 ? bucket >> level << level : 0;
  const unsigned octave = (bucket - linear) / ADAPTYST_HISTOGRAM_OCTAVE,
                 part = (bucket - linear) % ADAPTYST_HISTOGRAM_OCTAVE;
  if (level >= octave_level) {
    const unsigned shift = level - octave_level;
    return linear + (octave >> shift << shift) * ADAPTYST_HISTOGRAM_OCTAVE;
  }
  // An octave has thirteen buckets; the last one belongs to the group before it.
  const unsigned last = ADAPTYST_HISTOGRAM_OCTAVE - 2U;
  return linear + octave * ADAPTYST_HISTOGRAM_OCTAVE + ((part < last ? part : last) >> level << level);
}

using group_table =
    std::array<std::array<std::uint16_t, ADAPTYST_HISTOGRAM_BUCKETS>, sparse_histogram::max_level + std::size_t{1}>;
constexpr group_table make_groups() {
  group_table made{};
  for (unsigned level = 0; level <= sparse_histogram::max_level; ++level)
    for (unsigned bucket = 0; bucket != ADAPTYST_HISTOGRAM_BUCKETS; ++bucket)
      made[level][bucket] = static_cast<std::uint16_t>(compute_group(bucket, level));
  return made;
}
constexpr group_table groups = make_groups();

unsigned find_group(unsigned bucket, unsigned level) { return groups[level][bucket]; }

std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b < a ? ~std::uint64_t{0} : a + b; }

}  // namespace

void sparse_histogram::assign(const histogram& from) {
  level_ = 0;
  counts_.clear();
  const std::vector<std::uint64_t>& buckets = from.buckets();
  for (unsigned bucket = 0; bucket < buckets.size();) {
    // Most buckets are empty: checks four at a time.
    if (bucket + 4 <= buckets.size() &&
        (buckets[bucket] | buckets[bucket + 1] | buckets[bucket + 2] | buckets[bucket + 3]) == 0) {
      bucket += 4;
      continue;
    }
    if (buckets[bucket] != 0) counts_.emplace_back(bucket, buckets[bucket]);
    ++bucket;
  }
}

void sparse_histogram::assign(std::uint64_t value) {
  level_ = 0;
  counts_.assign(1, {adaptyst_histogram_bucket(value), 1});
}

void sparse_histogram::add(const sparse_histogram& other) {
  raise(other.level_);
  if (add_if_known(other)) return;
  std::vector<std::pair<unsigned, std::uint64_t>> both;
  both.reserve(counts_.size() + other.counts_.size());
  auto own = counts_.begin();
  for (const auto& [bucket, count] : other.counts_) {
    const unsigned group = find_group(bucket, level_);
    while (own != counts_.end() && own->first <= group) both.push_back(*own++);
    if (!both.empty() && both.back().first == group) both.back().second = sum(both.back().second, count);
    else both.emplace_back(group, count);
  }
  both.insert(both.end(), own, counts_.end());
  counts_ = std::move(both);
}

// Adds without allocation if this histogram already has all buckets of the other one, which is soon the case.
bool sparse_histogram::add_if_known(const sparse_histogram& other) {
  auto at = counts_.begin();
  for (const auto& count : other.counts_) {
    const unsigned group = find_group(count.first, level_);
    while (at != counts_.end() && at->first < group) ++at;
    if (at == counts_.end() || at->first != group) return false;
  }
  at = counts_.begin();
  for (const auto& count : other.counts_) {
    const unsigned group = find_group(count.first, level_);
    while (at->first < group) ++at;
    at->second = sum(at->second, count.second);
  }
  return true;
}

void sparse_histogram::limit(std::size_t buckets) {
  while (buckets != 0 && counts_.size() > buckets && level_ != max_level) raise(level_ + 1);
}

void sparse_histogram::raise(unsigned level) {
  if (level <= level_) return;
  level_ = level;
  std::size_t kept = 0;
  for (std::size_t at = 0; at != counts_.size(); ++at) {
    const unsigned group = find_group(counts_[at].first, level);
    if (kept != 0 && counts_[kept - 1].first == group)
      counts_[kept - 1].second = sum(counts_[kept - 1].second, counts_[at].second);
    else counts_[kept++] = {group, counts_[at].second};
  }
  counts_.resize(kept);
}

histogram sparse_histogram::whole() const {
  histogram made;
  for (const auto& [first, count] : counts_) {
    unsigned end = first + 1;
    while (end != ADAPTYST_HISTOGRAM_BUCKETS && find_group(end, level_) == first) ++end;
    made.add_bucket((first + end - 1) / 2, count);
  }
  return made;
}

bool sparse_histogram::is_sound() const {
  if (level_ > max_level) return false;
  for (std::size_t at = 0; at != counts_.size(); ++at) {
    const auto& [first, count] = counts_[at];
    if (first >= ADAPTYST_HISTOGRAM_BUCKETS || count == 0 || find_group(first, level_) != first ||
        (at != 0 && counts_[at - 1].first >= first))
      return false;
  }
  return true;
}

void put_histogram(message_writer& writer, sparse_histogram& histogram, std::size_t buckets) {
  histogram.limit(buckets);
  writer.put(histogram.counts().size());
  if (histogram.counts().empty()) return;
  writer.put(histogram.level());
  unsigned before = 0;
  for (const auto& [bucket, count] : histogram.counts()) {
    writer.put(bucket - before);
    writer.put(count);
    before = bucket;
  }
}

void get_histogram(message_reader& from, sparse_histogram& histogram) {
  histogram.clear();
  const auto count = static_cast<std::size_t>(from.get(ADAPTYST_HISTOGRAM_BUCKETS));
  if (count == 0) return;
  const auto level = static_cast<unsigned>(from.get(sparse_histogram::max_level));
  unsigned bucket = 0;
  const bool is_sound = histogram.assign(level, count, [&] {
    bucket += static_cast<unsigned>(from.get(ADAPTYST_HISTOGRAM_BUCKETS));
    return std::pair(bucket, from.get());
  });
  if (!is_sound) from.fail("has a histogram that there cannot be");
}

}  // namespace adaptyst::lib
