// Reads traces and analyses their variability, by threads, and by ranks where there are several.
//
//   each rank    reads ranges of rows, since no table has an index on time,
//                passes each span to the rank that its window belongs to,
//                analyses the blocks of windows that are its own
//   all ranks    bring together what they found, along a tree
//   rank 0       compares the windows
//
// The result has the same bytes for any number of threads and ranks, but for what each rank did. A rank keeps a limited
// number of spans in memory; what is more goes to a file that has no name.
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
  std::uint64_t shards = 0;  // if not 0: that many windows of equal width, from the first start to the last
  variability_settings settings;
  bool chooses_by = true;  // by device where there is any work of devices, else by region
  unsigned threads = 1;
  std::size_t max_kept_bytes = std::size_t{96} << 20U;  // of spans, in memory
};

// At rank 0 the result, elsewhere nothing. `over`: null where there is one rank. Throws error.
std::optional<variability_result> run_variability(const variability_request& request, rank_transport* over);

}  // namespace adaptyst::lib

#endif
