// The part of a run in which no region was open, so that regions at the root and this add up to the run.
//
// A thread's time outside regions is known where it is the only one with markers: the time that its process was
// observed, less all that its outermost regions took. How long other threads have lived is unknown, so with several
// threads there is no such time.
#ifndef ADAPTYST_LIB_MODEL_UNMARKED_HPP
#define ADAPTYST_LIB_MODEL_UNMARKED_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>

namespace adaptyst::lib {

enum class unmarked_state {
  known,
  no_time,          // the duration of the run is not known
  unknown_threads,  // it is not known which threads ran which regions
  several_threads,
  open_regions,  // whose times are not known yet
  lost_events,
  estimated,    // times are estimates, which add up to more than the run
  overlapping,  // regions of one thread took longer than the run: handles that overlap
};

struct unmarked_time {
  unmarked_state state = unmarked_state::no_time;
  std::uint64_t ns = 0;      // if known
  bool is_estimate = false;  // an overhead budget has left out events of outermost regions
};

// Of all processes together.
std::uint64_t compute_wall_ns(const profile& profile);
// Whether it is a time that a thread of the host spends, and not what a device does meanwhile.
bool is_host_time(region_kind kind);
unmarked_time compute_unmarked(const profile& profile);

}  // namespace adaptyst::lib

#endif
