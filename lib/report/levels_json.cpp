// The output contract of `adaptyst levels`: keys, their order and their units, as docs/levels.md lists them.
#include <nlohmann/json.hpp>

#include "levels_forms.hpp"
#include "stack_forms.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

json to_value(const std::optional<estimate>& from) {
  if (!from || from->count == 0) return nullptr;
  json made;
  made["mean"] = from->value;
  made["error"] = from->error ? json(*from->error) : json(nullptr);
  made["n"] = from->count;
  return made;
}

json to_percent(const std::optional<estimate>& part, double whole) {
  return part && whole > 0 ? json(100 * part->value / whole) : json(nullptr);
}

json to_value(const machine_ceilings& from) {
  json made;
  made["host"] = from.host;
  made["cpu"] = from.cpu;
  made["measured"] = from.measured;
  made["cpus"] = from.cpus;
  made["precision"] = to_string(from.precision);
  made["one_gflops"] = from.one_gflops;
  made["one_gbytes_per_s"] = from.one_gbytes_per_s;
  made["all_gflops"] = from.all_gflops;
  made["all_gbytes_per_s"] = from.all_gbytes_per_s;
  return made;
}

}  // namespace

std::string to_json(const levels_result& result, const levels_settings& how) {
  json all;
  all["schema"] = 1;
  json& parameters = all["parameters"];
  parameters["command"] = how.command;
  parameters["repeat"] = how.repeat;
  parameters["trim"] = result.trim;
  parameters["engine"] = how.engine;
  parameters["overhead"] = how.overhead;
  parameters["rules"] = how.rules;
  all["levels"] = json::array();
  double above_ns = 0;
  for (const levelled_summary& one : result.levels) {
    json made;
    made["level"] = level_name(one.which);
    made["number"] = static_cast<unsigned>(one.which);
    made["runs"] = one.runs;
    made["regions"] = one.regions;
    made["events"] = one.events;
    made["run_ns"] = to_value(one.run_ns);
    made["overhead_ns"] = to_value(one.overhead_ns);
    made["overhead_percent"] = to_percent(one.overhead_ns, above_ns);
    above_ns = one.run_ns.value;
    all["levels"].push_back(std::move(made));
  }
  all["regions"] = json::array();
  for (const levelled_region& one : result.regions) {
    json made;
    made["path"] = one.path;
    made["level"] = level_name(one.at);
    made["device"] = one.device;
    made["calls"] = one.calls;
    made["calls_vary"] = one.calls_vary;
    made["runs"] = one.runs;
    made["total_ns"] = to_value(one.total_ns);
    made["per_call_ns"] = to_value(one.per_call_ns);
    made["overhead_ns"] = to_value(one.overhead_ns);
    if (one.roofline) made["roofline"] = roofline_to_value(*one.roofline);
    all["regions"].push_back(std::move(made));
  }
  if (result.ceilings) all["ceilings"] = to_value(*result.ceilings);
  if (how.with_stack) all["stack"] = stack_to_value(analyse_stack(result));
  all["remarks"] = result.remarks;
  return all.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace adaptyst::lib
