// The parts of advice; docs/advice.md explains the figures.
#ifndef ADAPTYST_LIB_ADVISE_FIELDS_HPP
#define ADAPTYST_LIB_ADVISE_FIELDS_HPP

#include <adaptyst/advisor.hpp>
#include <string>
#include <vector>

#include "../model/listed.hpp"

namespace adaptyst::lib {

// A simpler choice than the advice: all regions on one type, or one mapping for all inputs.
struct advice_alternative {
  std::string name;  // "host only", "best static"
  mapping found;
  advice_ratio ratio;
};

struct advised_input {
  feature_values features;
  advice given;
  std::vector<advice_alternative> alternatives;
};

struct advice_report {
  std::size_t profiles = 0;
  std::vector<std::string> chain, features;
  std::optional<std::string> branches;  // the chain as a text, if it has branches
  std::vector<device_type> devices;
  advice_objective objective = advice_objective::latency;
  execution_mode execution = execution_mode::sequential;
  advice_limits limits;
  std::vector<advised_input> inputs;
  std::vector<std::string> remarks;
};

// Adds the alternatives to each input with advice. The best static mapping is for `all`, the inputs of the profiles.
void add_alternatives(const advisor& from, const std::vector<feature_values>& all, advice_report& report);

namespace listed {

constexpr auto fields(type<device_type>) {
  using of = device_type;
  return list("device", "A type of identical devices.", value("name", &of::name, always, "The name of the type."),
              value("count", &of::count, always, "Number of devices."),
              value("active_watts", &of::active_watts, sometimes, "Power of a busy device. Absent: unknown."),
              value("idle_watts", &of::idle_watts, sometimes, "Power of an idle device. Absent: unknown."));
}

constexpr auto fields(type<advised_stage>) {
  using of = advised_stage;
  return list(
      "stage", "Regions that run on the same devices.",
      follows(
          "regions",
          [](const of& item, const advice_report& all) {
            const auto begin = all.chain.begin();
            return std::vector<std::string>(begin + static_cast<std::ptrdiff_t>(item.first),
                                            begin + static_cast<std::ptrdiff_t>(item.last) + 1);
          },
          always, "Names in the order of the chain."),
      follows(
          "device", [](const of& item, const advice_report& all) -> auto& { return all.devices[item.device].name; },
          always, "Type of the devices."),
      value("count", &of::count, always, "Number of devices."),
      follows(
          "lane", [](const of& item) { return item.lane > 0 ? std::optional<std::uint64_t>(item.lane) : std::nullopt; },
          sometimes, "Branches in different lanes run at the same time. Absent: one after another."));
}

constexpr auto fields(type<mapping>) {
  using of = mapping;
  return list("mapping", "Devices of all regions of a chain.",
              value("stages", &of::stages, always, "Stages in the order of the chain."),
              value("period_ns", &of::period_ns, always, "Time between two items."),
              value("latency_ns", &of::latency_ns, always, "Time of an item, copies included."),
              value("copy_ns", &of::copy_ns, always, "Copy time, a part of latency_ns."),
              value("joules", &of::joules, sometimes, "Energy of an item. Absent: powers are unknown."));
}

constexpr auto fields(type<advice_alternative>) {
  using of = advice_alternative;
  return list("alternative", "A simpler choice than the advised mapping.",
              value("name", &of::name, always, "A device type with \"only\", or \"best static\"."),
              value("mapping", &of::found, always, "Devices and costs for this input."),
              follows(
                  "ratio", [](const of& item) { return item.ratio.value; }, always,
                  "Time or energy, by the objective, over that of the advised mapping: the speed-up by the advice."),
              follows(
                  "ratio_low", [](const of& item) { return item.ratio.low; }, sometimes,
                  "Begin of the 95 % interval. Absent: an error is unknown."),
              follows(
                  "ratio_high", [](const of& item) { return item.ratio.high; }, sometimes,
                  "End of the 95 % interval. Absent: an error is unknown."));
}

constexpr auto fields(type<region_cost>) {
  using of = region_cost;
  return list(
      "cost", "The expected cost of a region on a device.", value("region", &of::region, always, "Name of the region."),
      value("device", &of::device, always, "Type of the devices."),
      value("count", &of::count, always, "Number of devices."),
      follows(
          "ns", [](const of& item) { return item.cost.ns; }, always, "Time of an execution."),
      follows(
          "deviation_ns", [](const of& item) { return item.cost.deviation_ns; }, sometimes,
          "Standard deviation of single executions. Absent: unknown."),
      follows(
          "n", [](const of& item) { return item.cost.n; }, always, "Measured executions."),
      follows(
          "inputs", [](const of& item) { return item.cost.inputs; }, always, "Different features among them."),
      follows(
          "provenance", [](const of& item) { return item.cost.provenance; }, always,
          "Basis of the estimate: measured, interpolated or extrapolated."),
      follows(
          "model", [](const of& item) -> auto& { return item.cost.model; }, always, "The form of the regression."),
      follows(
          "cv_error", [](const of& item) { return item.cost.cv_error; }, sometimes,
          "Mean absolute relative error, with each input predicted from the others. Absent: too few inputs."));
}

constexpr auto fields(type<advised_input>) {
  using of = advised_input;
  return list(
      "input", "Advice for one input.", value("features", &of::features, always, "Features by name."),
      follows(
          "best", [](const of& item) -> auto& { return item.given.best; }, always, "The best mapping; null: none."),
      follows(
          "reason",
          [](const of& item) { return item.given.best ? std::nullopt : std::optional<std::string>(item.given.reason); },
          sometimes, "Why there is no mapping."),
      follows(
          "pareto", [](const of& item) -> auto& { return item.given.pareto; }, always,
          "Pareto front in period, latency and joules."),
      value("alternatives", &of::alternatives, always,
            "One device type only, and the best static mapping, as far as they are possible."),
      follows(
          "costs", [](const of& item) -> auto& { return item.given.costs; }, always, "Estimates used for the advice."),
      follows(
          "remarks", [](const of& item) -> auto& { return item.given.remarks; }, always, "Limits of the advice."));
}

constexpr auto fields(type<advice_report>) {
  using of = advice_report;
  return list(
      "advice", "The best device for each region of a chain. Times are in ns.",
      follows(
          "schema", [](const of&) { return 1U; }, always, "The version of this description."),
      object("parameters", always, "The question.",
             value("objective", &of::objective, always, "The objective of the search."),
             value("execution", &of::execution, always, "How items follow each other."),
             value("profiles", &of::profiles, always, "Number of profiles read."),
             value("chain", &of::chain, always, "Regions that each item passes."),
             value("branches", &of::branches, sometimes, "The chain with its branches as a text. Absent: it has none."),
             value("features", &of::features, always, "Features on which costs depend."),
             value("devices", &of::devices, always, "Types of devices."),
             follows(
                 "min_per_second", [](const of& all) { return all.limits.min_per_second; }, sometimes,
                 "Lowest throughput, in items."),
             follows(
                 "max_latency_ns", [](const of& all) { return all.limits.max_latency_ns; }, sometimes,
                 "The longest time of an item."),
             follows(
                 "max_watts", [](const of& all) { return all.limits.max_watts; }, sometimes,
                 "The highest power of all devices."),
             follows(
                 "balanced_share",
                 [](const of& all) {
                   return all.objective == advice_objective::balanced ? std::optional(all.limits.balanced_share)
                                                                      : std::nullopt;
                 },
                 sometimes, "Share of the best throughput, for the objective \"balanced\".")),
      value("remarks", &of::remarks, always, "Limits of the advice."),
      value("inputs", &of::inputs, always, "Advice for each input."));
}

}  // namespace listed
}  // namespace adaptyst::lib

#endif
