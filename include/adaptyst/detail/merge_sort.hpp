// Sorts mostly ordered data without a heap: <algorithm> compiles too slowly for headers of programs.
#ifndef ADAPTYST_DETAIL_MERGE_SORT_HPP
#define ADAPTYST_DETAIL_MERGE_SORT_HPP

#include <stddef.h>

namespace adaptyst { inline namespace v1 { namespace detail {

// End of the ordered run that begins at `at`.
template <class T, class Less>
size_t find_run_end(const T* in, size_t at, size_t count, const Less& less) noexcept {
  if (at == count) return count;
  for (++at; at != count && !less(in[at], in[at - 1]); ++at) {}
  return at;
}

// Merges ordered runs pairwise between two arrays; returns the array with the result.
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
