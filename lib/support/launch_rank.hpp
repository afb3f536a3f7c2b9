// The rank of this process, which launchers of parallel programs set in its environment.
#ifndef ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP
#define ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

// From the launchers that docs/mpi.md lists. Empty: none of these has started the process, or its rank is not a number.
std::string launch_rank();

// The same as a number, of any process whose environment may be read.
std::optional<std::uint32_t> find_rank(pid_t process);

// The variable of the environment that tells the rank of this process; null: it has none.
const char* rank_variable();

// The environment with which a process was started, an entry behind another, each with a zero behind it; empty: it is
// hidden from us. And the value of a variable in it.
std::string read_environment(pid_t process);
std::optional<std::string> find_variable(const std::string& environment, const std::string& name);

// From now on this process is no rank: it observes those of this machine.
void stand_for_all_ranks();

// Whether there may be other ranks: false if the launcher says that there is only one.
bool has_other_ranks();

// Whether a running MPI program has started this one (MPI_Comm_spawn), which then has ranks with the same numbers.
bool is_spawned();

// Whether this process prints messages that are the same for all ranks: the first rank does, and a process without a
// rank.
bool prints_for_all_ranks();

}  // namespace adaptyst::lib

#endif
