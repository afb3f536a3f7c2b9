// The output contract of `adaptyst variability`: keys, their order and their units, as docs/variability.md lists them.
#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string_view>

#include "../analyse/variability/flags.hpp"
#include "json_stream.hpp"
#include "variability_forms.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t csv_passed_on_at_once = std::size_t{1} << 16U;

const char* to_string(variability_finding_kind kind) {
  switch (kind) {
    case variability_finding_kind::slow_windows: return "slow_windows";
    case variability_finding_kind::stalls: return "stalls";
    case variability_finding_kind::slow_group: return "slow_group";
    case variability_finding_kind::stalls_go_with_slowness: break;
  }
  return "stalls_go_with_slowness";
}

// What windows and names are told apart by.
void put_place(json_stream& to, const variability_result& result, std::uint32_t group, std::string_view name,
               bool is_window) {
  const variability_by by = result.settings.by;
  if (is_window && result.settings.by_name()) {
    to.key("device").put_null();
    to.key(by == variability_by::kernel ? "kernel" : "region").put_text(name);
    return;
  }
  const variability_group what = find_group(result, group);
  to.key("device");
  if (what.what == variability_group::kind::device) {
    to.put(what.number);
  } else {
    to.put_null();
    to.key(what.what == variability_group::kind::rank ? "rank" : "process").put(what.number);
  }
  if (!what.host.empty()) to.key("host").put_text(what.host);
  if (!what.trace.empty()) to.key("trace").put_text(what.trace);
}

void put_texts(json_stream& to, std::string_view key, const std::vector<std::string>& texts) {
  to.key(key).begin_array();
  for (const std::string& one : texts) to.put_text(one);
  to.end_array();
}

void put_parameters(json_stream& to, const variability_result& result) {
  to.key("parameters").begin_object();
  put_texts(to, "traces", result.traces);
  to.key("simulated").put(result.is_simulated);
  to.key("window_ns").put(result.grid.width_ns);
  to.key("origin_ns").put(result.grid.origin_ns);
  to.key("metric").put_text(to_string(result.settings.metric));
  to.key("by").put_text(to_string(result.settings.by));
  to.key("iqr").put(result.settings.iqr);
  to.key("top").put(result.settings.top);
  to.key("false_flag_rate").put(false_flag_rate);
  to.key("quantile_error").put(histogram_error);
  put_texts(to, "remarks", result.remarks);
  if (!result.fence_list.empty()) {
    to.key("fences").begin_array();
    for (const variability_fences& one : result.fence_list) {
      to.begin_object();
      put_place(to, result, one.group, one.name, true);
      to.key("n").put(one.count);
      to.key("q1").put(one.at.q1);
      to.key("q3").put(one.at.q3);
      to.key("lower").put(one.at.lower);
      to.key("upper").put(one.at.upper);
      to.end_object();
    }
    to.end_array();
  }
  to.end_object();
}

void put_windows(json_stream& to, const variability_result& result) {
  to.key("windows").begin_array();
  for (const variability_window& one : result.windows) {
    to.begin_object();
    to.key("start").put(one.start_ns);
    to.key("end").put(one.end_ns);
    put_place(to, result, one.group, one.name, true);
    const auto put_of_any = [&](std::string_view key, auto number) {
      to.key(key);
      if (one.count != 0) to.put(number);
      else to.put_null();
    };
    to.key("n").put(one.count);
    put_of_any("mean", one.mean);
    put_of_any("std", one.std);
    put_of_any("min", one.min);
    put_of_any("max", one.max);
    put_of_any("p50", one.p50);
    put_of_any("p95", one.p95);
    const auto put_of_copies = [&](std::string_view key, std::uint64_t number) {
      to.key(key);
      if (result.settings.has_stalls()) to.put(number);
      else to.put_null();
    };
    put_of_copies("stall", one.stall_ns);
    to.key("busy").put(one.busy_ns);
    put_of_copies("copied", one.copy_ns);
    to.key("value").put(one.value);
    to.key("flag").put(one.is_flagged);
    to.end_object();
  }
  to.end_array();
  to.key("topk").begin_array();
  for (const std::size_t at : result.top) {
    const variability_window& one = result.windows[at];
    // Of windows of a kernel, it is what took most of their time.
    const bool is_of_kernel = result.settings.by == variability_by::kernel;
    to.begin_object();
    to.key("start").put(one.start_ns);
    to.key("end").put(one.end_ns);
    put_place(to, result, one.group, is_of_kernel ? one.longest : one.name, true);
    to.key("value").put(one.value);
    if (!is_of_kernel) to.key("kernel").put_text(one.longest);
    to.end_object();
  }
  to.end_array();
}

void put_names(json_stream& to, const variability_result& result) {
  to.key("kernels").begin_array();
  for (const variability_name& one : result.names) {
    to.begin_object();
    to.key("name").put_text(one.name);
    put_place(to, result, one.group, one.name, false);
    to.key("n").put(one.count);
    to.key("total").put(one.total);
    to.key("mean").put(one.mean);
    to.key("std").put(one.std);
    to.key("min").put(one.min);
    to.key("max").put(one.max);
    to.key("p50").put(one.p50);
    to.key("p95").put(one.p95);
    to.key("p99").put(one.p99);
    to.key("cv").put(one.mean > 0 ? std::optional(one.std / one.mean) : std::nullopt);
    to.key("share").put(one.share);
    to.end_object();
  }
  to.end_array();
}

