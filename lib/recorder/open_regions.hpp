// The regions that the threads of a process are in, or were in when it ended.
#ifndef ADAPTYST_LIB_RECORDER_OPEN_REGIONS_HPP
#define ADAPTYST_LIB_RECORDER_OPEN_REGIONS_HPP

#include <cstdint>
#include <vector>

#include "../model/context.hpp"
#include "recorder_reader.hpp"

namespace adaptyst::lib {

// The number of open regions of each path that began under this collector. Threads continue during the read:
// a region that is entered or left at that time may be counted or not.
open_region_counts read_open_regions(const process_state& state);

struct last_open_region {
  std::uint64_t path;
  std::uint64_t threads;
  std::uint64_t since_ns;  // CLOCK_MONOTONIC, earliest
};

// The innermost region of each thread at the end of a process, summed by path.
std::vector<last_open_region> read_last_regions(const process_state& state);

}  // namespace adaptyst::lib

#endif
