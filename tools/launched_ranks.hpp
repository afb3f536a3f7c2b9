// This command as one rank of several, where a launcher of MPI has started it so.
#ifndef ADAPTYST_TOOLS_LAUNCHED_RANKS_HPP
#define ADAPTYST_TOOLS_LAUNCHED_RANKS_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <functional>

namespace adaptyst::tools {

// Runs `work` with what connects the ranks, or with null where there is one rank. A failure is told here, and ends all
// ranks; only the process itself where it is alone.
void in_launched_ranks(const std::function<void(rank_transport*)>& work);

}  // namespace adaptyst::tools

#endif
