// Sorts what is mostly in order already, without a heap: <algorithm> is too heavy for headers that programs include.
#ifndef ADAPTYST_DETAIL_MERGE_SORT_HPP
#define ADAPTYST_DETAIL_MERGE_SORT_HPP

#include <stddef.h>

namespace adaptyst { inline namespace v1 { namespace detail {

// Where the run ends that begins at `at`.
template <class T, class Less>
size_t find_run_end(const T* in, size_t at, size_t count, const Less& less) noexcept {
  if (at == count) return count;
  for (++at; at != count && !less(in[at], in[at - 1]); ++at) {}
  return at;
}

// Merges runs of what is in order, two at a time, between two places; returns the one where all are in order at last.
template <class T, class Less>
T* merge_sorted(T* from, T* spare, size_t count, const Less& less) noexcept {
  while (find_run_end(from, 0, count, less) != count) {
    for (size_t at = 0; at != count;) {
      size_t left = at;
      const size_t middle = find_run_end(from, at, count, less);
      const size_t end = find_run_end(from, middle, count, less);
      size_t right = middle;
      for (; at != end; ++at)
        spare[at] = left == middle || (right != end && less(from[right], from[left])) ? from[right++] : from[left++];
    }
    T* const sorted = spare;
    spare = from;
    from = sorted;
  }
  return from;
}

}}}  // namespace adaptyst::v1::detail

#endif
