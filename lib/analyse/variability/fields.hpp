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
#include "run_comparison.hpp"
#include "variability.hpp"

namespace adaptyst::lib {

template <>
inline constexpr std::array words<variability_metric>{"duration", "stall", "busy", "launch-gap"};
template <>
inline constexpr std::array words<variability_by>{"device", "kernel", "region", "rank"};
template <>
inline constexpr std::array words<copy_direction>{"host to device", "device to host", "device to device"};
template <>
inline constexpr std::array words<variability_finding_kind>{"slow_windows", "stalls", "slow_group",
                                                            "stalls_go_with_slowness"};
template <>
inline constexpr std::array words<run_finding_kind>{"slow_in_every_run", "slow_run"};

// The identity of a window or a name: one of the first five members is set. A window of a name has no device.
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
              value("device", &of::device, always, "Number of the device; null: not a device."),
              value("kernel", &of::kernel, sometimes, "Name of the kernel."),
              value("region", &of::region, sometimes, "Name of the region."),
              value("rank", &of::rank, sometimes, "Number of the rank."),
              value("process", &of::process, sometimes, "Process id."),
              value("host", &of::host, sometimes, "The host of the process. Absent if unknown."),
              value("trace", &of::trace, sometimes, "Name of the trace. Absent with one trace."));
}

constexpr auto fields(type<variability_fences>) {
  using of = variability_fences;
  return list(
      "fences", "Tukey's fences of a series of windows, in the unit of their values.",
      also([](const of& item, const variability_result& all) { return place_of_window(all, item.group, item.name); }),
      value("n", &of::count, always, "Number of windows."),
      follows(
          "q1", [](const of& item) { return item.at.q1; }, always, "The first quartile."),
      follows(
          "q3", [](const of& item) { return item.at.q3; }, always, "The third quartile."),
      follows(
          "lower", [](const of& item) { return item.at.lower; }, always, "Windows below it are flagged."),
      follows(
          "upper", [](const of& item) { return item.at.upper; }, always, "Windows above it are flagged."));
}

// A window without spans has no statistics. A window without known copies has no stall.
template <class Number>
constexpr auto of_any(Number variability_window::*which) {
  return [which](const variability_window& window) {
    return window.count != 0 ? std::optional(window.*which) : std::nullopt;
  };
}
constexpr auto of_copies(std::uint64_t variability_window::*which) {
  return [which](const variability_window& window, const variability_result& all) {
    return all.settings.has_stalls() ? std::optional(window.*which) : std::nullopt;
  };
}

constexpr auto fields(type<variability_window>) {
  using of = variability_window;
  return list(
      "window", "A time window. Statistics are of durations in it, in ns.",
      value("start", &of::start_ns, always, "Begin, ns since the trace's begin."),
      value("end", &of::end_ns, always, "End, ns since the trace's begin."),
      also([](const of& item, const variability_result& all) { return place_of_window(all, item.group, item.name); }),
      value("n", &of::count, always, "Spans that begin in the window."),
      follows("mean", of_any(&of::mean), always, "Mean duration; null: no spans."),
      follows("std", of_any(&of::std), always, "Standard deviation; null: no spans."),
      follows("min", of_any(&of::min), always, "Shortest duration; null: no spans."),
      follows("max", of_any(&of::max), always, "Longest duration; null: no spans."),
      follows("p50", of_any(&of::p50), always, "Median; null: no spans."),
      follows("p95", of_any(&of::p95), always, "95 % quantile; null: no spans."),
      follows("stall", of_copies(&of::stall_ns), always, "Time with copies and no computation, ns; null: unknown."),
      value("busy", &of::busy_ns, always, "Time with computation, ns."),
      follows("copied", of_copies(&of::copy_ns), always, "Time with copies, ns; null: unknown."),
      follows(
          "bytes", [](const of& item, const variability_result& all) { return find_copied_bytes(all, item); }, always,
          "Bytes of the copies that begin in the window; null: unknown."),
      follows(
          "launch_gap",
          [](const of& item, const variability_result& all) {
            return all.settings.has_stalls() ? find_launch_gap(all, item) : std::nullopt;
          },
          always, "Time without copies and computation for each span, ns; null: unknown."),
      value("value", &of::value, always, "Value of the metric; null: none."),
      value("flag", &of::is_flagged, always, "true if the value is beyond the fences."),
      follows(
          "why",
          [](const of& item, const variability_result& all) {
            return item.reason != of::no_reason ? std::optional(all.reasons[item.reason]) : std::nullopt;
          },
          sometimes, "The reason of a flag."));
}

