// The share of a rank's run that is in MPI, for POP's efficiencies of MPI.
#ifndef ADAPTYST_LIB_MODEL_MPI_USAGE_HPP
#define ADAPTYST_LIB_MODEL_MPI_USAGE_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <functional>
#include <vector>

namespace adaptyst::lib {

// A region that is an MPI call, recorded by any method.
bool is_mpi_call(const region& row);
// A call that starts a transfer and returns before its end, such as MPI_Isend and cudaMemcpyAsync: its time is not the
// time of the transfer.
bool is_nonblocking_call(const region& row);

// The time in a region, and its variance if events were sampled; otherwise 0.
struct measured_time {
  std::uint64_t ns = 0;
  double variance = 0;
};

// For ranks that ran for `run_ns` after the end of MPI_Init. `time_in`: the time in one of these regions, which have
// the threads of `ranks` ranks. For calls on several threads, their mean.
mpi_usage find_mpi_usage(const std::vector<region>& regions, std::uint32_t ranks, std::uint64_t run_ns,
                         const rank_place& place, const std::function<measured_time(const region&)>& time_in);
// For a profile of one rank.
mpi_usage find_mpi_usage(const profile& profile, const rank_place& place);

}  // namespace adaptyst::lib

#endif
