// Rows of a recorder: finding, making and adding.
#ifndef ADAPTYST_DETAIL_ROWS_HPP
#define ADAPTYST_DETAIL_ROWS_HPP

#include "interning.hpp"
#include "recorder_state.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t make_identity(const recorder& r, uint32_t device) noexcept {
  return (uint64_t{r.generation} << 32) | device;
}

// Numbers of a marker's payload, or 1 for a metric.
ADAPTYST_DETAIL_INLINE uint32_t count_numbers(const adaptyst_site& site) noexcept {
  return site.kind == ADAPTYST_SITE_METRIC ? 1 : site.attribute_count;
}

template <class = void>
ADAPTYST_DETAIL_COLD inline row* make_row(recorder& r, uint64_t id, const adaptyst_path* path, loss& why) noexcept {
  why = loss::rows_full;
  const uint32_t number = r.rows_used;
  if (number == max_rows) return nullptr;
  why = loss::no_memory;
  if (!r.table.make_room(number)) return nullptr;
  row_chunk*& chunk = r.chunks[number / rows_per_chunk];
  if (chunk == nullptr) {
    auto* const mapped = static_cast<row_chunk*>(r.owner->store->allocate_pages(sizeof(row_chunk)));
    if (mapped == nullptr) return nullptr;
    store_release(chunk, mapped);
  }
  const uint32_t numbers = count_numbers(*path->site);
  attribute_sum* attributes = nullptr;
  if (numbers != 0) {
    attributes = static_cast<attribute_sum*>(r.row_details.allocate(*r.owner->store, numbers * sizeof(attribute_sum)));
    if (attributes == nullptr) return nullptr;
  }
  for (uint32_t at = 0; at != numbers; ++at) {
    store_number(attributes[at].min, __builtin_huge_val());
    store_number(attributes[at].max, -__builtin_huge_val());
  }
  row& made = chunk->rows[number % rows_per_chunk];
  store(made.id, id);
  store(made.path, path);
  store(made.site, path->site);
  store(made.child, &r.root);
  store(made.next, &made);
  store(made.identity, 0);
  store(made.extras, is_made | path->site->attribute_count | path->device |
                         (is_wait(path->site->kind) || r.ring != nullptr ? 1U : 0U));
  store(made.count, 0);
  store(made.total_ns, 0);
  store(made.nested_ns, 0);
  store(made.min_ns, ~uint64_t{0});
  store(made.max_ns, 0);
  store(made.histogram, static_cast<uint64_t*>(nullptr));
  store(made.first_bucket, uint16_t{0});
  store(made.buckets, uint16_t{0});
  store(made.last_bucket, 0);
  store(made.threads, 0);
  store(made.open_since, 0);
  store(made.attributes, attributes);
  store(made.attribute_count, uint64_t{numbers});
  store(made.left_out, 0);
  store(made.count_variance, 0);
  store_number(made.total_variance, 0);
  store(made.cluster, 0);
  r.table.insert(made);
  store_release(r.rows_used, number + 1);
  return &made;
}

// The row for `site` below `parent`; null without room, for the reason `why`, which the caller counts.
template <class = void>
ADAPTYST_DETAIL_INLINE row* row_below(recorder& r, const adaptyst_path* parent, const adaptyst_site* site,
                                      uint32_t device, loss& why) noexcept {
  const uint64_t id = path_id(parent != nullptr ? parent->id : 0, site->id, device);
  row* found = r.table.find(id);
  if (ADAPTYST_DETAIL_UNLIKELY(found == nullptr)) {
    const adaptyst_path* const path = intern_path(*r.owner, id, parent, site, device);
    why = loss::tables_full;
    if (path == nullptr || (found = make_row(r, id, path, why)) == nullptr) return nullptr;
  }
  if (ADAPTYST_DETAIL_UNLIKELY(found->identity != make_identity(r, device))) {
    store(found->identity, make_identity(r, device));
    bump(found->threads, 1);
  }
  return found;
}

// The same for a path that another thread began.
template <class = void>
inline row* find_row(recorder& r, const adaptyst_path* path, loss& why) noexcept {
  return row_below(r, path->parent, path->site, path->device, why);
}

// Remembers the row that began at this depth as the next expected row: after its predecessor below the same region, or
// as the first below that region. Not below a region of an earlier epoch: all its frames have the root as row, but
// different paths. The fast path relies on two rules. `next` has the same parent. `child` is a child of the row's path,
// or its marker has no fast path, or one that compares the parent (pairs, callback regions).
template <class = void>
ADAPTYST_DETAIL_INLINE void link_row(recorder& r, uint32_t depth, row* begun) noexcept {
  const frame& top = r.frames[depth];
  const frame& last = r.frames[depth + size_t{1}];  // the previous frame at this depth, in this region or an earlier
                                                    // one
  constexpr uint64_t number = ~(weighed_token | sampled_token);
  if ((last.token & number) <= (top.token & number)) {
    if (depth == 0 || depth > r.base) store(top.where->child, begun);
  } else if (last.where->path != nullptr && last.where->path->parent == begun->path->parent) {
    store(last.where->next, begun);
  }
}

template <class = void>
ADAPTYST_DETAIL_INLINE void add_attribute(attribute_sum& sum, double value, double weight = 1) noexcept {
  store_number(sum.sum, sum.sum + weight * value);  // only this thread writes: plain reads suffice
  if (value < sum.min) store_number(sum.min, value);
  if (value > sum.max) store_number(sum.max, value);
}