constexpr auto fields(type<variability_cause>) {
  using of = variability_cause;
  return list("cause", "A name that took longer than in windows without a flag.",
              value("name", &of::name, always, "Name of the kernel or region."),
              also([](const of& item, const variability_result& all) { return place_of_group(all, item.group); }),
              value("n", &of::count, always, "Spans that begin in the window."),
              value("mean", &of::mean, always, "Mean duration in the window, ns."),
              value("usual", &of::usual_mean, always, "Mean duration in windows without a flag, ns."),
              value("extra", &of::extra_ns, always, "n times the difference, ns."),
              value("share", &of::share, always, "Share of the window's extra time."),
              value("z", &of::z, always, "Extra time in standard errors; 3 or more."));
}

constexpr auto fields(type<variability_measure>) {
  using of = variability_measure;
  return list("measure", "A quantity of a window.", value("value", &of::value, always, "The quantity in the window."),
              value("usual", &of::usual, always, "Median over the windows of the device or rank."),
              value("unusual", &of::is_unusual, always, "true if the difference exceeds chance."));
}

constexpr auto fields(type<variability_reason>) {
  using of = variability_reason;
  return list(
      "why", "The reason of a flag.", value("text", &of::text, always, "The reason as sentences."),
      value("usual", &of::usual, always, "Median of the values of the series."),
      value("effect", &of::effect, always, "Value over median; null: the median is 0."),
      value("z", &of::z, always, "Distance from the median in standard deviations; null: the series does not vary."),
      value("z_limit", &of::z_limit, always, "A flag needs more."),
      value("n", &of::compared, always, "Windows of the series."),
      follows(
          "rank",
          [](const of& item, const variability_result& all) {
            return all.settings.by_name() ? std::nullopt : find_group(all, all.windows[item.window].group).user_rank;
          },
          sometimes, "The only rank that uses the device. Absent if unknown."),
      value("extra", &of::extra_ns, sometimes,
            "Extra time of all names that took longer, ns. Absent: none runs in windows without a flag."),
      value("longer", &of::kernels, always, "Names that took longer, most extra time first."),
      value("others", &of::other_kernels, always, "Number of further names that took longer."),
      value("bytes", &of::copied_bytes, sometimes, "Bytes of copies. Absent if unknown."),
      value("copied", &of::copy_time, sometimes, "Time with copies, ns. Absent if unknown."),
      value("launch_gap", &of::launch_gap, sometimes, "Time without work for each span, ns. Absent if unknown."),
      value("starts", &of::starts, sometimes, "Spans that begin in the window. Absent for a partial window."));
}

constexpr auto fields(type<variability_top>) {
  using of = variability_top;
  return list(
      "top", "One of the worst windows.",
      follows(
          "start", [](const of& item) { return item.of.start_ns; }, always, "Begin, ns since the trace's begin."),
      follows(
          "end", [](const of& item) { return item.of.end_ns; }, always, "End, ns since the trace's begin."),
      also([](const of& item, const variability_result& all) {
        return place_of_window(all, item.of.group, item.is_of_kernel ? item.of.longest : item.of.name);
      }),
      follows(
          "value", [](const of& item) { return item.of.value; }, always, "Value of the metric."),
      follows(
          "kernel", [](const of& item) { return item.is_of_kernel ? std::nullopt : std::optional(item.of.longest); },
          sometimes, "The kernel with the most time in the window."));
}

constexpr auto fields(type<variability_name>) {
  using of = variability_name;
  return list(
      "kernel", "A name on a device, or in a process. Statistics are of durations, in ns.",
      value("name", &of::name, always, "The name of the kernel or region."),
      also([](const of& item, const variability_result& all) { return place_of_group(all, item.group); }),
      value("n", &of::count, always, "Number of spans."), value("total", &of::total, always, "Time of all spans."),
      value("mean", &of::mean, always, "Mean time of a span."), value("std", &of::std, always, "Standard deviation."),
      value("min", &of::min, always, "Shortest duration, exact."),
      value("max", &of::max, always, "Longest duration, exact."),
      value("p50", &of::p50, always, "Median, within quantile_error."),
      value("p95", &of::p95, always, "95 % quantile, within quantile_error."),
      value("p99", &of::p99, always, "99 % quantile, within quantile_error."),
      follows(
          "cv", [](const of& item) { return item.mean > 0 ? std::optional(item.std / item.mean) : std::nullopt; },
          always, "std over mean."),
      value("share", &of::share, always, "Share of the time of its group."));
}

