// Finds the place in a probe function for attaching, by a trial on a function of this library.
#ifndef ADAPTYST_LIB_KERNEL_ATTACH_POINT_HPP
#define ADAPTYST_LIB_KERNEL_ATTACH_POINT_HPP

#include <cstdint>
#include <string>

namespace adaptyst::lib {

// A function like a probe, for the trial. Its arguments are those of region_end.
struct trial_site {
  std::string file;      // that contains it
  std::uint64_t offset;  // of its 1-byte nop, in the file
};
trial_site find_trial_site();  // throws error

struct trial {
  bool state_kept;  // every hit preserved the registers and the caller's whole stack
  bool is_call;     // the kernel has replaced the nop by a call
  double hit_ns;
};

// Hits the trial site `hits` times, with `path_id` as its path.
trial try_hits(unsigned hits, std::uint64_t path_id);

}  // namespace adaptyst::lib

#endif
