// The places in a probe function for attaching, and a trial of them on a function of this library.
#ifndef ADAPTYST_LIB_KERNEL_ATTACH_POINT_HPP
#define ADAPTYST_LIB_KERNEL_ATTACH_POINT_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

// Bytes from the note's address of a probe. A nop is fast if the kernel replaces it by a call.
enum class attach_point : unsigned {
  breakpoint = 0,  // the 1-byte nop
  nop10 = 1,       // a call from Linux 7.3 on; earlier kernels refuse it
  nop5 = 11,       // a call on Linux 6.18 to 7.2; earlier kernels step it
};

// In the order of trial on a kernel of this release. The result of a trial decides, not the release: but a refused
// attempt delays the start.
std::vector<attach_point> order_attach_points(const char* release);

// A function like a probe, for the trial. Its arguments are those of region_end.
struct trial_site {
  std::string file;      // that contains it
  std::uint64_t offset;  // of its 1-byte nop, in the file
};
trial_site find_trial_site();  // throws error

struct trial {
  bool state_kept;    // every hit preserved the registers and the caller's whole stack
  bool is_optimised;  // the kernel has replaced the nop, and not by a breakpoint
  double hit_ns;
};

// Hits the trial site `hits` times, with `path_id` as its path, and looks at the code of `point`.
trial try_hits(unsigned hits, std::uint64_t path_id, attach_point point);

}  // namespace adaptyst::lib

#endif
