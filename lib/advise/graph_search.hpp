// The best mappings of a graph with branches, for items one at a time. Exact for this model:
//   A block distributes its branches to lanes. Lanes run at the same time; the branches of a lane follow each other.
//   A lane holds its devices for the whole block: of each type, the most that one of its branches needs. All lanes
//   together need at most the devices that exist. Block: the longest lane. Series: the sum of its parts.
//   A region copies its input from its predecessor. The end of a branch copies to the region after the block.
// Copies and memory are free of contention. In a series of 8 branches the lanes are all 4140 partitions; a limit on
// the work gives an error before the search takes minutes.
#ifndef ADAPTYST_LIB_ADVISE_GRAPH_SEARCH_HPP
#define ADAPTYST_LIB_ADVISE_GRAPH_SEARCH_HPP

#include <adaptyst/advisor.hpp>
#include <optional>
#include <vector>

#include "mapping_search.hpp"

namespace adaptyst::lib {

// As find_pareto() and evaluate_stages(), for costs with a graph.
std::vector<mapping> find_graph_pareto(const chain_costs& costs);
std::optional<mapping> evaluate_graph(const chain_costs& costs, const std::vector<advised_stage>& stages);

}  // namespace adaptyst::lib

#endif
