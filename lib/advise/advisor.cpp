// Stores the measurements, fits cost models to them on request, and prepares the costs of a question for the search.
#include <fmt/format.h>

#include <adaptyst/advisor.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "cost_model.hpp"
#include "mapping_search.hpp"
#include "region_graph.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

constexpr std::size_t drift_window = 5;
// Fewer executions than this are too few to detect a drift.
constexpr std::size_t min_watched = 3;
// The noise of single executions is estimated from this many items. A drift is only one step among them.
constexpr std::size_t noise_window = 20, min_steps = 8;
// A gain of this many standard deviations above 0 is not chance, even over hundreds of questions.
constexpr double deviations_of_chance = 4;

[[noreturn]] void refuse(const std::string& what, const std::string& subject, const std::string& hint) {
  throw error(what, subject, 0, hint);
}

std::string list_names(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) {
    if (!all.empty()) all += ", ";
    all += name;
  }
  return all;
}

void require_names(const std::vector<std::string>& names, const std::string& what) {
  std::set<std::string> seen;
  for (const std::string& name : names)
    if (name.empty() || !seen.insert(name).second)
      refuse(fmt::format("the {} '{}' is empty or given twice", what, name), name, "give each a different name");
}

// Student's quantile over the normal one (95 %, two-sided), by the Cornish-Fisher expansion: within 0.2 % from n = 8.
double correct_for_few(std::uint64_t n) {
  constexpr std::array few = {6.483, 2.195, 1.624, 1.416, 1.312, 1.248};  // n = 2 to 7, from tables
  if (n < 2 + few.size()) return few[std::max<std::uint64_t>(2, n) - 2];
  constexpr double z = 1.96, z2 = z * z;
  const double freedom = static_cast<double>(n - 1);
  return 1 + (z2 + 1) / (4 * freedom) + ((5 * z2 + 16) * z2 + 3) / (96 * freedom * freedom);
}

