// Decides on which step each marker of a process is recorded, so that observing costs no more than a share of the CPU time
// that the process uses: arithmetic alone, from counts to steps.
#ifndef ADAPTYST_LIB_SESSION_OVERHEAD_BUDGET_HPP
#define ADAPTYST_LIB_SESSION_OVERHEAD_BUDGET_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../profile/measured.hpp"

namespace adaptyst::lib {

struct marker_load {
  std::uint64_t marker = 0;
  std::uint64_t events = 0;   // since the process is observed, those that were left out among them
  std::uint32_t highest = 0;  // step that it may be on
  std::uint32_t step = 0;     // that it is on: looked at when it is new
};

struct step_change {
  std::uint64_t marker;
  std::uint32_t step;
};

class overhead_budget {
 public:
  // `share`: of the CPU time, 0.02 for 2 %.
  overhead_budget(double share, const event_costs& costs) : share_(share), costs_(costs) {}

  // Which markers are to be on another step from now on. `cpu_ns`: that the process has used since it is observed. Costs shrink at once;
  // they grow again when for a second half the budget would have been enough.
  std::vector<step_change> decide(std::uint64_t now_ns, std::uint64_t cpu_ns, const std::vector<marker_load>& all);

 private:
  struct known {
    std::uint64_t events = 0;
    std::uint32_t step = 0;
    std::uint32_t lowest_enough = 0;    // of the looks since
    std::uint64_t enough_since_ns = 0;  // a lower step would do; 0: it would not
  };
  struct asked {
    std::uint64_t marker;
    double rate;  // events in a nanosecond of CPU time
    std::uint32_t highest;
    known* held;
  };

  double cost_of(const asked& one, std::uint32_t step) const { return one.rate * costs_.on(step); }
  std::uint32_t cheapest_step(const asked& one) const;
  std::uint32_t step_under(const asked& one, double cap) const;
  // The share, or more where even the cheapest steps cost it.
  double attainable(const std::vector<asked>& all, double share) const;
  std::vector<std::uint32_t> steps_within(const std::vector<asked>& all, double share) const;

  double share_;
  event_costs costs_;
  std::unordered_map<std::uint64_t, known> markers_;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
