// A row of a timeline seen from afar: how busy each bucket of time is, and with what, at several widths of a bucket.
#ifndef ADAPTYST_LIB_TRACE_TIME_LEVELS_HPP
#define ADAPTYST_LIB_TRACE_TIME_LEVELS_HPP

#include <cstdint>
#include <vector>

#include "timeline_tracks.hpp"

namespace adaptyst::lib {

struct time_bucket {
  std::uint64_t number = 0;  // it begins at number times the level's width after the trace's begin
  std::uint32_t site = 0;    // that has most of it
  std::uint32_t busy = 0;    // of its time, in 255ths, rounded up; 0: only what has no duration
  std::uint64_t count = 0;   // intervals that begin in it
};

struct time_level {
  unsigned level = 0;                // timeline_tracks::width_ns() has the width
  std::vector<time_bucket> buckets;  // those that are not empty, in their order
};

// The coarsest first. As many as have a sixteenth as many buckets as the row has intervals, and one at least: from there on
// a picture is made of the intervals themselves. Cost: linear, for each level.
std::vector<time_level> make_levels(const timeline_tracks& of, const timeline_row& row);
// The same of what is summed up in a track; the finest has the sums' buckets.
std::vector<time_level> make_levels_of_sums(const timeline_tracks& of, const timeline_track& track);

}  // namespace adaptyst::lib

#endif
