// The union of time intervals that arrive out of order, in bounded memory: how long a device was busy, counted once
// however much of its work overlapped.
//
// The most recent intervals are kept apart, `Kept` of them after merging; older ones are folded into a sum, and
// what arrives from before the fold is counted as late and enters only with the part that lies after it.
#ifndef ADAPTYST_DETAIL_INTERVALS_HPP
#define ADAPTYST_DETAIL_INTERVALS_HPP

#include <stdint.h>

#include "../config.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct interval {
  uint64_t begin_ns, end_ns;
};

// Not thread-safe; all members 0 is the empty union.
template <unsigned Kept>
struct interval_union {
  interval open[Kept];  // sorted, disjoint
  uint32_t count;
  uint64_t folded_ns;   // length of what was folded
  uint64_t horizon_ns;  // nothing before this can be told apart any more
  uint64_t late;        // intervals that began before the horizon

  void add(uint64_t begin_ns, uint64_t end_ns) noexcept {
    if (begin_ns >= end_ns) return;
    if (begin_ns < horizon_ns) {
      ++late;
      if (end_ns <= horizon_ns) return;
      begin_ns = horizon_ns;
    }
    unsigned first = count;  // the run [first, last) of kept intervals that touch the new one
    while (first != 0 && open[first - 1].end_ns >= begin_ns) --first;
    unsigned last = first;
    for (; last != count && open[last].begin_ns <= end_ns; ++last) {
      if (open[last].begin_ns < begin_ns) begin_ns = open[last].begin_ns;
      if (open[last].end_ns > end_ns) end_ns = open[last].end_ns;
    }
    if (first == last) {
      if (count == Kept) {
        if (first == 0) return fold({begin_ns, end_ns});
        fold(open[0]);
        --count;
        for (unsigned at = 0; at != count; ++at) open[at] = open[at + 1];
        --first;
      }
      for (unsigned at = count; at != first; --at) open[at] = open[at - 1];
      ++count;
    } else {
      const unsigned gone = last - first - 1;
      for (unsigned at = last; at != count; ++at) open[at - gone] = open[at];
      count -= gone;
    }
    open[first] = {begin_ns, end_ns};
  }

  uint64_t total_ns() const noexcept {
    uint64_t sum = folded_ns;
    for (unsigned at = 0; at != count; ++at) sum += open[at].end_ns - open[at].begin_ns;
    return sum;
  }

 private:
  void fold(interval oldest) noexcept {
    folded_ns += oldest.end_ns - oldest.begin_ns;
    horizon_ns = oldest.end_ns;
  }
};

}}}  // namespace adaptyst::v1::detail

#endif
