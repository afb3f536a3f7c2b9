// Keeps one process within its overhead budget while it is observed: looks at the rates of its markers, moves them from
// step to step, and remembers how long each was on which.
#ifndef ADAPTYST_LIB_SESSION_BUDGET_KEEPER_HPP
#define ADAPTYST_LIB_SESSION_BUDGET_KEEPER_HPP

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "../recorder/site_counts.hpp"
#include "overhead_budget.hpp"

namespace adaptyst::lib {

// How often look() is to be called; it does nothing where it is too early.
constexpr unsigned budget_look_ms = 5;

// Measured here, with markers whose events belong to no collection and are read by nothing. With the ebpf engine, the
// price of the trap is not in it.
event_costs measure_event_costs(bool in_kernel);

// Converts the number of a step in a marker's record.
budget_step to_step(std::uint32_t number, bool in_kernel);

struct budget_rules {
  double share = 0;  // of the CPU time
  event_costs costs;
  bool in_kernel = false;  // the engine's way is a trap
};

class budget_keeper {
 public:
  explicit budget_keeper(const budget_rules& rules) : rules_(rules), budget_(rules.share, rules.costs) {}

  bool is_due(std::uint64_t now_ns) const noexcept { return now_ns >= next_look_ns_; }
  // Moves markers to other steps; false: it is too early for a look.
  bool look(const process_state& state, const budget_look& at);
  // How many events only the process itself has counted, as far as they were seen: not those that the kernel counts.
  std::uint64_t in_process() const noexcept { return in_process_; }
  // Puts all markers back where the engine takes them.
  void release(const process_state& state);
  // How long a marker was on each step that it has been on, of `elapsed_ns`; by its id.
  std::map<budget_step, std::uint64_t> find_times(std::uint64_t site, std::uint64_t now_ns,
                                                  std::uint64_t elapsed_ns) const;

 private:
  struct stay {
    std::uint64_t since_ns = 0;
    std::uint32_t step = 0;
    std::map<std::uint32_t, std::uint64_t> before_ns;
  };
  thinning_allowed allowed(const site_count& marker) const;
  bool is_in_kernel(const site_count& marker) const;

  budget_rules rules_;
  overhead_budget budget_;
  site_counts counts_;
  std::unordered_map<std::uint64_t, stay> stays_;          // by id, of those that were ever moved
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;  // events, by the addresses of the markers' records
  std::uint64_t in_process_ = 0;
  std::uint64_t first_look_ns_ = 0;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
