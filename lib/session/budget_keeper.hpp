// Keeps one process within its overhead budget while it is observed: reads the event rates of its markers, moves
// markers between steps, and records the time that each marker spends on each step.
#ifndef ADAPTYST_LIB_SESSION_BUDGET_KEEPER_HPP
#define ADAPTYST_LIB_SESSION_BUDGET_KEEPER_HPP

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "../recorder/site_counts.hpp"
#include "overhead_budget.hpp"

namespace adaptyst::lib {

// Time between calls of poll(), which does nothing if the call comes too early.
constexpr unsigned budget_poll_ms = 5;

// Measures with markers that belong to no collection; their events are not read. With the ebpf engine, the cost of the
// trap is not included.
event_costs measure_event_costs(bool is_in_kernel);

// Converts the number of a step in a marker's record.
budget_step to_step(std::uint32_t number, bool is_in_kernel);

struct budget_rules {
  double share = 0;  // of the CPU time
  event_costs costs;
  bool is_in_kernel = false;  // the engine uses a trap
};

class budget_keeper {
 public:
  explicit budget_keeper(const budget_rules& rules) : rules_(rules), budget_(rules.share, rules.costs) {}

  bool is_due(std::uint64_t now_ns) const noexcept { return now_ns >= next_poll_ns_; }
  // Moves markers to other steps; false: it is too early for a refresh.
  bool poll(const process_state& state, const budget_input& at);
  // Number of events counted only by the process itself, as last read; events counted by the kernel are not included.
  std::uint64_t in_process() const noexcept { return in_process_; }
  // Puts all markers back on the step of the engine.
  void release(const process_state& state);
  // The part of the time up to `now_ns` that a marker spent on each of its steps; by its id.
  std::map<budget_step, std::uint64_t> find_times(std::uint64_t site, std::uint64_t now_ns,
                                                  std::uint64_t elapsed_ns) const;

 private:
  struct stay {
    std::uint64_t since_ns = 0;
    std::uint32_t step = 0;
    std::map<std::uint32_t, std::uint64_t> before_ns;
  };
  allowed_sampling allowed(const site_count& marker) const;
  bool is_in_kernel(const site_count& marker) const;

  budget_rules rules_;
  overhead_budget budget_;
  site_counts counts_;
  std::unordered_map<std::uint64_t, stay> stays_;          // by id, of the markers that were moved
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;  // events, by the addresses of the markers' records
  std::uint64_t in_process_ = 0;
  std::uint64_t first_poll_ns_ = 0;
  std::uint64_t next_poll_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
