// Decides on which step each marker of a process is recorded, so that observing costs no more than a share of the CPU
// time that the process uses: arithmetic alone, from counts to steps.
#ifndef ADAPTYST_LIB_SESSION_OVERHEAD_BUDGET_HPP
#define ADAPTYST_LIB_SESSION_OVERHEAD_BUDGET_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../model/measured.hpp"

namespace adaptyst::lib {

// How far the events of a marker may be thinned.
enum class thinning_allowed {
  none,
  recorder,      // they may be recorded by the program, and none is left out
  single,        // one by one: nothing is nested in them
  with_subtree,  // with what is nested in them
};

struct marker_load {
  std::uint64_t marker = 0;
  std::uint64_t events = 0;  // since the process is observed, those that were left out among them
  thinning_allowed allowed = thinning_allowed::none;
  std::uint32_t step = 0;  // that it is on: looked at when it is new
  // Its events right inside those of others, by their markers; null: none.
  const std::unordered_map<std::uint64_t, std::uint64_t>* inside = nullptr;
  double extra_ns = 0;  // that an event costs whether it is recorded or not
};

struct budget_look {
  std::uint64_t now_ns = 0;
  std::uint64_t cpu_ns = 0;  // that the process has used since it is observed
  double context_share = 0;  // of CPU time, what context and samples have cost
  double traced_ns = 0;      // CPU time that the timeline costs for an event that is in it
};

struct step_change {
  std::uint64_t marker;
  std::uint32_t step;
};

class overhead_budget {
 public:
  // `share`: of the CPU time, 0.02 for 2 %.
  overhead_budget(double share, const event_costs& costs) : share_(share), costs_(costs) {}

  // Which markers are to be on another step from now on. Costs shrink at once; they grow again when for a second half
  // the budget would have been enough.
  std::vector<step_change> decide(const budget_look& now, const std::vector<marker_load>& all);

 private:
  struct known {
    std::uint64_t events = 0;
    std::uint32_t step = 0;
    std::uint32_t lowest_enough = 0;    // of the looks since
    std::uint64_t enough_since_ns = 0;  // a lower step would do; 0: it would not
  };
  struct nesting {
    std::size_t around;  // of which marker, by its number among those that ask
    double share;        // of the events that are nested in it
  };
  struct asked {
    std::uint64_t marker;
    double rate;  // events in a nanosecond of CPU time
    thinning_allowed allowed;
    known* held;
    bool has_nested;
    double extra_ns;
    std::vector<nesting> inside;
  };
  // Those around others come before these.
  static std::vector<asked> in_order(const std::vector<marker_load>& all, std::vector<asked> asking);
  struct plan {
    std::vector<std::uint32_t> steps;
    double cost = 0;  // of the CPU time
  };

  // Whether enough events would be recorded on the step. `reached`: as below.
  static bool is_sensible(const asked& marker, std::uint32_t step, double reached);
  // `reached`: the share of its events that are not left out with a region around them.
  double estimate_cost(const asked& marker, std::uint32_t step, double reached) const;
  std::uint32_t cheapest_step(const asked& marker, double reached) const;
  // The first on which the marker costs at most `cap` more than it must.
  std::uint32_t step_under(const asked& marker, double reached, double cap) const;
  template <class Choose>
  plan plan_all(const std::vector<asked>& all, Choose&& choose) const;
  // What markers may cost, and what of it is for events that are recorded, whatever leaving out the others costs.
  struct allowance {
    double share, recorded;  // of the CPU time
  };
  // The share, or more where even the cheapest steps cost it.
  double attainable(const std::vector<asked>& all, allowance allowed) const;
  std::vector<std::uint32_t> steps_within(const std::vector<asked>& all, allowance budget) const;

  double share_;
  event_costs costs_;
  double traced_ns_ = 0;  // as in budget_look
  std::unordered_map<std::uint64_t, known> markers_;
  std::uint64_t looked_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
