// What launchers of MPI programs say of a process in its environment.
#ifndef ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP
#define ADAPTYST_LIB_SUPPORT_LAUNCH_RANK_HPP

#include <string>

namespace adaptyst::lib {

// Of Open MPI, of what speaks PMI or PMIx, and of Slurm; empty: none has started this process, or its rank is no number.
std::string launch_rank();

// Whether there may be other ranks: not where the launcher says that it is the only one.
bool has_other_ranks();

// Whether it is for this process to say what all ranks would: the first rank, or one that has none.
bool speaks_for_ranks();

}  // namespace adaptyst::lib

#endif
