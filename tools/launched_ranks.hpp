// This command as one of several ranks, if a launcher of MPI has started it.
#ifndef ADAPTYST_TOOLS_LAUNCHED_RANKS_HPP
#define ADAPTYST_TOOLS_LAUNCHED_RANKS_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <functional>

namespace adaptyst::tools {

// Runs `work` with the connection of the ranks; reports a failure, and then ends all ranks. Without a launcher, runs
// `work` with null and passes its exceptions on.
void in_launched_ranks(const std::function<void(rank_transport*)>& work);

}  // namespace adaptyst::tools

#endif
