// The rows of a recorder: found or made for a call path, and added to.
#ifndef ADAPTYST_DETAIL_ROWS_HPP
#define ADAPTYST_DETAIL_ROWS_HPP

#include "interning.hpp"
#include "recorder_state.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t identity_of(const recorder& r, uint32_t device) noexcept {
  return (uint64_t{r.generation} << 32) | device;
}

template <class = void>
ADAPTYST_DETAIL_COLD inline row* make_row(recorder& r, row*& slot, uint64_t id, const adaptyst_path* path,
                                          loss& why) noexcept {
  why = loss::rows_full;
  if (r.rows_used == most_rows) return nullptr;
  const uint32_t number = r.rows_used;
  row_chunk*& chunk = r.chunks[number / rows_per_chunk];
  if (chunk == nullptr) {
    auto* const mapped = static_cast<row_chunk*>(r.owner->store->allocate_pages(sizeof(row_chunk)));
    why = loss::no_memory;
    if (mapped == nullptr) return nullptr;
    store_release(chunk, mapped);
  }
  row& made = chunk->rows[number % rows_per_chunk];
  uint64_t* const histogram = chunk->histograms[number % rows_per_chunk];
  if (number < r.rows_touched) {
    for (unsigned at = 0; at != ADAPTYST_HISTOGRAM_BUCKETS; ++at) store(histogram[at], 0);
  } else {
    store(r.rows_touched, number + 1);
  }
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
  store(made.threads, 0);
  store(made.open_since, 0);
  store(made.left_out, 0);
  store(made.count_variance, 0);
  store_number(made.total_variance, 0);
  store(made.histogram, histogram);
  for (attribute_sum& attribute : made.attributes) {
    store_number(attribute.sum, 0);
    store_number(attribute.min, __builtin_huge_val());
    store_number(attribute.max, -__builtin_huge_val());
  }
  slot = &made;
  store_release(r.rows_used, number + 1);
  return &made;
}

// The row of a path, if there is one; `slot` is where it is or belongs. The table is never more than half full.
template <class = void>
ADAPTYST_DETAIL_INLINE row* look_up(recorder& r, uint64_t id, row**& slot) noexcept {
  for (uint64_t at = id;; ++at) {
    slot = &r.slots[at % row_slots];
    row* const there = *slot;
    if (there == nullptr || there->id == id) return there;
  }
}

// The row for `site` below `parent`; null, counted by the caller as `why`, when there is no room.
template <class = void>
ADAPTYST_DETAIL_INLINE row* row_below(recorder& r, const adaptyst_path* parent, const adaptyst_site* site,
                                      uint32_t device, loss& why) noexcept {
  const uint64_t id = path_id(parent != nullptr ? parent->id : 0, site->id, device);
  row** slot;
  row* found = look_up(r, id, slot);
  if (ADAPTYST_DETAIL_UNLIKELY(found == nullptr)) {
    const adaptyst_path* const path = intern_path(*r.owner, id, parent, site, device);
    why = loss::tables_full;
    if (path == nullptr || (found = make_row(r, *slot, id, path, why)) == nullptr) return nullptr;
  }
  if (ADAPTYST_DETAIL_UNLIKELY(found->identity != identity_of(r, device))) {
    store(found->identity, identity_of(r, device));
    bump(found->threads, 1);
  }
  return found;
}

// The same for a path that another thread began.
template <class = void>
inline row* row_of(recorder& r, const adaptyst_path* path, loss& why) noexcept {
  return row_below(r, path->parent, path->site, path->device, why);
}

// What has begun there is expected there the next time: behind what was before it below the same region, or as its first.
// Not below a region of an earlier epoch: all of these bear the root, and their paths differ. The short way relies on it that
// what is behind a row has the same parent, and that what is below one is a child of its path, or of a marker that never takes
// the short way, as those of callbacks.
template <class = void>
ADAPTYST_DETAIL_INLINE void learn(recorder& r, uint32_t depth, row* begun) noexcept {
  const frame& top = r.frames[depth];
  const frame& last = r.frames[depth + size_t{1}];  // that stood there: in this region, or in one before it
  if (last.token <= top.token) {
    if (depth == 0 || depth > r.base) store(top.where->child, begun);
  } else if (last.where->path != nullptr && last.where->path->parent == begun->path->parent) {
    store(last.where->next, begun);
  }
}

template <class = void>
ADAPTYST_DETAIL_INLINE void add_attribute(attribute_sum& to, double value, double weight = 1) noexcept {
  store_number(to.sum, to.sum + weight * value);  // only this thread writes: plain reads are its own
  if (value < to.min) store_number(to.min, value);
  if (value > to.max) store_number(to.max, value);
}

template <class = void>
ADAPTYST_DETAIL_INLINE void add_duration(row& to, uint64_t duration_ns, uint64_t nested_ns,
                                         uint64_t weight = 1) noexcept {
  bump(to.total_ns, duration_ns * weight);
  bump(to.nested_ns, nested_ns * weight);
  if (duration_ns < to.min_ns) store(to.min_ns, duration_ns);
  if (duration_ns > to.max_ns) store(to.max_ns, duration_ns);
  bump(to.histogram[adaptyst_histogram_bucket(duration_ns)], weight);
}

// The event stands for `weight`, of which the others were left out.
template <class = void>
inline void add_weighed_duration(row& to, uint64_t duration_ns, uint64_t nested_ns, uint64_t weight) noexcept {
  add_duration(to, duration_ns, nested_ns, weight);
  const auto duration = static_cast<double>(duration_ns);
  bump(to.left_out, weight - 1);
  bump(to.count_variance, weight * (weight - 1));
  store_number(to.total_variance, to.total_variance + static_cast<double>(weight * (weight - 1)) * duration * duration);
}

}}}  // namespace adaptyst::v1::detail

#endif
