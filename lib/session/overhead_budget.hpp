// Decides on which step each marker of a process is recorded, so that observation costs no more than a share of the CPU
// time of the process. Only computes steps from counts.
#ifndef ADAPTYST_LIB_SESSION_OVERHEAD_BUDGET_HPP
#define ADAPTYST_LIB_SESSION_OVERHEAD_BUDGET_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "../model/measurements.hpp"

namespace adaptyst::lib {

// The permitted extent of event sampling of a marker.
enum class allowed_sampling {
  none,
  recorder,      // the program may record the events; none is skipped
  single,        // one by one: they have no nested events
  with_subtree,  // with their nested events
};

struct marker_load {
  std::uint64_t marker = 0;
  std::uint64_t events = 0;  // since the observation began, including skipped ones
  allowed_sampling allowed = allowed_sampling::none;
  std::uint32_t step = 0;  // the current step; read when the marker is new
  // Its events directly inside those of other markers, by the other markers; null: none.
  const std::unordered_map<std::uint64_t, std::uint64_t>* inside = nullptr;
  double extra_ns = 0;  // cost of an event whether it is recorded or not
};

struct budget_input {
  std::uint64_t now_ns = 0;
  std::uint64_t cpu_ns = 0;  // used by the process since the observation began
  double context_share = 0;  // share of CPU time used by context and samples
  double traced_ns = 0;      // CPU time of an event in the timeline
};

struct step_change {
  std::uint64_t marker;
  std::uint32_t step;
};

class overhead_budget {
 public:
  // `share`: of the CPU time, 0.02 for 2 %.
  overhead_budget(double share, const event_costs& costs) : share_(share), costs_(costs) {}

  // The markers that change their step. Costs decrease at once; they increase again once half the budget would have
  // been enough for one second.
  std::vector<step_change> decide(const budget_input& now, const std::vector<marker_load>& all);

 private:
  struct marker_state {
    std::uint64_t events = 0;
    std::uint32_t step = 0;
    std::uint32_t coarsest_enough = 0;  // since `enough_since_ns`
    std::uint64_t enough_since_ns = 0;  // since when a lower step is enough; 0: it is not
  };
  struct nesting {
    std::size_t around;  // the outer marker, by its number in the list
    double share;        // of the events that are nested in it
  };
  struct candidate {
    std::uint64_t marker;
    double rate;  // events in a nanosecond of CPU time
    allowed_sampling allowed;
    marker_state* held;
    bool has_nested;
    double extra_ns;
    std::vector<nesting> inside;
  };
  // Outer markers come first.
  static std::vector<candidate> in_order(const std::vector<marker_load>& all, std::vector<candidate> candidates);
  struct plan {
    std::vector<std::uint32_t> steps;
    double cost = 0;  // of the CPU time
  };

  // Whether enough events would be recorded on the step. `reached`: as below.
  static bool is_sensible(const candidate& marker, std::uint32_t step, double reached);
  // `reached`: the share of its events that are not skipped with a region around them.
  double estimate_cost(const candidate& marker, std::uint32_t step, double reached) const;
  std::uint32_t cheapest_step(const candidate& marker, double reached) const;
  // The first step on which the marker costs at most `cap` more than its least cost.
  std::uint32_t step_under(const candidate& marker, double reached, double cap) const;
  template <class Choose>
  plan plan_all(const std::vector<candidate>& all, Choose&& choose) const;
  // The cost limit of markers, and the part that is reserved for recorded events, whatever skipped events cost.
  struct allowance {
    double share, recorded;  // of the CPU time
  };
  // The share, or more if even the cheapest steps need more.
  double attainable(const std::vector<candidate>& all, allowance allowed) const;
  std::vector<std::uint32_t> steps_within(const std::vector<candidate>& all, allowance budget) const;

  double share_;
  event_costs costs_;
  double traced_ns_ = 0;  // as in budget_input
  std::unordered_map<std::uint64_t, marker_state> markers_;
  std::uint64_t polled_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