double median(std::deque<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

struct advisor::state {
  // A region on a number of devices of one type.
  struct place {
    std::vector<lib::cost_sample> samples;
    std::optional<lib::cost_model> model;
    double joules = 0, joules_ns = 0;  // of executions with measured energy, and their time
    std::deque<double> ratios;         // measured time over expected time without drift, from update_drift()
    std::deque<double> steps;          // differences of the logarithms of neighbours among all ratios

    // Relative error of the result of predict(), from the noise of the executions that it uses.
    double find_error(const std::vector<double>& at) const {
      const cost_estimate measured = model->predict(at);
      double deviation = measured.deviation_ns.value_or(0) / measured.ns;
      // The median of steps between independent normal numbers is 0.6745 sqrt(2) of their deviation.
      if (steps.size() >= min_steps) deviation = std::max(deviation, median(steps) / (0.6745 * std::sqrt(2.0)));
      // If the noise is unknown, a drift cannot be confirmed.
      else if (ratios.size() >= min_watched && !measured.deviation_ns) return 1;
      if (ratios.size() < min_watched)
        return deviation / std::sqrt(static_cast<double>(std::max<std::uint64_t>(1, measured.n)));
      return 1.2533 * deviation / std::sqrt(static_cast<double>(ratios.size()));  // of a median
    }

    // The same for a comparison that is not repeated; empty: unknown. CV: 1.2533 converts a mean absolute error to a
    // standard deviation.
    std::optional<double> find_prediction_error(const std::vector<double>& at) const {
      if (ratios.size() >= min_watched) return find_error(at);
      const cost_estimate expected = model->predict(at);
      if (expected.provenance == cost_provenance::extrapolated) return std::nullopt;
      if (expected.provenance == cost_provenance::interpolated)
        return expected.cv_error ? std::optional(1.2533 * *expected.cv_error) : std::nullopt;
      return expected.deviation_ns ? std::optional(find_error(at) * correct_for_few(expected.n)) : std::nullopt;
    }

    double drift() const { return ratios.size() < min_watched ? 1 : median(ratios); }
  };

  std::vector<std::string> chain;
  lib::region_graph graph;
  std::string chain_text;
  std::vector<device_type> devices;
  std::vector<std::string> features;
  std::size_t home = 0;
  std::map<std::array<std::size_t, 3>, place> places;  // region, device, count
  std::map<std::array<std::size_t, 2>, lib::copy_model> copies;
  struct passed {
    std::vector<lib::cost_sample> samples;
    std::optional<lib::cost_model> model;
  };
  std::vector<passed> bytes;  // by boundary
  bool is_fitted = true;

  std::size_t find_region(const std::string& name) const {
    const auto at = std::find(chain.begin(), chain.end(), name);
    if (at == chain.end()) refuse("the chain has no region '" + name + "'", name, "its regions: " + list_names(chain));
    return static_cast<std::size_t>(at - chain.begin());
  }
  std::size_t find_device(const std::string& name) const {
    const auto at =
        std::find_if(devices.begin(), devices.end(), [&](const device_type& type) { return type.name == name; });
    if (at == devices.end()) {
      std::vector<std::string> names;
      for (const device_type& device : devices) names.push_back(device.name);
      refuse("no device is called '" + name + "'", name, "the devices are " + list_names(names));
    }
    return static_cast<std::size_t>(at - devices.begin());
  }
  std::vector<double> order(const feature_values& values) const {
    std::vector<double> made;
    for (const std::string& name : features) {
      const auto found = values.find(name);
      if (found == values.end() || !std::isfinite(found->second))
        refuse("the feature '" + name + "' of the input is missing, or no number", name,
               "features: " + list_names(features));
      made.push_back(found->second);
    }
    return made;
  }

  const place* find_place(std::size_t region, std::size_t device, std::uint32_t count) const {
    const auto found = places.find({region, device, count});
    return found == places.end() || !found->second.model ? nullptr : &found->second;
  }

  // The highest number of devices of a type that were measured together in any region.
  std::uint64_t find_most(std::size_t type) const {
    std::uint64_t most = 0;
    for (const auto& [key, place] : places)
      if (key[1] == type) most = std::max<std::uint64_t>(most, key[2]);
    return most;
  }

  cost_estimate predict(const place& place, const std::vector<double>& at) const {
    cost_estimate made = place.model->predict(at);
    made.drift = place.drift();
    made.ns *= made.drift;
    return made;
  }

  bool has_power() const {
    return std::all_of(devices.begin(), devices.end(),
                       [](const device_type& type) { return type.active_watts.has_value(); });
  }

  using region_errors = std::map<std::array<std::size_t, 3>, std::optional<double>>;
  region_errors find_errors(const mapping& candidate, const std::vector<double>& at, bool is_period) const;
  void require_answerable(advice_objective objective, const advice_limits& limits) const;
  advice choose(const lib::chain_costs& costs, advice_objective objective, const advice_limits& limits,
                advice made) const;
  double find_gain_error(const mapping& current, const mapping& best, const std::vector<double>& at,
                         advice_objective objective) const;
  void count_devices(lib::chain_costs& to, const advice_limits& limits) const;
  std::optional<double> predict_copy_ns(std::size_t from, std::size_t to, double size) const;
  lib::chain_costs lay_out(const std::vector<double>& at, bool pipelined, const advice_limits& limits,
                           advice* explained) const;
  void explain_copies(const lib::chain_costs& costs, const std::vector<std::optional<double>>& sizes,
                      advice& explained) const;
};

// The standard deviation of reschedule_advice::gain. An error in a place that both mappings use cancels. The relative
// uncertainty of energy is assumed to equal that of time.
double advisor::state::find_gain_error(const mapping& current, const mapping& best, const std::vector<double>& at,
                                       advice_objective objective) const {
  std::map<std::array<std::size_t, 3>, double> squares;
  double before = 0;
  const auto add = [&](const mapping& candidate, bool is_current) {
    double longest = 0;
    std::map<std::array<std::size_t, 3>, double> of_longest, of_all;
    for (const advised_stage& stage : candidate.stages) {
      std::map<std::array<std::size_t, 3>, double> own;
      double ns = 0;
      for (std::size_t region = stage.first; region <= stage.last; ++region) {
        const place* const place = find_place(region, stage.device, stage.count);
        if (place == nullptr) continue;
        const double expected = predict(*place, at).ns, error = expected * place->find_error(at);
        own[{region, stage.device, stage.count}] = error * error;
        ns += expected;
      }
      of_all.insert(own.begin(), own.end());
      if (ns >= longest) of_longest = own;
      longest = std::max(longest, ns);
    }
    const bool is_period = objective == advice_objective::throughput && candidate.period_ns < candidate.latency_ns;
    if (is_current) before = is_period ? candidate.period_ns : candidate.latency_ns;
    for (const auto& [key, square] : is_period ? of_longest : of_all) {
      const auto [entry, is_new] = squares.emplace(key, square);
      if (!is_new) squares.erase(entry);
    }
  };
  add(current, true);
  add(best, false);
  double sum = 0;
  for (const auto& [key, square] : squares) sum += square;
  return before > 0 ? std::sqrt(sum) / before : 0;
}

// Devices that a mapping may use, and their power.
void advisor::state::count_devices(lib::chain_costs& to, const advice_limits& limits) const {
  for (const device_type& device : devices) {
    const auto limit = limits.max_devices.find(device.name);
    const std::uint64_t there =
        limit == limits.max_devices.end() ? device.count : std::min(device.count, limit->second);
    // Each region can use find_most() devices; no mapping uses more in total.
    to.counts.push_back(static_cast<std::uint32_t>(std::min(there, chain.size() * find_most(to.counts.size()))));
    to.watts.push_back(device.active_watts.value_or(0) - device.idle_watts.value_or(0));
    to.idle_watts += device.idle_watts.value_or(0) * device.count;
  }
}

// A copy between devices that was not measured passes by the host.
std::optional<double> advisor::state::predict_copy_ns(std::size_t from, std::size_t to, double size) const {
  double ns = 0;
  const bool is_direct = copies.count({from, to}) != 0 || from == to;
  for (const auto& leg : is_direct ? std::vector<std::array<std::size_t, 2>>{{from, to}}
                                   : std::vector<std::array<std::size_t, 2>>{{from, home}, {home, to}}) {
    const auto entry = copies.find(leg);
    if (entry == copies.end()) return std::nullopt;
    ns += entry->second.predict_ns(size);
  }
  return ns;
}

lib::chain_costs advisor::state::lay_out(const std::vector<double>& at, bool pipelined, const advice_limits& limits,
                                         advice* explained) const {
  lib::chain_costs made;
  made.regions = chain.size();
  made.home = home;
  made.pipelined = pipelined;
  made.max_watts = limits.max_watts;
  if (graph.has_branches) made.graph = &graph;
  if (graph.has_branches && pipelined)
    refuse("a chain with branches cannot be pipelined", "chain", "ask for items one at a time");
  count_devices(made, limits);
  for (std::size_t region = 0; region != chain.size(); ++region) {
    made.times.emplace_back(devices.size());
    for (std::size_t type = 0; type != devices.size(); ++type)
      for (std::uint32_t count = 1; count <= made.counts[type]; ++count) {
        std::optional<lib::chain_costs::place> cost;
        if (const place* const place = find_place(region, type, count)) {
          const cost_estimate expected = predict(*place, at);
          const double watts =
              place->joules_ns > 0 ? place->joules / (place->joules_ns * 1e-9) : made.watts[type] * count;
          cost = {expected.ns, expected.ns * 1e-9 * watts};
          if (explained != nullptr) explained->costs.push_back({chain[region], devices[type].name, count, expected});
        }
        made.times[region][type].push_back(cost);
      }
  }
  std::vector<std::optional<double>> sizes;
  for (const passed& passing : bytes) {
    sizes.push_back(passing.model ? std::optional(passing.model->predict(at).ns) : std::nullopt);
    const double size = sizes.back().value_or(0);
    auto& table = made.copies.emplace_back(devices.size());
    for (std::size_t from = 0; from != devices.size(); ++from)
      for (std::size_t to = 0; to != devices.size(); ++to) {
        // Nothing is copied on one device. Two devices of a type share memory only if it is the host's memory.
        const bool stays = from == to && (!pipelined || from == home || devices[from].count == 1);
        table[from].push_back(stays || size == 0 ? std::optional<double>(0) : predict_copy_ns(from, to, size));
      }
  }
  if (explained == nullptr) return made;
  explain_copies(made, sizes, *explained);
  std::vector<std::string> without_idle;
  for (const device_type& device : devices)
    if (device.active_watts && !device.idle_watts) without_idle.push_back(device.name);
  if (!without_idle.empty())
    explained->remarks.push_back("the idle power of these devices is unknown and counts as 0: " +
                                 list_names(without_idle));
  return made;
}

void advisor::state::explain_copies(const lib::chain_costs& costs, const std::vector<std::optional<double>>& sizes,
                                    advice& explained) const {
  std::vector<std::string> unsized, unmeasured, beyond;
  for (std::size_t boundary = 0; boundary != sizes.size(); ++boundary) {
    const std::string name = boundary == chain.size() ? result : chain[boundary];
    if (!sizes[boundary]) unsized.push_back(name);
    for (std::size_t from = 0; from != devices.size(); ++from)
      for (std::size_t to = 0; to != devices.size(); ++to) {
        // The data is at home before the first region and after the last one.
        if ((boundary == 0 && from != home) || (boundary == chain.size() && to != home)) continue;
        const std::string pair = devices[from].name + " to " + devices[to].name;
        const auto entry = copies.find({from, to});
        if (!costs.copies[boundary][from][to]) {
          if (std::find(unmeasured.begin(), unmeasured.end(), pair) == unmeasured.end()) unmeasured.push_back(pair);
        } else if (from != to && entry != copies.end() && entry->second.is_extrapolated(sizes[boundary].value_or(0)) &&
                   std::find(beyond.begin(), beyond.end(), pair) == beyond.end()) {
          beyond.push_back(pair);
        }
      }
  }
  if (devices.size() > 1 && !unsized.empty())
    explained.remarks.push_back("the input bytes of these regions were not measured, and their copies count as 0: " +
                                list_names(unsized));
  if (!unmeasured.empty())
    explained.remarks.push_back("these copies were not measured, and mappings that need them are omitted: " +
                                list_names(unmeasured));
  if (!beyond.empty())
    explained.remarks.push_back("these copies are outside the measured range of sizes: " + list_names(beyond));
}

advisor::advisor(std::vector<std::string> chain, std::vector<device_type> devices, std::vector<std::string> features,
                 const std::string& home)
    : state_(std::make_unique<state>()) {
  if (chain.empty())
    refuse("the chain has no regions", "", "name its regions in the order in which an item passes them");
  if (devices.empty()) refuse("there are no devices", "", "name at least one");
  std::vector<std::string> names;
  for (const device_type& device : devices) {
    names.push_back(device.name);
    const double idle = device.idle_watts.value_or(0), active = device.active_watts.value_or(idle);
    if (!(idle >= 0 && active >= idle && std::isfinite(active)))
      refuse("the device '" + device.name + "' has an idle power above its active power, or a negative power",
             device.name, "0 <= idle <= active");
  }
  lib::region_graph graph = lib::parse_chain(chain);
  std::string text = fmt::format("{}", fmt::join(chain, ","));
  chain = graph.names;
  require_names(chain, "region");
  require_names(names, "device");
  require_names(features, "feature");
  state_->bytes.resize(chain.size() + 1);
  state_->chain = std::move(chain);
  state_->graph = std::move(graph);
  state_->chain_text = std::move(text);
  state_->devices = std::move(devices);
  state_->features = std::move(features);
  if (!home.empty()) state_->home = state_->find_device(home);
}

advisor::~advisor() = default;
advisor::advisor(advisor&&) noexcept = default;
advisor& advisor::operator=(advisor&&) noexcept = default;
advisor::advisor(const advisor& from) : state_(std::make_unique<state>(*from.state_)) {}
advisor& advisor::operator=(const advisor& from) {
  state_ = std::make_unique<state>(*from.state_);
  return *this;
}

const std::vector<std::string>& advisor::chain() const { return state_->chain; }
const std::string& advisor::chain_text() const { return state_->chain_text; }
const std::vector<device_type>& advisor::devices() const { return state_->devices; }
const std::vector<std::string>& advisor::features() const { return state_->features; }

void advisor::observe(const std::string& region, const std::string& device, const feature_values& features, double ns,
                      std::optional<double> joules, std::uint64_t executions, std::optional<double> deviation_ns,
                      std::uint32_t count) {
  const std::size_t at = state_->find_region(region), on = state_->find_device(device);
  if (!(ns > 0) || !std::isfinite(ns) || executions == 0 || count == 0)
    refuse("a measurement of '" + region + "' on '" + device + "' is not above 0", region,
           "times in ns, executions and devices must be");
  for (const double number : {joules.value_or(0), deviation_ns.value_or(0)})
    if (!(number >= 0) || !std::isfinite(number))
      refuse(fmt::format("the energy or the deviation of '{}' on '{}' is below 0, or no number", region, device),
             region, "leave out unknown values");
  std::vector<double> ordered = state_->order(features);  // throws before anything is changed
  state::place& place = state_->places[{at, on, count}];
  place.samples.push_back({std::move(ordered), ns, executions, deviation_ns});
  if (joules) {
    place.joules += *joules * static_cast<double>(executions);
    place.joules_ns += ns * static_cast<double>(executions);
  }
  state_->is_fitted = false;
}

void advisor::observe_transfer(const std::string& from, const std::string& to, double bytes, double ns) {
  if (!(bytes > 0) || !(ns > 0) || !std::isfinite(bytes) || !std::isfinite(ns))
    refuse("a copy from '" + from + "' to '" + to + "' is not above 0", from, "bytes and ns must be");
  state_->copies[{state_->find_device(from), state_->find_device(to)}].add(bytes, ns);
  state_->is_fitted = false;
}

void advisor::observe_input_bytes(const std::string& region, const feature_values& features, double bytes) {
  const std::size_t boundary = region == result ? state_->chain.size() : state_->find_region(region);
  if (!(bytes > 0) || !std::isfinite(bytes))
    refuse("the input bytes of '" + region + "' are not above 0", region, "leave out regions without input");
  state_->bytes[boundary].samples.push_back({state_->order(features), bytes, 1, std::nullopt});
  state_->is_fitted = false;
}

void advisor::prepare() const {
  if (state_->is_fitted) return;
  for (auto& [key, place] : state_->places)
    if (!place.samples.empty()) place.model.emplace(place.samples);
  for (auto& [key, copy] : state_->copies) copy.fit();
  for (state::passed& passing : state_->bytes)
    if (!passing.samples.empty()) passing.model.emplace(passing.samples);
  state_->is_fitted = true;
}

std::optional<cost_estimate> advisor::estimate(const std::string& region, const std::string& device,
                                               const feature_values& features, std::uint32_t count) const {
  prepare();
  const state::place* const place = state_->find_place(state_->find_region(region), state_->find_device(device), count);
  if (place == nullptr) return std::nullopt;
  return state_->predict(*place, state_->order(features));
}

namespace {

bool is_less(const mapping& a, const mapping& b, advice_objective objective) {
  const auto key = [&](const mapping& candidate) {
    const double joules = candidate.joules.value_or(0);
    switch (objective) {
      case advice_objective::throughput: return std::array{candidate.period_ns, joules, candidate.latency_ns};
      case advice_objective::latency: return std::array{candidate.latency_ns, joules, candidate.period_ns};
      case advice_objective::energy:
      case advice_objective::balanced: break;
    }
    return std::array{joules, candidate.period_ns, candidate.latency_ns};
  };
  const auto first = key(a), second = key(b);
  for (std::size_t at = 0; at != first.size(); ++at)
    if (!lib::is_at_most(first[at], second[at]) || !lib::is_at_most(second[at], first[at]))
      return first[at] < second[at];
  return false;
}

bool keeps_latency(const mapping& candidate, const advice_limits& limits) {
  return !limits.max_latency_ns || lib::is_at_most(candidate.latency_ns, *limits.max_latency_ns);
}

// Only among mappings within the limits: a mapping with a better throughput may have too long a latency.
double find_least_period(const std::vector<mapping>& pareto, const advice_limits& limits) {
  double least = std::numeric_limits<double>::infinity();
  for (const mapping& candidate : pareto)
    if (keeps_latency(candidate, limits)) least = std::min(least, candidate.period_ns);
  return least;
}

// Checks the limits that the search does not check.
bool keeps_limits(const mapping& candidate, advice_objective objective, const advice_limits& limits,
                  double least_period) {
  if (limits.min_per_second && !lib::is_at_most(*limits.min_per_second, candidate.per_second())) return false;
  if (!keeps_latency(candidate, limits)) return false;
  return objective != advice_objective::balanced ||
         lib::is_at_most(candidate.period_ns, least_period / limits.balanced_share);
}

double measure(const mapping& candidate, advice_objective objective) {
  switch (objective) {
    case advice_objective::throughput: return candidate.period_ns;
    case advice_objective::latency: return candidate.latency_ns;
    case advice_objective::energy:
    case advice_objective::balanced: break;
  }
  return candidate.joules.value_or(0);
}

}  // namespace

void advisor::state::require_answerable(advice_objective objective, const advice_limits& limits) const {
  for (std::size_t region = 0; region != chain.size(); ++region) {
    const auto first = places.lower_bound({region, 0, 0});
    if (first == places.end() || first->first[0] != region)
      refuse("the region '" + chain[region] + "' was measured on no device", chain[region],
             "measure it on at least one device, for some inputs");
  }
  for (const auto& [name, count] : limits.max_devices) find_device(name);
  const bool needs_power =
      objective == advice_objective::energy || objective == advice_objective::balanced || limits.max_watts;
  if (needs_power && !has_power())
    refuse("advice on energy needs the power of each device, and one is unknown", "",
           "give the active power of each device in watts");
  if (objective == advice_objective::balanced && !(limits.balanced_share > 0 && limits.balanced_share <= 1))
    refuse("the balanced share of the best throughput is out of range", "balanced_share",
           "give a number above 0 and at most 1");
}

advice advisor::state::choose(const lib::chain_costs& costs, advice_objective objective, const advice_limits& limits,
                              advice made) const {
  made.pareto = lib::find_pareto(costs);
  if (!has_power())
    for (mapping& candidate : made.pareto) candidate.joules.reset();
  if (made.pareto.empty()) {
    made.reason = "infeasible: with these devices, limits and measurements no mapping covers all regions";
    return made;
  }
  const double least_period = find_least_period(made.pareto, limits);
  const mapping* best = nullptr;
  for (const mapping& candidate : made.pareto) {
    if (!keeps_limits(candidate, objective, limits, least_period)) continue;
    if (best == nullptr || is_less(candidate, *best, objective)) best = &candidate;
  }
  if (best == nullptr) made.reason = "infeasible: no mapping keeps the limits on throughput and latency";
  else made.best = *best;
  return made;
}

advice advisor::find_best(advice_objective objective, const feature_values& features, execution_mode execution,
                          const advice_limits& limits) const {
  prepare();
  const std::vector<double> at = state_->order(features);
  state_->require_answerable(objective, limits);
  advice made;
  const lib::chain_costs costs = state_->lay_out(at, execution == execution_mode::pipelined, limits, &made);
  return state_->choose(costs, objective, limits, std::move(made));
}

advice advisor::find_best_static(advice_objective objective, const std::vector<feature_values>& inputs,
                                 execution_mode execution, const advice_limits& limits) const {
  prepare();
  if (inputs.empty()) refuse("there are no inputs to find one mapping for", "", "give at least one");
  state_->require_answerable(objective, limits);
  std::vector<lib::chain_costs> all;
  all.reserve(inputs.size());
  for (const feature_values& features : inputs)
    all.push_back(state_->lay_out(state_->order(features), execution == execution_mode::pipelined, limits, nullptr));
  return state_->choose(lib::average(all), objective, limits, {});
}

// The errors are of a period or of a whole item, in ns; empty: unknown.
advisor::state::region_errors advisor::state::find_errors(const mapping& candidate, const std::vector<double>& at,
                                                          bool is_period) const {
  region_errors longest, all;
  double longest_ns = -1;
  for (const advised_stage& stage : candidate.stages) {
    region_errors own;
    double ns = 0;
    for (std::size_t region = stage.first; region <= stage.last; ++region) {
      const place* const place = find_place(region, stage.device, stage.count);
      if (place == nullptr) continue;
      const double expected = predict(*place, at).ns;
      const std::optional<double> error = place->find_prediction_error(at);
      own[{region, stage.device, stage.count}] = error ? std::optional(*error * expected) : std::nullopt;
      ns += expected;
    }
    all.insert(own.begin(), own.end());
    if (ns > longest_ns) longest = own;
    longest_ns = std::max(longest_ns, ns);
  }
  return is_period ? longest : all;
}

// The standard deviation is of the logarithm of the ratio. An error of a place that both mappings use has one sign in
// both.
advice_ratio advisor::compare(const mapping& advised, const mapping& other, const feature_values& features,
                              advice_objective objective) const {
  prepare();
  const std::vector<double> at = state_->order(features);
  advice_ratio made;
  const double below = measure(advised, objective), above = measure(other, objective);
  if (!(below > 0) || !(above > 0)) refuse("a mapping has no time or energy", "", "pass results of this advisor");
  made.value = above / below;
  const auto weigh = [&](const mapping& candidate, double sign, std::map<std::array<std::size_t, 3>, double>& weights,
                         state::region_errors& errors) {
    const bool is_period = objective == advice_objective::throughput && candidate.period_ns < candidate.latency_ns;
    for (const auto& [key, error] : state_->find_errors(candidate, at, is_period)) {
      errors[key] = error;
      weights[key] += sign / (is_period ? candidate.period_ns : candidate.latency_ns);
    }
  };
  std::map<std::array<std::size_t, 3>, double> weights;
  state::region_errors errors;
  weigh(other, 1, weights, errors);
  weigh(advised, -1, weights, errors);
  double square = 0;
  for (const auto& [key, weight] : weights) {
    if (weight == 0) continue;
    if (!errors[key]) return made;
    square += weight * weight * *errors[key] * *errors[key];
  }
  constexpr double deviations_of_95_percent = 1.96;
  const double factor = std::exp(deviations_of_95_percent * std::sqrt(square));
  made.low = made.value / factor;
  made.high = made.value * factor;
  return made;
}

std::optional<mapping> advisor::evaluate(const std::vector<advised_stage>& stages, const feature_values& features,
                                         execution_mode execution) const {
  prepare();
  std::optional<mapping> made = lib::evaluate_stages(
      state_->lay_out(state_->order(features), execution == execution_mode::pipelined, {}, nullptr), stages);
  if (made && !state_->has_power()) made->joules.reset();
  return made;
}

void advisor::update_drift(const std::string& region, const std::string& device, const feature_values& features,
                           double ns, std::uint32_t count) {
  prepare();
  const std::size_t at = state_->find_region(region), on = state_->find_device(device);
  if (!(ns > 0) || !std::isfinite(ns)) refuse("a time of '" + region + "' is not above 0", region, "times are in ns");
  const auto found = state_->places.find({at, on, count});
  if (found == state_->places.end() || !found->second.model) return;  // no model to drift from
  state::place& place = found->second;
  const double before = place.ratios.empty() ? 0 : place.ratios.back();
  place.ratios.push_back(ns / place.model->predict(state_->order(features)).ns);
  if (place.ratios.size() > drift_window) place.ratios.pop_front();
  if (before > 0) place.steps.push_back(std::abs(std::log(place.ratios.back() / before)));
  if (place.steps.size() > noise_window) place.steps.pop_front();
}

reschedule_advice advisor::should_reschedule(const std::vector<advised_stage>& current, const feature_values& features,
                                             advice_objective objective, double hysteresis, execution_mode execution,
                                             const advice_limits& limits) const {
  const advice now = find_best(objective, features, execution, limits);
  const std::optional<mapping> running = evaluate(current, features, execution);
  reschedule_advice made;
  if (running) made.current = *running;
  if (!now.best) {  // no other mapping is possible either
    made.reason = now.reason;
    return made;
  }
  made.best = *now.best;
  if (!running) {
    made.is_recommended = true;
    made.reason = "the current mapping was never measured, or uses more devices than exist";
    return made;
  }
  const std::vector<double> at = state_->order(features);
  const lib::chain_costs within = state_->lay_out(at, execution == execution_mode::pipelined, limits, nullptr);
  if (!lib::evaluate_stages(within, current) ||
      !keeps_limits(*running, objective, limits, find_least_period(now.pareto, limits))) {
    made.is_recommended = true;
    made.reason = "the current mapping exceeds the limits";
  }
  const double before = measure(*running, objective), after = measure(*now.best, objective);
  if (before > 0) made.gain = 1 - after / before;
  made.required_gain =
      std::max(hysteresis, deviations_of_chance * state_->find_gain_error(*running, *now.best, at, objective));
  if (made.gain > made.required_gain) made.is_recommended = true;
  return made;
}

}}  // namespace adaptyst::v1
