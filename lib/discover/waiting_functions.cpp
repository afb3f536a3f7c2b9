#include "function_request.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace adaptyst::lib {

namespace {

// Without MPI_Send, which mostly only copies, and without functions that only query, such as MPI_Test.
constexpr const char* waiting[] = {
    "mpi_init", "mpi_init_thread", "mpi_finalize", "mpi_barrier",
    // Between two processes.
    "mpi_wait*", "mpi_recv", "mpi_mrecv", "mpi_probe", "mpi_mprobe", "mpi_sendrecv*", "mpi_ssend",
    // Among all processes.
    "mpi_bcast", "mpi_reduce", "mpi_allreduce", "mpi_reduce_scatter*", "mpi_gather", "mpi_gatherv", "mpi_allgather",
    "mpi_allgatherv", "mpi_scatter", "mpi_scatterv", "mpi_alltoall", "mpi_alltoallv", "mpi_alltoallw", "mpi_scan",
    "mpi_exscan", "mpi_neighbor_all*", "mpi_comm_create*", "mpi_comm_dup*", "mpi_comm_split*", "mpi_win_create*",
    "mpi_win_allocate*", "mpi_win_fence", "mpi_win_wait", "mpi_win_lock*", "mpi_win_unlock*", "mpi_win_flush*",
    // For files and devices.
    "mpi_file_open", "mpi_file_close", "mpi_file_read*", "mpi_file_write*", "mpi_file_sync", "fsync", "fdatasync",
    "clfinish", "clwaitforevents", "clbuildprogram", "clcompileprogram", "cllinkprogram", "cudadevicesynchronize",
    "cudastreamsynchronize", "cudaeventsynchronize", "cuctxsynchronize", "custreamsynchronize", "cueventsynchronize",
    "hipdevicesynchronize", "hipstreamsynchronize", "hipeventsynchronize"};

}  // namespace

bool waits_for_others(std::string_view symbol) {
  while (!symbol.empty() && symbol.back() == '_') symbol.remove_suffix(1);
  std::string name(symbol);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return std::any_of(std::begin(waiting), std::end(waiting),
                     [&](const char* pattern) { return matches(pattern, name); });
}

}  // namespace adaptyst::lib
