#include "histogram_wire.hpp"

#include <adaptyst/detail/histogram.h>

#include <utility>

namespace adaptyst::lib {

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
