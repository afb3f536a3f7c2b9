// The part of a run outside all regions; together with the regions at the root, it gives the run.
//
// The time is known if a process has only one thread with markers: the observed time of the process minus the time of
// its outermost regions. The lifetimes of other threads are unknown, so with several threads the time is unknown.
#ifndef ADAPTYST_LIB_MODEL_UNMARKED_HPP
#define ADAPTYST_LIB_MODEL_UNMARKED_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>

namespace adaptyst::lib {

enum class unmarked_state {
  known,
  no_time,          // the duration of the run is unknown
  unknown_threads,  // the threads of the regions are unknown
  several_threads,
  open_regions,  // their times are not yet known
  lost_events,
  estimated,    // times are estimates with a sum above the run
  overlapping,  // regions of one thread took longer than the run: overlapping handles
};

struct unmarked_time {
  unmarked_state state = unmarked_state::no_time;
  std::uint64_t ns = 0;      // if known
  bool is_estimate = false;  // the overhead budget skipped events of outermost regions
};

// The sum over all processes.
std::uint64_t compute_wall_ns(const profile& profile);
// Whether it is time of a host thread, and not time of a device.
bool is_host_time(region_kind kind);
unmarked_time compute_unmarked(const profile& profile);

}  // namespace adaptyst::lib

#endif