// True if the histogram has a bucket: all values between min and max have one.
ADAPTYST_DETAIL_INLINE bool has_bucket_for(const row& in, uint64_t duration_ns) noexcept {
  return duration_ns >= in.min_ns && duration_ns <= in.max_ns;
}

// Allocates a histogram with `bucket` and all existing buckets. Most rows span one or two octaves, few more than
// twenty: sizes grow fourfold. The side of the new extreme gets more room.
template <class = void>
ADAPTYST_DETAIL_COLD inline void widen_histogram(recorder& r, row& row, unsigned bucket) noexcept {
  const unsigned old_first = row.first_bucket;
  const unsigned old_end = old_first + row.buckets;
  const bool is_first = row.buckets == 0;
  const bool is_below = is_first || bucket < old_first;  // the first duration is seldom the shortest
  const unsigned least = is_below ? bucket : old_first;
  const unsigned end = is_first || bucket >= old_end ? bucket + 1 : old_end;
  unsigned size = 16;
  while (size < end - least) size *= 4;
  if (size > ADAPTYST_HISTOGRAM_BUCKETS) size = ADAPTYST_HISTOGRAM_BUCKETS;
  const unsigned spare = size - (end - least);
  const unsigned below = is_below ? spare - spare / 4 : spare / 4;
  unsigned first = least > below ? least - below : 0;
  if (first + size > ADAPTYST_HISTOGRAM_BUCKETS) first = ADAPTYST_HISTOGRAM_BUCKETS - size;

  auto* const made = static_cast<uint64_t*>(r.row_details.allocate(*r.owner->store, size * sizeof(uint64_t)));
  if (made == nullptr) {
    store(row.histogram, static_cast<uint64_t*>(r.no_histogram));
    store(row.first_bucket, uint16_t{0});
    store(row.buckets, uint16_t{0});
    return;
  }
  for (unsigned at = old_first; at != old_end; ++at) store(made[at - first], row.histogram[at]);
  if (is_first) {  // no event yet: -1 and the 1 that a reader adds make 0
    store(made[bucket - first], ~uint64_t{0});
    store(row.last_bucket, uint64_t{bucket});
  }
  // An observer with the old address reads the old data: it is not reused within the epoch.
  store_release(row.histogram,
                reinterpret_cast<uint64_t*>(reinterpret_cast<uintptr_t>(made) - first * sizeof(uint64_t)));
  store(row.first_bucket, static_cast<uint16_t>(first));
  store(row.buckets, static_cast<uint16_t>(size));
}

// A new minimum or maximum. The extremes are stored last: a reader of new extremes also reads their buckets.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_COLD inline void note_extreme(recorder& r, row& row,
                                                                        uint64_t duration_ns) noexcept {
  const unsigned bucket = adaptyst_histogram_bucket(duration_ns);
  const bool is_present = bucket - row.first_bucket < row.buckets;
  if (!is_present && row.histogram != r.no_histogram) widen_histogram(r, row, bucket);
  if (duration_ns < row.min_ns) store_release(row.min_ns, duration_ns);
  if (duration_ns > row.max_ns) store_release(row.max_ns, duration_ns);
}

// Counts the last event in the histogram, and remembers the bucket of this one. Reason: the address of a store must not
// depend on a timestamp just taken. Later loads would wait for it, and with them the next region.
template <class = void>
ADAPTYST_DETAIL_INLINE void add_usual_duration(row& sum, uint64_t duration_ns, uint64_t nested_ns) noexcept {
  bump(sum.total_ns, duration_ns);
  bump(sum.nested_ns, nested_ns);
  bump(sum.histogram[sum.last_bucket], 1);
  store(sum.last_bucket, uint64_t{adaptyst_histogram_bucket(duration_ns)});
}

template <class = void>
ADAPTYST_DETAIL_INLINE void add_duration(recorder& r, row& sum, uint64_t duration_ns, uint64_t nested_ns) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(!has_bucket_for(sum, duration_ns))) note_extreme(r, sum, duration_ns);
  add_usual_duration(sum, duration_ns, nested_ns);
}

// The event represents `weight` events, the others were skipped. It was recorded within an event that represents
// `cluster_weight` events, or is that event. Clusters are drawn independently with probability 1/W. The variance of the
// sum is estimated as the sum over clusters of (1 - 1/W) times the squared contribution (Horvitz-Thompson, Poisson
// sampling).
template <class = void>
inline void add_weighed_duration(recorder& r, row& sum, uint64_t duration_ns, uint64_t weight, uint64_t cluster,
                                 uint64_t cluster_weight) noexcept {
  if (!has_bucket_for(sum, duration_ns)) note_extreme(r, sum, duration_ns);
  bump(sum.total_ns, duration_ns * weight);
  bump(sum.histogram[adaptyst_histogram_bucket(duration_ns)], weight);
  if (sum.cluster != cluster) {
    store(sum.cluster, cluster);
    store(sum.cluster_count, 0);
    store_number(sum.cluster_ns, 0);
  }
  const uint64_t not_sure = weight / cluster_weight * (cluster_weight - 1);
  const double sum_ns = static_cast<double>(weight) * static_cast<double>(duration_ns);
  bump(sum.left_out, weight - 1);
  bump(sum.count_variance, not_sure * (2 * sum.cluster_count + weight));
  const double share = 1 - 1 / static_cast<double>(cluster_weight);
  store_number(sum.total_variance, sum.total_variance + share * sum_ns * (2 * sum.cluster_ns + sum_ns));
  bump(sum.cluster_count, weight);
  store_number(sum.cluster_ns, sum.cluster_ns + sum_ns);
}

}}}  // namespace adaptyst::v1::detail

#endif
