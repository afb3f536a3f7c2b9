// The regions that an item passes: a series in which a part may be a block of branches. From a text such as
// "load,(fft|filter,scale),reduce": ',' is a series, '|' separates branches, parentheses nest. A parenthesis inside a
// name, as in "f(int, int)", belongs to the name. Pure.
#ifndef ADAPTYST_LIB_ADVISE_REGION_GRAPH_HPP
#define ADAPTYST_LIB_ADVISE_REGION_GRAPH_HPP

#include <adaptyst/advisor.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mapping_search.hpp"

namespace adaptyst::lib {

struct region_graph {
  struct part {
    std::size_t region = 0;             // index into names, if there are no branches
    std::vector<std::size_t> branches;  // indices into series
  };

  std::vector<std::string> names;         // in the order of the text
  std::vector<std::vector<part>> series;  // between two blocks of a series is a region
  std::size_t root = 0;                   // index into series
  bool has_branches = false;
};

// Throws error for a text that is no graph, and for too many regions, branches or levels.
region_graph parse_chain(const std::vector<std::string>& elements);

// The best mappings of a graph with branches, for items one at a time. Exact for this model:
//   A block distributes its branches to lanes. Lanes run at the same time; the branches of a lane follow each other.
//   A lane holds its devices for the whole block: of each type, the most that one of its branches needs. All lanes
//   together need at most the devices that exist. Block: the longest lane. Series: the sum of its parts.
//   A region copies its input from its predecessor. The end of a branch copies to the region after the block.
// Copies and memory are free of contention. In a series of 8 branches the lanes are all 4140 partitions; a limit on
// the work gives an error before the search takes minutes.
//
// The same as find_pareto() and evaluate_stages(), for costs with a graph.
std::vector<mapping> find_graph_pareto(const chain_costs& costs);
std::optional<mapping> evaluate_graph(const chain_costs& costs, const std::vector<advised_stage>& stages);

}  // namespace adaptyst::lib

#endif
