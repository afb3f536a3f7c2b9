// The best mappings of a chain of regions to devices, by an exact dynamic program over contiguous groups. Pure.
// A state is the number of finished regions, the number of devices of each type in use, and the type of the last group.
// It holds the Pareto set of (period, latency, joules); keeping only the best period would lose mappings that need less
// energy. A step puts regions i … j on c devices of a type: s = copy into i + sum of times; the period becomes the
// longest s, and the latency grows by s. O(n^2 prod(N_T + 1) |T| max N |Pareto|). After Bai et al., arXiv 2502.06304.
#ifndef ADAPTYST_LIB_ADVISE_MAPPING_SEARCH_HPP
#define ADAPTYST_LIB_ADVISE_MAPPING_SEARCH_HPP

#include <adaptyst/advisor.hpp>
#include <cstddef>
#include <optional>
#include <vector>

namespace adaptyst::lib {

struct region_graph;

// All costs of one question. An impossible or unmeasured entry is empty.
struct chain_costs {
  struct place {
    double ns = 0, joules = 0;  // joules above idle
  };

  std::size_t regions = 0;
  std::vector<std::uint32_t> counts;  // usable devices of each type
  std::size_t home = 0;               // the type that holds the data before and after the chain
  // [region][type][c - 1]
  std::vector<std::vector<std::vector<std::optional<place>>>> times;
  // [boundary][from][to], boundary 0 … regions: the copy into that region; the last one is the copy home
  std::vector<std::vector<std::vector<std::optional<double>>>> copies;
  std::vector<double> watts;  // of each type, above idle: the power of a device that receives a copy
  double idle_watts = 0;      // of all devices together
  std::optional<double> max_watts;
  bool pipelined = false;
  const region_graph* graph = nullptr;  // with branches; else the regions are a chain
};

// Costs are sums of rounded numbers: a relative difference below this is a tie.
constexpr double tie = 1e-9;
inline bool is_at_most(double a, double b) { return a <= b * (1 + tie); }

// The mean costs of several inputs: those of an item if the inputs have equal shares. All have the same limits. An entry
// that is impossible for an input is impossible.
chain_costs average(const std::vector<chain_costs>& all);

// The Pareto set of period, latency and joules, sorted by period; one of equal mappings. Joules are 0 if no power is
// known.
std::vector<mapping> find_pareto(const chain_costs& costs);

// The costs of these stages; empty: impossible.
std::optional<mapping> evaluate_stages(const chain_costs& costs, const std::vector<advised_stage>& stages);

}  // namespace adaptyst::lib

#endif
