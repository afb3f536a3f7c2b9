// A row of a timeline at low zoom: the load of each time bucket and its main site, for several bucket widths.
#ifndef ADAPTYST_LIB_TRACE_TIME_LEVELS_HPP
#define ADAPTYST_LIB_TRACE_TIME_LEVELS_HPP

#include <cstdint>
#include <vector>

#include "timeline_tracks.hpp"

namespace adaptyst::lib {

struct time_bucket {
  std::uint64_t number = 0;  // begins at number × the level's width after the trace's begin
  std::uint32_t site = 0;    // the site with most of the time
  std::uint32_t busy = 0;    // busy share in 255ths, rounded up; 0: only events without duration
  std::uint64_t count = 0;   // intervals that begin in it
};

struct time_level {
  unsigned level = 0;                // timeline_tracks::width_ns() has the width
  std::vector<time_bucket> buckets;  // the non-empty buckets in order
};

// The coarsest level first, down to the level with a sixteenth as many buckets as the row has intervals, and at least
// one level. Finer pictures use the intervals. Cost: linear for each level.
std::vector<time_level> make_levels(const timeline_tracks& of, const timeline_row& row);
// The same for the summed intervals of a track; the finest level has the buckets of the sums.
std::vector<time_level> make_levels_of_sums(const timeline_tracks& of, const timeline_track& track);

}  // namespace adaptyst::lib

#endif
