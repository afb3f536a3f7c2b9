// Reads traces and analyses their variability, with threads and, if available, with ranks.
//
//   each rank    reads ranges of rows, because no table has an index on time;
//                sends each span to the rank of its window;
//                analyses its own blocks of windows;
//   all ranks    combine their results along a tree;
//   rank 0       compares the windows
//
// Except for the work of each rank, the result has the same bytes for any number of threads and ranks. A rank keeps a
// limited number of spans in memory; further spans go to an unnamed file.
#ifndef ADAPTYST_LIB_DISTRIBUTE_VARIABILITY_RUN_HPP
#define ADAPTYST_LIB_DISTRIBUTE_VARIABILITY_RUN_HPP

#include <adaptyst/adapter/rank_transport.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../analyse/variability/variability.hpp"

namespace adaptyst::lib {

struct variability_request {
  std::vector<std::string> traces;
  std::uint64_t window_ns = 10'000'000;
  std::uint64_t shards = 0;  // if not 0: this number of windows of equal width, from the first start to the last end
  variability_settings settings;
  bool chooses_by = true;  // by device if there is device work, otherwise by region
  unsigned threads = 1;
  std::size_t max_kept_bytes = std::size_t{96} << 20U;  // memory for spans
};

// Returns the result at rank 0, and nothing on other ranks. `over`: null for a single rank. Throws error.
std::optional<variability_result> run_variability(const variability_request& request, rank_transport* over);

}  // namespace adaptyst::lib

#endif
