// The output contract of `adaptyst variability`: keys, their order and their units, as docs/variability.md lists them.
#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "variability_forms.hpp"

namespace adaptyst::lib {

namespace {

using json = nlohmann::ordered_json;

template <class Number>
json or_null(const std::optional<Number>& value) {
  return value ? json(*value) : json(nullptr);
}

const char* to_string(variability_finding_kind kind) {
  switch (kind) {
    case variability_finding_kind::slow_windows: return "slow_windows";
    case variability_finding_kind::stalls: return "stalls";
    case variability_finding_kind::slow_group: return "slow_group";
    case variability_finding_kind::stalls_go_with_slowness: break;
  }
  return "stalls_go_with_slowness";
}

// The members of an object, a line for each value, as dump(1) has them: the windows are too many for a tree of them all.
class lines {
 public:
  void put(const std::string& key, const json& value) {
    name(key);
    spell(value, 1);
  }
  void begin(const std::string& key) {
    name(key);
    text_ += '[';
    is_first_ = true;
  }
  void add(const json& value) {
    text_ += is_first_ ? "\n  " : ",\n  ";
    is_first_ = false;
    spell(value, 2);
  }
  void end() { text_ += is_first_ ? "]" : "\n ]"; }
  std::string finish() { return std::move(text_) + "\n}\n"; }

 private:
  void name(const std::string& key) {
    text_ += text_.empty() ? "{\n " : ",\n ";
    text_ += '"' + key + "\": ";
  }
  void spell(const json& value, std::size_t depth) {
    for (const char letter : value.dump(1, ' ', false, json::error_handler_t::replace)) {
      text_ += letter;
      if (letter == '\n') text_.append(depth, ' ');
    }
  }

