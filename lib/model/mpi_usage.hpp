// How much of a rank's run went by in MPI: what POP's efficiencies of MPI are made of.
#ifndef ADAPTYST_LIB_MODEL_MPI_USAGE_HPP
#define ADAPTYST_LIB_MODEL_MPI_USAGE_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <functional>
#include <vector>

namespace adaptyst::lib {

// A region that is a call of MPI, by whatever means that was seen.
bool is_mpi_call(const region& row);
// A call that starts a transfer and returns before its end, as MPI_Isend and cudaMemcpyAsync: its time is not that of the
// transfer.
bool is_nonblocking_call(const region& row);

// A time in a region, and its variance where an overhead budget has thinned the region; otherwise 0.
struct measured_time {
  std::uint64_t ns = 0;
  double variance = 0;
};

// Of a rank that ran for `run_ns`, from the end of MPI_Init on. `time_in`: how long it was in one of these regions, which
// have the threads of that many ranks. Of calls on several threads, their mean.
mpi_usage find_mpi_usage(const std::vector<region>& regions, std::uint32_t ranks, std::uint64_t run_ns,
                         const rank_place& place, const std::function<measured_time(const region&)>& time_in);
// Of a profile of one rank.
mpi_usage find_mpi_usage(const profile& profile, const rank_place& place);

}  // namespace adaptyst::lib

#endif
