// The MPI job of this process, limited to this machine.
#ifndef ADAPTYST_LIB_SUPPORT_LAUNCHED_JOB_HPP
#define ADAPTYST_LIB_SUPPORT_LAUNCHED_JOB_HPP

#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

struct launched_job {
  // The same for all ranks of the job on this machine; different for other jobs. Empty: /proc hides the launcher
  // (hidepid), and the job has no name.
  std::string identity;
  std::uint32_t ranks_here = 0;  // 0: unknown
  bool is_here_alone = false;    // no other machine has ranks of the job
};

// Empty: no launcher has set a rank, or there is only one rank.
std::optional<launched_job> find_job();

}  // namespace adaptyst::lib

#endif
