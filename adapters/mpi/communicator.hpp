// Data on a communicator: its ranks on this node, and a number that is the same on all its ranks.
#ifndef ADAPTYST_ADAPTERS_MPI_COMMUNICATOR_HPP
#define ADAPTYST_ADAPTERS_MPI_COMMUNICATOR_HPP

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace adaptyst::mpi_calls {

struct communicator {
  std::uint64_t id = 0;  // the same on all its ranks; 0: not agreed upon
  std::uint32_t size = 0;
  bool world_ranks_known = false;  // all of them belong to this world
  int first_in_world = 0;          // its rank 0
  std::vector<bool> is_near;       // by rank: on this node
  std::atomic<std::uint32_t> collective_calls{0};
};

// Finds out which ranks of the world are on this node. All ranks of the world call it when MPI has been initialised,
// with a duplicate of the world.
void find_node_ranks(MPI_Comm world) noexcept;

// The result is stored with the communicator, and freed with it. Null: the communicator joins two groups, or there is
// no memory. The time of the first call for a communicator grows with its ranks; nothing is sent.
communicator* find_communicator(MPI_Comm communicator) noexcept;

// The same, with an id. All ranks of the communicator call it at the same position in their order of collective calls:
// the first time, rank 0 sends the id to the others. Null also without find_node_ranks(), or if a rank belongs to
// another world.
communicator* find_agreed_communicator(MPI_Comm communicator) noexcept;

bool is_on_this_node(MPI_Comm communicator, int peer) noexcept;

}  // namespace adaptyst::mpi_calls

#endif
