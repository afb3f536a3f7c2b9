// The rank of this process, which launchers of MPI programs set in its environment.
#ifndef ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP
#define ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace adaptyst::lib {

// From Open MPI, launchers with PMI or PMIx, and Slurm. Empty: none of these has started the process, or its rank is
// not a number.
std::string launch_rank();

// The same as a number, of any process whose environment may be read.
std::optional<std::uint32_t> find_rank(pid_t process);

// Whether there may be other ranks: false if the launcher says that there is only one.
bool has_other_ranks();

// Whether this process prints messages that are the same for all ranks: the first rank does, and a process without a
// rank.
bool speaks_for_ranks();

}  // namespace adaptyst::lib

#endif