constexpr auto fields(type<variability_copies>) {
  using of = variability_copies;
  return list("copies", "The copies of a device or process in a direction.",
              also([](const of& item, const variability_result& all) { return place_of_group(all, item.group); }),
              value("direction", &of::direction, sometimes, "The direction. Absent if unknown."),
              value("n", &of::count, always, "Number of copies."),
              value("total", &of::total_ns, always, "Sum of their durations, ns. Copies may overlap."),
              value("bytes", &of::bytes, sometimes, "Bytes of all copies. Absent if unknown for a copy."));
}

constexpr auto fields(type<variability_wait>) {
  using of = variability_wait;
  return list(
      "wait", "A kernel that starts later after longer copies. A correlation is no cause.",
      value("name", &of::name, always, "Name of the kernel."),
      also([](const of& item, const variability_result& all) { return place_of_group(all, item.group); }),
      value("windows", &of::windows, always, "Windows with such kernels."),
      value("n", &of::count, always, "Kernels that start on an idle device at most 50 us after a copy."),
      value("pearson", &of::r, always, "Correlation of copy time with delay, of logarithms of means of windows."),
      value("limit", &of::limit, always, "Least coefficient that is reported: at least 0.5 and more than chance."),
      value("copy", &of::copy_ns, always, "Mean duration of the copy before the kernel, ns."),
      value("delay", &of::delay_ns, always, "Mean time from the end of earlier kernels to the start, ns."));
}

// A factor of an efficiency; null: none.
template <class Efficiency>
constexpr auto factor(double Efficiency::factors::*which) {
  return [which](const Efficiency& item) { return item.of ? std::optional((*item.of).*which) : std::nullopt; };
}

constexpr auto fields(type<device_efficiency>) {
  using of = device_efficiency;
  return list(
      "device_efficiency", "Device efficiencies as defined by POP and TALP.",
      value("start", &of::start_ns, always, "Begin, ns since the trace's begin."),
      value("end", &of::end_ns, always, "End, ns since the trace's begin."),
      value("devices", &of::devices, always, "Number of devices."),
      follows("parallel", factor<of>(&of::factors::parallel), always, "The product of the next three."),
      follows("load_balance", factor<of>(&of::factors::load_balance), always, "Load balance between devices."),
      follows("communication", factor<of>(&of::factors::communication), always, "Factor for time lost to copies."),
      follows("orchestration", factor<of>(&of::factors::orchestration), always, "Factor for time lost to the host."));
}

constexpr auto fields(type<host_efficiency>) {
  using of = host_efficiency;
  return list(
      "host_efficiency", "Host efficiencies as defined by POP and TALP.",
      value("start", &of::start_ns, always, "Begin, ns since the trace's begin."),
      value("end", &of::end_ns, always, "End, ns since the trace's begin."),
      value("threads", &of::threads, always, "Number of threads."),
      follows("parallel", factor<of>(&of::factors::parallel), always, "The product of the next three."),
      follows("mpi_load_balance", factor<of>(&of::factors::mpi_load_balance), always, "Load balance between threads."),
      follows("mpi_communication", factor<of>(&of::factors::mpi_communication), always, "Factor for time lost to MPI."),
      follows("device_offload", factor<of>(&of::factors::device_offload), always,
              "Factor for time lost to serving devices."));
}

constexpr auto fields(type<variability_efficiency::of_host>) {
  using of = variability_efficiency::of_host;
  return list(
      "efficiency_of_host", "Efficiency of the threads of the host.",
      follows(
          "bound", [](const of&) { return "upper"; }, always,
          "Upper bounds: a trace does not show the threads between calls."),
      follows(
          "whole", [](const of& all) -> auto& { return all.of.whole; }, always, "Figures of the whole trace."),
      follows(
          "windows", [](const of& all) -> auto& { return all.of.windows; }, always, "Windows with any activity."));
}

constexpr auto fields(type<variability_efficiency>) {
  using of = variability_efficiency;
  return list(
      "efficiency", "Efficiency of devices.",
      follows(
          "whole", [](const of& all) -> auto& { return all.devices.whole; }, always, "Figures of the whole trace."),
      follows(
          "windows", [](const of& all) -> auto& { return all.devices.windows; }, always, "Windows with any activity."),
      value("host", &of::host, sometimes, "Absent if calls of the host are unknown."));
}