// One of `factors` of an efficiency, or null where there are none.
template <class Efficiency, class Factors>
void put_factor(json_stream& to, std::string_view key, const Efficiency& one, double Factors::*which) {
  to.key(key);
  if (one.of) to.put(*one.of.*which);
  else to.put_null();
}

void put(json_stream& to, const device_efficiency& one) {
  using factors = device_efficiency::factors;
  to.begin_object();
  to.key("start").put(one.start_ns);
  to.key("end").put(one.end_ns);
  to.key("devices").put(one.devices);
  put_factor(to, "parallel", one, &factors::parallel);
  put_factor(to, "load_balance", one, &factors::load_balance);
  put_factor(to, "communication", one, &factors::communication);
  put_factor(to, "orchestration", one, &factors::orchestration);
  to.end_object();
}

void put(json_stream& to, const host_efficiency& one) {
  using factors = host_efficiency::factors;
  to.begin_object();
  to.key("start").put(one.start_ns);
  to.key("end").put(one.end_ns);
  to.key("threads").put(one.threads);
  put_factor(to, "parallel", one, &factors::parallel);
  put_factor(to, "mpi_load_balance", one, &factors::mpi_load_balance);
  put_factor(to, "mpi_communication", one, &factors::mpi_communication);
  put_factor(to, "device_offload", one, &factors::device_offload);
  to.end_object();
}

// Of the whole, and of each window, in the object that is open.
template <class Efficiencies>
void put_all(json_stream& to, const Efficiencies& all) {
  to.key("whole");
  put(to, all.whole);
  to.key("windows").begin_array();
  for (const auto& one : all.windows) put(to, one);
  to.end_array();
}

void put_findings(json_stream& to, const variability_result& result) {
  to.key("findings").begin_array();
  for (const variability_finding& one : result.findings) {
    to.begin_object();
    to.key("kind").put_text(to_string(one.kind));
    if (one.group) put_place(to, result, *one.group, {}, false);
    to.key("value").put(one.value);
    to.key("text").put_text(one.text);
    to.end_object();
  }
  to.end_array();
}

void put_ranks(json_stream& to, const variability_result& result) {
  to.key("ranks").begin_array();
  for (const rank_work& one : result.ranks) {
    to.begin_object();
    to.key("rank").put(std::uint64_t{one.rank});
    to.key("rows").put(one.rows);
    to.key("bytes").put(one.bytes);
    to.key("seconds").put(one.seconds);
    to.key("peak_rss").put(one.peak_rss_bytes);
    to.end_object();
  }
  to.end_array();
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

void write_json(const variability_result& result, const text_taker& taker) {
  json_stream to(taker);
  to.begin_object();
  to.key("schema").put(std::uint64_t{1});
  put_parameters(to, result);
  put_windows(to, result);
  put_names(to, result);
  to.key("corr").begin_object();
  to.key("pearson").put(result.pearson);
  to.key("spearman").put(result.spearman);
  to.key("n").put(result.pairs);
  to.end_object();
  if (result.efficiency) {
    to.key("efficiency").begin_object();
    put_all(to, *result.efficiency);
    if (result.host_efficiency) {
      to.key("host").begin_object();
      to.key("bound").put_text("upper");
      put_all(to, *result.host_efficiency);
      to.end_object();
    }
    to.end_object();
  }
  put_findings(to, result);
  put_ranks(to, result);
  to.end_object();
  to.finish();
}

std::string to_json(const variability_result& result) {
  std::string made;
  write_json(result, [&](std::string_view piece) { made += piece; });
  return made;
}

void write_csv(const variability_result& result, const text_taker& to) {
  const variability_by by = result.settings.by;
  to(fmt::format("start,end,{},n,mean,std,min,max,p50,p95,stall,busy,copied,value,flag{}\n", to_string(by),
                 result.is_simulated ? ",simulated" : ""));
  std::string made;
  for (const variability_window& one : result.windows) {
    const variability_group what = find_group(result, one.group);
    std::string place = std::to_string(what.number);
    if (result.settings.by_name() || what.what == variability_group::kind::process) {
      place = "\"";
      for (const char letter : result.settings.by_name() ? std::string(one.name) : group_name(result, one.group)) {
        if (letter == '"') place += '"';
        place += letter;
      }
      place += '"';
    }
    made += fmt::format("{},{},{},{},", one.start_ns, one.end_ns, place, one.count);
    if (one.count != 0)
      made += fmt::format("{},{},{},{},{},{},", one.mean, one.std, one.min, one.max, one.p50, one.p95);
    else made += ",,,,,,";
    const auto of_copies = [&](std::uint64_t ns) {
      return result.settings.has_stalls() ? std::to_string(ns) : std::string();
    };
    made += fmt::format("{},{},{},{},{}{}\n", of_copies(one.stall_ns), one.busy_ns, of_copies(one.copy_ns),
                        one.value ? fmt::format("{}", *one.value) : "", one.is_flagged ? 1 : 0,
                        result.is_simulated ? ",1" : "");
    if (made.size() < csv_passed_on_at_once) continue;
    to(made);
    made.clear();
  }
  to(made);
}

}  // namespace adaptyst::lib
