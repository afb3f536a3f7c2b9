// The regions that an item passes: a series in which a part may be a block of branches. From a text such as
// "load,(fft|filter,scale),reduce": ',' is a series, '|' separates branches, parentheses nest. A parenthesis inside a
// name, as in "f(int, int)", belongs to the name. Pure.
#ifndef ADAPTYST_LIB_ADVISE_REGION_GRAPH_HPP
#define ADAPTYST_LIB_ADVISE_REGION_GRAPH_HPP

#include <cstddef>
#include <string>
#include <vector>

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

}  // namespace adaptyst::lib

#endif
