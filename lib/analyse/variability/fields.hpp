// The parts of an analysis of variability; docs/variability.md explains the figures.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_FIELDS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_FIELDS_HPP

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../model/listed.hpp"
#include "../../model/words.hpp"
#include "flags.hpp"
#include "variability.hpp"

namespace adaptyst::lib {

template <>
inline constexpr std::array words<variability_metric>{"duration", "stall", "busy", "launch-gap"};
template <>
inline constexpr std::array words<variability_by>{"device", "kernel", "region", "rank"};
template <>
inline constexpr std::array words<variability_finding_kind>{"slow_windows", "stalls", "slow_group",
                                                            "stalls_go_with_slowness"};

// The identity of a window or a name: one of the first five is there; a window of a name has no device.
struct variability_place {
  std::optional<std::uint64_t> device, rank, process;
  std::optional<std::string_view> kernel, region;
  std::string host, trace;
};

inline variability_place place_of_group(const variability_result& all, std::uint32_t group) {
  const variability_group what = find_group(all, group);
  variability_place made;
  switch (what.what) {
    case variability_group::kind::device: made.device = what.number; break;
    case variability_group::kind::rank: made.rank = what.number; break;
    case variability_group::kind::process: made.process = what.number; break;
  }
  made.host = what.host;
  made.trace = what.trace;
  return made;
}

inline variability_place place_of_window(const variability_result& all, std::uint32_t group, std::string_view name) {
  if (!all.settings.by_name()) return place_of_group(all, group);
  variability_place made;
  (all.settings.by == variability_by::kernel ? made.kernel : made.region) = name;
  return made;
}

// The worst windows.
struct variability_top {
  const variability_window& of;
  bool is_of_kernel;
};

struct variability_efficiency {
  const device_efficiencies& devices;
  struct of_host {
    const host_efficiencies& of;
  };
  std::optional<of_host> host;
};

namespace listed {

constexpr auto fields(type<variability_place>) {
  using of = variability_place;
  return list("place", "The identity of a window or a name.",
              value("device", &of::device, always, "Its number; null: it is something else."),
              value("kernel", &of::kernel, sometimes, "Its name."),
              value("region", &of::region, sometimes, "Its name."), value("rank", &of::rank, sometimes, "Its number."),
              value("process", &of::process, sometimes, "Its number."),
              value("host", &of::host, sometimes, "The host of the process. Absent if unknown."),
              value("trace", &of::trace, sometimes, "Absent where there is but one."));
}

constexpr auto fields(type<variability_fences>) {
  using of = variability_fences;
  return list(
      "fences", "Tukey's fences of a series of windows, in the unit of their values.",
      also([](const of& one, const variability_result& all) { return place_of_window(all, one.group, one.name); }),
      value("n", &of::count, always, "Windows."),
      follows(
          "q1", [](const of& one) { return one.at.q1; }, always, "The first quartile."),
      follows(
          "q3", [](const of& one) { return one.at.q3; }, always, "The third quartile."),
      follows(
          "lower", [](const of& one) { return one.at.lower; }, always, "Below it a window is flagged."),
      follows(
          "upper", [](const of& one) { return one.at.upper; }, always, "Above it a window is flagged."));
}

// A window in which nothing happened has no statistic, and one without known copies no stall.
template <class Number>
constexpr auto of_any(Number variability_window::*which) {
  return [which](const variability_window& one) { return one.count != 0 ? std::optional(one.*which) : std::nullopt; };
}
constexpr auto of_copies(std::uint64_t variability_window::*which) {
  return [which](const variability_window& one, const variability_result& all) {
    return all.settings.has_stalls() ? std::optional(one.*which) : std::nullopt;
  };
}

constexpr auto fields(type<variability_window>) {
  using of = variability_window;
  return list(
      "window", "A stretch of time. Statistics are of durations in it, ns.",
      value("start", &of::start_ns, always, "ns since the trace's begin."),
      value("end", &of::end_ns, always, "Likewise."),
      also([](const of& one, const variability_result& all) { return place_of_window(all, one.group, one.name); }),
      value("n", &of::count, always, "Spans that begin in it."),
      follows("mean", of_any(&of::mean), always, "null: none."), follows("std", of_any(&of::std), always, "Likewise."),
      follows("min", of_any(&of::min), always, "Likewise."), follows("max", of_any(&of::max), always, "Likewise."),
      follows("p50", of_any(&of::p50), always, "Likewise."), follows("p95", of_any(&of::p95), always, "Likewise."),
      follows("stall", of_copies(&of::stall_ns), always, "Copying while nothing computed, ns; null: not known."),
      value("busy", &of::busy_ns, always, "Computing, ns."),
      follows("copied", of_copies(&of::copy_ns), always, "Copying, ns; null: not known."),
      value("value", &of::value, always, "Value of the metric; null: none."),
      value("flag", &of::is_flagged, always, "Whether it is beyond the fences."));
}

constexpr auto fields(type<variability_top>) {
  using of = variability_top;
  return list(
      "top", "One of the worst windows.",
      follows(
          "start", [](const of& one) { return one.of.start_ns; }, always, "ns since the trace's begin."),
      follows(
          "end", [](const of& one) { return one.of.end_ns; }, always, "Likewise."),
      also([](const of& one, const variability_result& all) {
        return place_of_window(all, one.of.group, one.is_of_kernel ? one.of.longest : one.of.name);
      }),
      follows(
          "value", [](const of& one) { return one.of.value; }, always, "Value of the metric."),
      follows(
          "kernel", [](const of& one) { return one.is_of_kernel ? std::nullopt : std::optional(one.of.longest); },
          sometimes, "That took most of its time."));
}

constexpr auto fields(type<variability_name>) {
  using of = variability_name;
  return list("kernel", "A name on a device, or in a process. Statistics are of durations, ns.",
              value("name", &of::name, always, "The name of the kernel or region."),
              also([](const of& one, const variability_result& all) { return place_of_group(all, one.group); }),
              value("n", &of::count, always, "Spans."), value("total", &of::total, always, "Time of all spans."),
              value("mean", &of::mean, always, "Mean time of a span."),
              value("std", &of::std, always, "Standard deviation."), value("min", &of::min, always, "Exact."),
              value("max", &of::max, always, "Exact."), value("p50", &of::p50, always, "Within quantile_error."),
              value("p95", &of::p95, always, "Likewise."), value("p99", &of::p99, always, "Likewise."),
              follows(
                  "cv", [](const of& one) { return one.mean > 0 ? std::optional(one.std / one.mean) : std::nullopt; },
                  always, "std over mean."),
              value("share", &of::share, always, "Share of the time of its group."));
}

// One of the factors of an efficiency; null: there are none.
template <class Efficiency>
constexpr auto factor(double Efficiency::factors::*which) {
  return [which](const Efficiency& one) { return one.of ? std::optional((*one.of).*which) : std::nullopt; };
}

constexpr auto fields(type<device_efficiency>) {
  using of = device_efficiency;
  return list("device_efficiency", "The efficiencies of devices that POP and TALP define.",
              value("start", &of::start_ns, always, "ns since the trace's begin."),
              value("end", &of::end_ns, always, "Likewise."), value("devices", &of::devices, always, "How many."),
              follows("parallel", factor<of>(&of::factors::parallel), always, "The product of the three below."),
              follows("load_balance", factor<of>(&of::factors::load_balance), always, "Between devices."),
              follows("communication", factor<of>(&of::factors::communication), always, "Lost by copies."),
              follows("orchestration", factor<of>(&of::factors::orchestration), always, "Lost by the host."));
}

constexpr auto fields(type<host_efficiency>) {
  using of = host_efficiency;
  return list("host_efficiency", "The efficiencies of the host that POP and TALP define.",
              value("start", &of::start_ns, always, "ns since the trace's begin."),
              value("end", &of::end_ns, always, "Likewise."), value("threads", &of::threads, always, "How many."),
              follows("parallel", factor<of>(&of::factors::parallel), always, "The product of the three below."),
              follows("mpi_load_balance", factor<of>(&of::factors::mpi_load_balance), always, "Between threads."),
              follows("mpi_communication", factor<of>(&of::factors::mpi_communication), always, "Lost by MPI."),
              follows("device_offload", factor<of>(&of::factors::device_offload), always, "Lost by serving devices."));
}

constexpr auto fields(type<variability_efficiency::of_host>) {
  using of = variability_efficiency::of_host;
  return list(
      "efficiency_of_host", "Efficiency of the threads of the host.",
      follows(
          "bound", [](const of&) { return "upper"; }, always, "A trace does not show what threads did between calls."),
      follows(
          "whole", [](const of& all) -> auto& { return all.of.whole; }, always, "Figures of the whole trace."),
      follows(
          "windows", [](const of& all) -> auto& { return all.of.windows; }, always, "In which anything happened."));
}

constexpr auto fields(type<variability_efficiency>) {
  using of = variability_efficiency;
  return list(
      "efficiency", "Efficiency of devices.",
      follows(
          "whole", [](const of& all) -> auto& { return all.devices.whole; }, always, "Figures of the whole trace."),
      follows(
          "windows", [](const of& all) -> auto& { return all.devices.windows; }, always, "In which anything happened."),
      value("host", &of::host, sometimes, "Absent where calls of the host are not known."));
}

constexpr auto fields(type<variability_finding>) {
  using of = variability_finding;
  return list("finding", "Something that is slow.", value("kind", &of::kind, always, "The kind of slowness."),
              also([](const of& one, const variability_result& all) {
                return one.group ? std::optional(place_of_group(all, *one.group)) : std::nullopt;
              }),
              value("value", &of::value, always, "Windows; a share of time; a ratio; a correlation."),
              value("text", &of::text, always, "A sentence."));
}

constexpr auto fields(type<rank_work>) {
  using of = rank_work;
  return list("rank", "The work of a rank of the analysis.", value("rank", &of::rank, always, "Its number."),
              value("rows", &of::rows, always, "That it read."), value("bytes", &of::bytes, always, "Sent to others."),
              value("seconds", &of::seconds, always, "That it took."),
              value("peak_rss", &of::peak_rss_bytes, always, "Bytes of memory, at most."));
}

constexpr auto fields(type<variability_result>) {
  using of = variability_result;
  return list(
      "variability", "Variability of windows, kernels, devices and ranks.",
      follows(
          "schema", [](const of&) { return 1; }, always, "The version of this description."),
      object(
          "parameters", always, "Parameters of the analysis.", value("traces", &of::traces, always, "Files."),
          value("simulated", &of::is_simulated, always, "A trace was made by a generator."),
          follows(
              "window_ns", [](const of& all) { return all.grid.width_ns; }, always, "The width of a window."),
          follows(
              "origin_ns", [](const of& all) { return all.grid.origin_ns; }, always, "The begin of the first window."),
          follows(
              "metric", [](const of& all) { return all.settings.metric; }, always, "By which windows are compared."),
          follows(
              "by", [](const of& all) { return all.settings.by; }, always, "The subject of the comparison."),
          follows(
              "iqr", [](const of& all) { return all.settings.iqr; }, always,
              "How many quartile ranges fences are off."),
          follows(
              "top", [](const of& all) { return all.settings.top; }, always, "Worst windows, at most."),
          follows(
              "false_flag_rate", [](const of&) { return false_flag_rate; }, always,
              "Expected share of windows flagged by chance."),
          follows(
              "quantile_error", [](const of&) { return histogram_error; }, always,
              "Greatest error of quantiles of names."),
          value("remarks", &of::remarks, always, "Missing and omitted data."),
          value("fences", &of::fence_list, sometimes, "Absent where there are none.")),
      value("windows", &of::windows, always, "In the order of their begin."),
      follows(
          "topk",
          [](const of& all) {
            std::vector<variability_top> made;
            for (const std::size_t at : all.top)
              made.push_back({all.windows[at], all.settings.by == variability_by::kernel});
            return made;
          },
          always, "The worst windows."),
      value("kernels", &of::names, always, "By the time that they took."),
      object("corr", always, "Correlation of stalls with durations, over windows.",
             value("pearson", &of::pearson, always, "null: not known."),
             value("spearman", &of::spearman, always, "Likewise."), value("n", &of::pairs, always, "Windows.")),
      follows(
          "efficiency",
          [](const of& all) {
            std::optional<variability_efficiency> made;
            if (!all.efficiency) return made;
            made.emplace(variability_efficiency{*all.efficiency, {}});
            if (all.host_efficiency) made->host.emplace(variability_efficiency::of_host{*all.host_efficiency});
            return made;
          },
          sometimes, "Absent for other subjects than devices."),
      value("findings", &of::findings, always, "Findings."),
      value("ranks", &of::ranks, always, "Ranks of the analysis."));
}

}  // namespace listed
}  // namespace adaptyst::lib

#endif
