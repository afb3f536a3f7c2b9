// The rank of this process, which launchers of parallel programs set in its environment.
#ifndef ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP
#define ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

// From the launchers in docs/mpi.md. Empty: none of these has started the process, or its rank is not a number.
std::string launch_rank();

// The same as a number, of any process with a readable environment.
std::optional<std::uint32_t> find_rank(pid_t process);
// The same, from an environment in the form of read_environment().
std::optional<std::uint32_t> find_rank(const std::string& environment);

// The environment variable with the rank of this process; null: it has no rank.
const char* rank_variable();

// The environment with which a process was started: entries, each followed by a zero; empty: not readable.
std::string read_environment(pid_t process);
std::optional<std::string> find_variable(const std::string& environment, const std::string& name);

// From now on, this process is no rank: it observes the ranks of this machine.
void represent_all_ranks();

// Whether there may be other ranks: false if the launcher reports only one.
bool has_other_ranks();

// Whether a running MPI program has started this one (MPI_Comm_spawn), which then has ranks with the same numbers.
bool is_spawned();

// Whether this process prints messages that are the same for all ranks: true for the first rank and for a process
// without a rank.
bool prints_for_all_ranks();

// The MPI job of this process, limited to this machine.
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
