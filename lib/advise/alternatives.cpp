// Compares the advice with simpler choices: one type of devices for all regions, or one mapping for all inputs.
#include <algorithm>
#include <optional>

#include "fields.hpp"

namespace adaptyst::lib {

namespace {

struct question {
  advice_objective objective;
  advice_limits limits;
};

// "balanced" refers to the best throughput of all mappings, not of the mappings to one type.
question fix_balance(const advisor& from, const advice_report& report, const feature_values& features) {
  question made{report.objective, report.limits};
  if (report.objective != advice_objective::balanced) return made;
  const advice fastest = from.find_best(advice_objective::throughput, features, report.execution, report.limits);
  made.objective = advice_objective::energy;
  if (fastest.best)
    made.limits.min_per_second =
        std::max(made.limits.min_per_second.value_or(0), report.limits.balanced_share * fastest.best->per_second());
  return made;
}

}  // namespace

void add_alternatives(const advisor& from, const std::vector<feature_values>& all, advice_report& report) {
  const std::optional<mapping> best_static =
      from.find_best_static(report.objective, all, report.execution, report.limits).best;
  for (advised_input& input : report.inputs) {
    if (!input.given.best) continue;
    const mapping& advised = *input.given.best;
    const auto add = [&](const std::string& name, const std::optional<mapping>& found) {
      if (found)
        input.alternatives.push_back({name, *found, from.compare(advised, *found, input.features, report.objective)});
    };
    const question balanced = fix_balance(from, report, input.features);
    for (const device_type& device : report.devices) {
      advice_limits limits = balanced.limits;
      for (const device_type& other : report.devices)
        if (other.name != device.name) limits.max_devices[other.name] = 0;
      add(device.name + " only", from.find_best(balanced.objective, input.features, report.execution, limits).best);
    }
    if (best_static) add("best static", from.evaluate(best_static->stages, input.features, report.execution));
  }
}

}  // namespace adaptyst::lib
