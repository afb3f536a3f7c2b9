// Counters of the processor, per region: cycles, instructions, cache misses, if the machine has them and permits
// access.
#ifndef ADAPTYST_LIB_KERNEL_COUNTER_PROBES_HPP
#define ADAPTYST_LIB_KERNEL_COUNTER_PROBES_HPP

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../probes/counter_layout.h"
#include "bpf_loading.hpp"
#include "context_probes.hpp"

struct counters_bpf;

namespace adaptyst::lib {

// As defined by perf_event_open().
struct counted_event {
  std::uint32_t type;
  std::uint64_t config;
};
using counted_events = std::array<counted_event, ADAPTYST_COUNTERS>;

counted_events hardware_events();

class counter_probes {
 public:
  // Begins to count on all processors, for the threads of `context`. Throws error if nothing can be counted.
  counter_probes(const context_probes& context, const counted_events& what);
  ~counter_probes();
  counter_probes(const counter_probes&) = delete;
  counter_probes& operator=(const counter_probes&) = delete;

  // Adds the counts; refused counters are omitted.
  void read(context_sums& into) const;
  std::uint64_t cost_ns() const;  // see context_probes

 private:
  int attach(const counted_event& event, std::uint64_t which);

  owned_programs<counters_bpf> loaded_;
  std::vector<owned_link> links_;
  std::array<bool, ADAPTYST_COUNTERS> counts_{};
};

}  // namespace adaptyst::lib

#endif
