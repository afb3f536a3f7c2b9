// How much of a rank's run went by in MPI: what POP's efficiencies of MPI are made of.
#ifndef ADAPTYST_LIB_PROFILE_MPI_USAGE_HPP
#define ADAPTYST_LIB_PROFILE_MPI_USAGE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>

namespace adaptyst::lib {

// A region that is a call of MPI, by whatever means that was seen.
bool is_mpi_call(const region& row);

// Of a profile of one rank, from the end of MPI_Init on. Of calls on several threads, their mean.
mpi_usage find_mpi_usage(const profile& profile, const rank_place& place);

}  // namespace adaptyst::lib

#endif
