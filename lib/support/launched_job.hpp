// The MPI job that this process is a rank of, as far as it runs on this machine.
#ifndef ADAPTYST_LIB_SUPPORT_LAUNCHED_JOB_HPP
#define ADAPTYST_LIB_SUPPORT_LAUNCHED_JOB_HPP

#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

struct launched_job {
  // The same for all its ranks on this machine, and for those of no other job. Empty: /proc hides the launcher (hidepid), and
  // the job has no name.
  std::string identity;
  std::uint32_t ranks_here = 0;  // 0: the launcher does not say
  bool is_here_alone = false;    // no other machine has ranks of it
};

// Empty: no launcher has set a rank, or there is only one.
std::optional<launched_job> find_job();

}  // namespace adaptyst::lib

#endif
