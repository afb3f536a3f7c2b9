// The output contract of `adaptyst advise --format json`; docs/advice.md lists its keys.
#include <nlohmann/json.hpp>

#include "advice_forms.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

template <class Number>
void put(json& to, const char* key, const std::optional<Number>& value) {
  if (value) to[key] = *value;
}

json write_mapping(const mapping& one, const advice_report& report) {
  json made;
  made["stages"] = json::array();
  for (const advised_stage& stage : one.stages) {
    json written;
    written["regions"] = json::array();
    for (std::size_t region = stage.first; region <= stage.last; ++region)
      written["regions"].push_back(report.chain[region]);
    written["device"] = report.devices[stage.device].name;
    written["count"] = stage.count;
    made["stages"].push_back(std::move(written));
  }
  made["period_ns"] = one.period_ns;
  made["latency_ns"] = one.latency_ns;
  made["copy_ns"] = one.copy_ns;
  put(made, "joules", one.joules);
  return made;
}

json write_cost(const region_costs& one) {
  json made;
  made["region"] = one.region;
  made["device"] = one.device;
  made["count"] = one.count;
  made["ns"] = one.cost.ns;
  put(made, "deviation_ns", one.cost.deviation_ns);
  made["n"] = one.cost.n;
  made["inputs"] = one.cost.inputs;
  made["provenance"] = to_string(one.cost.provenance);
  made["model"] = one.cost.model;
  put(made, "cv_error", one.cost.cv_error);
  return made;
}

}  // namespace

std::string to_json(const advice_report& report) {
  json all;
  all["schema"] = 1;
  json& parameters = all["parameters"];
  parameters["objective"] = to_string(report.objective);
  parameters["execution"] = to_string(report.execution);
  parameters["profiles"] = report.profiles;
  parameters["chain"] = report.chain;
  parameters["features"] = report.features;
  parameters["devices"] = json::array();
  for (const advised_device& device : report.devices) {
    json written;
    written["name"] = device.name;
    written["count"] = device.count;
    put(written, "active_watts", device.active_watts);
    put(written, "idle_watts", device.idle_watts);
    parameters["devices"].push_back(std::move(written));
  }
  put(parameters, "min_per_second", report.limits.min_per_second);
  put(parameters, "max_latency_ns", report.limits.max_latency_ns);
  put(parameters, "max_watts", report.limits.max_watts);
  if (report.objective == advice_objective::balanced) parameters["balanced_share"] = report.limits.balanced_share;
  all["remarks"] = report.remarks;
  all["inputs"] = json::array();
  for (const advised_input& input : report.inputs) {
    json written;
    written["features"] = input.features;
    written["best"] = input.given.best ? write_mapping(*input.given.best, report) : json(nullptr);
    if (!input.given.best) written["reason"] = input.given.reason;
    written["pareto"] = json::array();
    for (const mapping& one : input.given.pareto) written["pareto"].push_back(write_mapping(one, report));
    written["costs"] = json::array();
    for (const region_costs& one : input.given.costs) written["costs"].push_back(write_cost(one));
    written["remarks"] = input.given.remarks;
    all["inputs"].push_back(std::move(written));
  }
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace adaptyst::lib