  std::string text_;
  bool is_first_ = true;
};

// What windows and names are told apart by.
void put_place(json& to, const variability_result& result, std::uint32_t group, const std::string& name,
               bool is_window) {
  const variability_by by = result.settings.by;
  if (is_window && result.settings.by_name()) {
    to["device"] = nullptr;
    to[by == variability_by::kernel ? "kernel" : "region"] = name;
    return;
  }
  const variability_group what = find_group(result, group);
  const bool is_device = what.what == variability_group::kind::device;
  to["device"] = is_device ? json(what.number) : json(nullptr);
  if (!is_device) to[what.what == variability_group::kind::rank ? "rank" : "process"] = what.number;
  if (!what.host.empty()) to["host"] = what.host;
  if (!what.trace.empty()) to["trace"] = what.trace;
}

json spell_host(const host_efficiencies& host) {
  const auto spell = [](const host_efficiency& one) {
    json made;
    made["start"] = one.start_ns;
    made["end"] = one.end_ns;
    made["threads"] = one.threads;
    made["parallel"] = one.of ? json(one.of->parallel) : json(nullptr);
    made["mpi_load_balance"] = one.of ? json(one.of->mpi_load_balance) : json(nullptr);
    made["mpi_communication"] = one.of ? json(one.of->mpi_communication) : json(nullptr);
    made["device_offload"] = one.of ? json(one.of->device_offload) : json(nullptr);
    return made;
  };
  json made;
  made["bound"] = "upper";
  made["whole"] = spell(host.whole);
  made["windows"] = json::array();
  for (const host_efficiency& one : host.windows) made["windows"].push_back(spell(one));
  return made;
}

}  // namespace

const char* to_string(variability_metric metric) {
  switch (metric) {
    case variability_metric::duration: return "duration";
    case variability_metric::stall: return "stall";
    case variability_metric::busy: return "busy";
    case variability_metric::launch_gap: break;
  }
  return "launch-gap";
}

const char* to_string(variability_by by) {
  switch (by) {
    case variability_by::device: return "device";
    case variability_by::kernel: return "kernel";
    case variability_by::region: return "region";
    case variability_by::rank: break;
  }
  return "rank";
}

std::string to_json(const variability_result& result) {
  json parameters, all;
  parameters["traces"] = result.traces;
  parameters["simulated"] = result.is_simulated;
  parameters["window_ns"] = result.grid.width_ns;
  parameters["origin_ns"] = result.grid.origin_ns;
  parameters["metric"] = to_string(result.settings.metric);
  parameters["by"] = to_string(result.settings.by);
  parameters["iqr"] = result.settings.iqr;
  parameters["top"] = result.settings.top;
  parameters["quantile_error"] = histogram_error;
  parameters["remarks"] = result.remarks;
  for (const variability_fences& one : result.fence_list) {
    json made;
    put_place(made, result, one.group, one.name, true);
    made["n"] = one.count;
    made["q1"] = one.at.q1;
    made["q3"] = one.at.q3;
    made["lower"] = one.at.lower;
    made["upper"] = one.at.upper;
    parameters["fences"].push_back(std::move(made));
  }
  lines text;
  text.put("schema", json(1));
  text.put("parameters", parameters);
  text.begin("windows");
  for (const variability_window& one : result.windows) {
    json made;
    made["start"] = one.start_ns;
    made["end"] = one.end_ns;
    put_place(made, result, one.group, one.name, true);
    const bool has_any = one.count != 0;
    made["n"] = one.count;
    made["mean"] = has_any ? json(one.mean) : json(nullptr);
    made["std"] = has_any ? json(one.std) : json(nullptr);
    made["min"] = has_any ? json(one.min) : json(nullptr);
    made["max"] = has_any ? json(one.max) : json(nullptr);
    made["p50"] = has_any ? json(one.p50) : json(nullptr);
    made["p95"] = has_any ? json(one.p95) : json(nullptr);
    made["stall"] = one.stall_ns;
    made["busy"] = one.busy_ns;
    made["copied"] = one.copy_ns;
    made["value"] = or_null(one.value);
    made["flag"] = one.is_flagged;
    text.add(made);
  }
  text.end();
  all["topk"] = json::array();
  for (const std::size_t at : result.top) {
    const variability_window& one = result.windows[at];
    json made;
    made["start"] = one.start_ns;
    made["end"] = one.end_ns;
    put_place(made, result, one.group, one.name, true);
    made["value"] = or_null(one.value);
    made["kernel"] = one.longest;
    all["topk"].push_back(std::move(made));
  }
  all["kernels"] = json::array();
  for (const variability_name& one : result.names) {
    json made;
    made["name"] = one.name;
    put_place(made, result, one.group, one.name, false);
    made["n"] = one.count;
    made["total"] = one.total;
    made["mean"] = one.mean;
    made["std"] = one.std;
    made["min"] = one.min;
    made["max"] = one.max;
    made["p50"] = one.p50;
    made["p95"] = one.p95;
    made["p99"] = one.p99;
    made["cv"] = one.mean > 0 ? json(one.std / one.mean) : json(nullptr);
    made["share"] = one.share;
    all["kernels"].push_back(std::move(made));
  }
  json& corr = all["corr"];
  corr["pearson"] = or_null(result.pearson);
  corr["spearman"] = or_null(result.spearman);
  corr["n"] = result.pairs;
  if (result.efficiency) {
    const auto spell = [](const device_efficiency& one) {
      json made;
      made["start"] = one.start_ns;
      made["end"] = one.end_ns;
      made["devices"] = one.devices;
      made["parallel"] = one.of ? json(one.of->parallel) : json(nullptr);
      made["load_balance"] = one.of ? json(one.of->load_balance) : json(nullptr);
      made["communication"] = one.of ? json(one.of->communication) : json(nullptr);
      made["orchestration"] = one.of ? json(one.of->orchestration) : json(nullptr);
      return made;
    };
    json& efficiency = all["efficiency"];
    efficiency["whole"] = spell(result.efficiency->whole);
    efficiency["windows"] = json::array();
    for (const device_efficiency& one : result.efficiency->windows) efficiency["windows"].push_back(spell(one));
    if (result.host_efficiency) efficiency["host"] = spell_host(*result.host_efficiency);
  }
  all["findings"] = json::array();
  for (const variability_finding& one : result.findings) {
    json made;
    made["kind"] = to_string(one.kind);
    if (one.group) put_place(made, result, *one.group, {}, false);
    made["value"] = one.value;
    made["text"] = one.text;
    all["findings"].push_back(std::move(made));
  }
  all["ranks"] = json::array();
  for (const rank_work& one : result.ranks) {
    json made;
    made["rank"] = one.rank;
    made["rows"] = one.rows;
    made["bytes"] = one.bytes;
    made["seconds"] = one.seconds;
    made["peak_rss"] = one.peak_rss_bytes;
    all["ranks"].push_back(std::move(made));
  }
  for (const auto& [key, value] : all.items()) text.put(key, value);
  return text.finish();
}

std::string to_csv(const variability_result& result) {
  const variability_by by = result.settings.by;
  std::string made = fmt::format("start,end,{},n,mean,std,min,max,p50,p95,stall,busy,copied,value,flag{}\n",
                                 to_string(by), result.is_simulated ? ",simulated" : "");
  for (const variability_window& one : result.windows) {
    const variability_group what = find_group(result, one.group);
    std::string place = std::to_string(what.number);
    if (result.settings.by_name() || what.what == variability_group::kind::process) {
      place = "\"";
      for (const char letter : result.settings.by_name() ? one.name : group_name(result, one.group)) {
        if (letter == '"') place += '"';
        place += letter;
      }
      place += '"';
    }
    made += fmt::format("{},{},{},{},", one.start_ns, one.end_ns, place, one.count);
    if (one.count != 0)
      made += fmt::format("{},{},{},{},{},{},", one.mean, one.std, one.min, one.max, one.p50, one.p95);
    else made += ",,,,,,";
    made += fmt::format("{},{},{},{},{}{}\n", one.stall_ns, one.busy_ns, one.copy_ns,
                        one.value ? fmt::format("{}", *one.value) : "", one.is_flagged ? 1 : 0,
                        result.is_simulated ? ",1" : "");
  }
  return made;
}

}  // namespace adaptyst::lib
