// A rank that leaves the observing to one process for all ranks of its machine: it only starts its program, passes
// signals on, and ends as the program does.
#ifndef ADAPTYST_TOOLS_NODE_MEMBER_HPP
#define ADAPTYST_TOOLS_NODE_MEMBER_HPP

#include <optional>
#include <string>
#include <vector>

#include "gated_program.hpp"
#include "observing.hpp"

namespace adaptyst::tools {

// The status of the command, as waitpid() tells it; empty: there is no observer for all, and the command has not begun.
std::optional<int> run_in_node(const observing_options& options, const std::vector<std::string>& command,
                               environment gained);

}  // namespace adaptyst::tools

#endif
