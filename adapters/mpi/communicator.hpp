// What is known of a communicator: which of its ranks are on this node, and a number that all its ranks know it by.
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
  bool world_ranks_known = false;  // all of them are of this world
  int first_in_world = 0;          // its rank 0
  std::vector<bool> is_near;       // by rank: on this node
  std::atomic<std::uint32_t> joint_calls{0};
};

// To be called when MPI has been initialised, by all ranks of the world, with a duplicate of it: finds out which of them
// share this node.
void meet_node(MPI_Comm world) noexcept;

// Remembered with the communicator, and forgotten with it. Null: it joins two groups, or there is no memory. The first
// call for a communicator takes a time that grows with its ranks; nothing is sent.
communicator* find_communicator(MPI_Comm communicator) noexcept;

// The same, with an id. To be called by all its ranks at the same place between the calls in which they work together: the
// first time, rank 0 sends the id to the others. Null also where meet_node() was not called, or a rank is of another world.
communicator* find_agreed_communicator(MPI_Comm communicator) noexcept;

bool is_on_this_node(MPI_Comm communicator, int peer) noexcept;

}  // namespace adaptyst::mpi_calls

#endif
