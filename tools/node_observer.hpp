// The process that observes all ranks of a job on one machine.
#ifndef ADAPTYST_TOOLS_NODE_OBSERVER_HPP
#define ADAPTYST_TOOLS_NODE_OBSERVER_HPP

#include "observing.hpp"
#include "support/descriptor.hpp"
#include "support/launched_job.hpp"

namespace adaptyst::tools {

// Forks it; `meeting`: where ranks connect. It ends by itself when all programs have, with a report. False: it could
// not be forked.
bool start_node_observer(lib::descriptor meeting, const observing_options& options, const lib::launched_job& job);

}  // namespace adaptyst::tools

#endif