constexpr auto fields(type<variability_finding>) {
  using of = variability_finding;
  return list("finding", "A slow window, group or pattern.", value("kind", &of::kind, always, "The kind of slowness."),
              also([](const of& item, const variability_result& all) {
                return item.group ? std::optional(place_of_group(all, *item.group)) : std::nullopt;
              }),
              value("value", &of::value, always, "Number of windows, share of time, ratio or correlation, by kind."),
              value("text", &of::text, always, "The finding as a sentence."));
}

constexpr auto fields(type<rank_work>) {
  using of = rank_work;
  return list("rank", "The work of a rank that ran the analysis.",
              value("rank", &of::rank, always, "Number of the rank."), value("rows", &of::rows, always, "Rows read."),
              value("bytes", &of::bytes, always, "Bytes sent to other ranks."),
              value("seconds", &of::seconds, always, "Duration of the analysis."),
              value("peak_rss", &of::peak_rss_bytes, always, "Peak resident memory, in bytes."));
}

constexpr auto fields(type<variability_result>) {
  using of = variability_result;
  return list(
      "variability", "Variability of windows, kernels, devices and ranks.",
      follows(
          "schema", [](const of&) { return 1; }, always, "The version of this description."),
      object(
          "parameters", always, "Parameters of the analysis.",
          value("traces", &of::traces, always, "Files of the traces."),
          value("simulated", &of::is_simulated, always, "true if a generator made a trace."),
          follows(
              "window_ns", [](const of& all) { return all.grid.width_ns; }, always, "The width of a window."),
          follows(
              "origin_ns", [](const of& all) { return all.grid.origin_ns; }, always, "The begin of the first window."),
          follows(
              "metric", [](const of& all) { return all.settings.metric; }, always, "The compared metric."),
          follows(
              "by", [](const of& all) { return all.settings.by; }, always, "The subject of the comparison."),
          follows(
              "iqr", [](const of& all) { return all.settings.iqr; }, always,
              "Distance of the fences from the quartiles, in interquartile ranges."),
          follows(
              "top", [](const of& all) { return all.settings.top; }, always, "Most windows in topk."),
          follows(
              "false_flag_rate", [](const of&) { return false_flag_rate; }, always,
              "Expected share of windows flagged by chance."),
          follows(
              "quantile_error", [](const of&) { return histogram_error; }, always,
              "Greatest error of the quantiles of names."),
          value("remarks", &of::remarks, always, "Missing and omitted data."),
          value("fences", &of::fence_list, sometimes, "Fences of each series. Absent: none.")),
      value("windows", &of::windows, always, "By begin."),
      follows(
          "topk",
          [](const of& all) {
            std::vector<variability_top> made;
            for (const std::size_t at : all.top)
              made.push_back({all.windows[at], all.settings.by == variability_by::kernel});
            return made;
          },
          always, "The worst windows."),
      value("kernels", &of::names, always, "By time, longest first."),
      value("copies", &of::copies, sometimes, "Copies by direction. Absent: none."),
      value("waits", &of::waits, sometimes, "Kernels that start later after longer copies. Absent: none."),
      object("corr", always, "Correlation of stalls with durations, over windows.",
             value("pearson", &of::pearson, always, "Pearson's coefficient; null: unknown."),
             value("spearman", &of::spearman, always, "Spearman's coefficient; null: unknown."),
             value("n", &of::pairs, always, "Number of windows.")),
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
      value("ranks", &of::ranks, always, "Ranks that ran the analysis."));
}

constexpr auto fields(type<group_difference>) {
  using of = group_difference;
  return list("difference", "The same names here and elsewhere.",
              value("ratio", &of::ratio, always, "Duration here over duration elsewhere, a geometric mean."),
              value("z", &of::z, always, "Logarithm of the ratio in standard errors; null: nothing varies."));
}

constexpr auto fields(type<compared_run>) {
  using of = compared_run;
  return list("run", "A run.", value("trace", &of::trace, always, "File of the trace."),
              value("n", &of::count, always, "Number of spans."),
              value("total", &of::total_ns, always, "Time of all spans, ns."),
              value("windows", &of::windows, always, "Number of windows."),
              value("flagged", &of::flagged, always, "Number of flagged windows."),
              value("difference", &of::difference, sometimes,
                    "From the other runs, on the same devices. Absent: nothing to compare."),
              value("slow", &of::is_slow, always, "true if slower than the other runs."));
}

