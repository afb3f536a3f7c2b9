// Counters of the processor, per region: cycles, instructions, cache misses, where the machine has them and lets us see.
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

// As perf_event_open() knows it.
struct counted_event {
  std::uint32_t type;
  std::uint64_t config;
};
using counted_events = std::array<counted_event, ADAPTYST_COUNTERS>;

counted_events hardware_events();

class counter_probes {
 public:
  // Begins to count on all processors, for the threads that `context` knows. Throws error where nothing can be counted.
  counter_probes(const context_probes& context, const counted_events& what);
  ~counter_probes();
  counter_probes(const counter_probes&) = delete;
  counter_probes& operator=(const counter_probes&) = delete;

  // Adds what has been counted; what the machine refused to count stays absent.
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