constexpr auto fields(type<compared_group::in_run>) {
  using of = compared_group::in_run;
  return list("group_in_run", "A device or rank in a run.", value("run", &of::run, always, "Index of the run."),
              value("difference", &of::difference, always, "From the other devices or ranks of this run."));
}

constexpr auto fields(type<compared_group>) {
  using of = compared_group;
  return list("group", "A device or rank in all runs.", value("label", &of::label, always, "Name for people."),
              also([](const of& item, const run_comparison& /*all*/) {
                variability_place made;
                if (item.about.what == variability_group::kind::device) made.device = item.about.number;
                if (item.about.what == variability_group::kind::rank) made.rank = item.about.number;
                made.host = item.about.host;
                return made;
              }),
              value("runs", &of::runs, always, "Runs with the same work on other devices or ranks."),
              value("slow_runs", &of::slow_runs, always, "Runs in which it is slow."),
              value("least_ratio", &of::least_ratio, always, "Least ratio over these runs; null: none."),
              value("least_z", &of::least_z, always, "Least z over these runs; null: unknown."),
              value("slow", &of::is_slow, always, "true if slow in each of at least two runs."));
}

constexpr auto fields(type<run_ratio>) {
  using of = run_ratio;
  return list("run_ratio", "The mean duration of a kernel in a run.",
              value("run", &of::run, always, "Index of the run."),
              value("ratio", &of::ratio, always, "Geometric mean of the durations, over that of all runs."),
              value("low", &of::low, sometimes, "Lower end of the 95 % interval. Absent: too few spans."),
              value("high", &of::high, sometimes, "Upper end of the 95 % interval. Absent: too few spans."));
}

constexpr auto fields(type<compared_name>) {
  using of = compared_name;
  return list("compared_name",
              "A kernel or region over runs and devices. Variations are standard deviations of natural logarithms.",
              value("name", &of::name, always, "Name of the kernel or region."),
              value("n", &of::count, always, "Number of spans."),
              value("total", &of::total_ns, always, "Time of all spans, ns."),
              value("mean", &of::mean_ns, always, "Mean duration, ns."),
              value("runs", &of::runs, always, "Runs that have it."),
              value("groups", &of::groups, always, "Devices or ranks that have it."),
              value("within", &of::within, always, "Variation on one device in one run; null: too few spans."),
              value("between_runs", &of::between_runs, always,
                    "Variation of the means of runs; null: no two runs have it on the same devices."),
              value("between_groups", &of::between_groups, always,
                    "Variation of the means of devices or ranks; null: no two have it in the same runs."),
              value("ratio", &of::ratio, always, "Slowest run over fastest run; null: as for between_runs."),
              value("slowest", &of::slowest, always, "Index of the slowest run; null: as for between_runs."),
              value("fastest", &of::fastest, always, "Index of the fastest run; null: as for between_runs."),
              value("in_runs", &of::of_runs, always, "The mean duration in each run; empty: as for between_runs."));
}

constexpr auto fields(type<run_finding>) {
  using of = run_finding;
  return list("finding", "A slow device, rank or run.", value("kind", &of::kind, always, "The kind of slowness."),
              value("group", &of::group, sometimes, "Index of the device or rank."),
              value("run", &of::run, sometimes, "Index of the run."), value("value", &of::value, always, "The ratio."),
              value("text", &of::text, always, "The finding as a sentence."));
}

constexpr auto fields(type<run_comparison>) {
  using of = run_comparison;
  return list(
      "variability_runs", "The same kernels or regions over several runs and devices.",
      follows(
          "schema", [](const of&) { return 1; }, always, "The version of this description."),
      object("parameters", always, "Parameters of the comparison.",
             value("by", &of::by, always, "The subject of the windows."),
             value("simulated", &of::is_simulated, always, "true if a generator made a trace."),
             follows(
                 "least_ratio", [](const of&) { return least_ratio; }, always,
                 "A slow run or device has this ratio or more."),
             follows(
                 "least_z", [](const of&) { return least_errors; }, always, "A slow run or device has this z or more."),
             follows(
                 "least_n", [](const of&) { return min_compared_count; }, always,
                 "Names with fewer spans are not compared."),
             value("remarks", &of::remarks, always, "Missing and omitted data.")),
      value("runs", &of::runs, always, "In the order of the command line."),
      value("groups", &of::groups, always, "Devices or ranks."),
      value("kernels", &of::names, always, "By time, longest first."),
      value("findings", &of::findings, always, "Findings."));
}

}  // namespace listed
}  // namespace adaptyst::lib

#endif
