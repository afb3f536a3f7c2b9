// Writes the table of devices, lines on their operations, and efficiencies.
#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../model/words.hpp"
#include "../support/text.hpp"
#include "text_table.hpp"

namespace adaptyst::lib {

namespace {

std::string format_tail(const std::optional<wait_times>& all) {
  if (!all) return "—";
  return fmt::format("{} (p99 {})", duration(all->durations.quantile(0.5)), duration(all->durations.quantile(0.99)));
}

std::string transfer(const std::optional<amount>& all, const char* direction) {
  if (!all) return "";
  const std::string rate = all->per_second() ? " at " + quantity(*all->per_second(), "B/s") : "";
  return fmt::format("; {} {}{}", quantity(all->sum, "B"), direction, rate);
}

// Figures without a column; none for a device that has only run offloads.
void write_operations(std::string& out, const device_usage& device, std::size_t line_columns, bool is_verbose) {
  if (device.queue_wait) {
    std::string text = fmt::format("{} operations on {} queue{}", format_count(device.operations),
                                   format_count(device.queues), device.queues == 1 ? "" : "s");
    if (const auto at_once = device.concurrency(); at_once && fmt::format("{:.3g}", *at_once) != "1")
      text += fmt::format(", {:.3g} at a time", *at_once);
    text += "; started after " + format_tail(device.queue_wait) + ", launched in " + format_tail(device.launch_latency);
    text += transfer(device.to_device, "to it") + transfer(device.from_device, "from it");
    if (device.flops && device.flops->per_second())
      text += "; kernels " + quantity(*device.flops->per_second(), "FLOP/s");
    out += wrapped(text, line_columns, 4);
  }
  if (device.clock && is_verbose)
    out += wrapped(fmt::format("clock {}: {} sync points, offset {}{}, drift {:.3g} ppm, residual {}",
                               to_string(device.clock->clock), format_count(device.clock->sync_points),
                               device.clock->offset_ns < 0 ? "-" : "",
                               duration(std::abs(static_cast<double>(device.clock->offset_ns))),
                               device.clock->drift_ppm, duration(static_cast<double>(device.clock->residual_ns))),
                   line_columns, 4);
  if (device.late != 0)
    out += wrapped(fmt::format("{} operations came too late for an exact busy time", format_count(device.late)),
                   line_columns, 4);
  if (device.skipped != 0)
    out += wrapped(fmt::format("{} operations were not booked", format_count(device.skipped)), line_columns, 4);
}

// The reasons for blocked time: "futex 3.17 s, I/O 8.86 ms". A single reason has no time. Reasons for less than a
// thousandth are omitted.
std::string list_reasons(const os_context& context) {
  const char* const mark = context.blocked_variance ? "~" : "";
  const std::string all = mark + duration(static_cast<double>(context.blocked_ns()));
  std::string reasons;
  for (const auto& [ns, name] : {std::pair{context.sleep_ns, "sleep"}, std::pair{context.lock_ns, "futex"},
                                 std::pair{context.io_ns, "I/O"}, std::pair{context.other_ns, "other"}}) {
    if (ns == 0 || ns < context.blocked_ns() / 1000) continue;
    const std::string time = mark + duration(static_cast<double>(ns));
    reasons += fmt::format("{}{}{}", reasons.empty() ? "" : ", ", name, time == all ? "" : " " + time);
  }
  return reasons;
}

// "~3.17 s ± 2.0%" for an estimate.
std::string time_text(std::uint64_t ns, const std::optional<double>& variance) {
  const auto time = static_cast<double>(ns);
  return (variance ? "~" : "") + duration(time) + error_text(time, variance);
}

// "its threads waited 3.90 s for a core, and were blocked 3.17 s (futex)"; empty: their waits took no time.
std::string describe_waits(const os_context& context) {
  std::string text;
  if (context.runnable_ns != 0)
    text = fmt::format("its threads waited {} for a core", time_text(context.runnable_ns, context.runnable_variance));
  if (context.blocked_ns() == 0) return text;
  text += fmt::format("{} blocked {}", text.empty() ? "its threads were" : ", and were",
                      time_text(context.blocked_ns(), context.blocked_variance));
  const std::string reasons = list_reasons(context);
  return reasons.empty() ? text : text + " (" + reasons + ")";
}

void write_context(std::string& out, const os_context& context, std::size_t line_columns) {
  // Zeros are omitted, but for page faults: without a number, they are unknown.
  std::string text = describe_waits(context);
  const auto add = [&](std::uint64_t count, const std::optional<double>& variance, const char* what,
                       const char* before = "; ") {
    text += fmt::format("{}{}{}{} {}", text.empty() ? "" : before, variance ? "~" : "", format_count(count),
                        error_text(static_cast<double>(count), variance), what);
  };
  std::optional<double> of_switches = context.voluntary_variance;
  if (of_switches) *of_switches += context.involuntary_variance.value_or(0);
  if (const std::uint64_t all = context.voluntary_switches + context.involuntary_switches; all != 0)
    add(all, of_switches, "switches");
  if (context.involuntary_switches != 0)
    add(context.involuntary_switches, context.involuntary_variance, "involuntary", ", ");
  if (context.migrations != 0) add(context.migrations, context.migrations_variance, "migrations");
  if (context.minor_faults && context.major_faults) {
    add(*context.minor_faults + *context.major_faults, context.faults_variance, "page faults");
    if (*context.major_faults != 0) add(*context.major_faults, std::nullopt, "major", ", ");
  }
  if (context.cycles || context.instructions || context.cache_misses)
    text += (text.empty() ? "" : "; ") + counters_text(context);
  if (!text.empty()) out += wrapped(text, line_columns, 4);
}

// busy = kernels + exposed copies + other; idle = launching + starved.
void write_devices(std::string& out, const profile& profile, const screen& on, bool is_verbose) {
  text_table table({{"DEVICE", column_kind::name, 12},
                    {"BUSY"},
                    {"USED"},
                    {"KERNELS"},
                    {"EXPOSED"},
                    {"IDLE"},
                    {"LAUNCHING"},
                    {"STARVED"},
                    {"OVERLAP"}});
  const auto time = [](const std::optional<std::uint64_t>& ns) {
    return time_cell(ns ? std::optional(static_cast<double>(*ns)) : std::nullopt);
  };
  for (std::uint32_t at = 0; at != profile.devices.size(); ++at) {
    const device_usage& device = profile.devices[at];
    table.add({named_device(device_label(profile, at), device.name), time(device.busy_ns),
               percent_cell(device.utilisation()), time(device.kernel_ns), time(device.exposed_copy_ns),
               time(device.idle_ns()), time(device.launch_idle_ns), time(device.starved_ns()),
               percent_cell(profile.offload.waited_ns ? device.overlap() : std::nullopt)});
    std::string below;
    if (device.context) write_context(below, *device.context, on.columns);
    write_operations(below, device, on.columns, is_verbose);
    table.add_below(below);
  }
  out += "\n" + table.text(on);
}

void write_efficiency(std::string& out, const profile& profile, std::size_t line_columns) {
  const efficiencies all = compute_efficiencies(profile);
  std::uint64_t sum = 0;
  std::size_t devices = 0;
  for (const device_usage& device : profile.devices)
    if (device.kernel_ns) {
      sum += device.busy_ns.value_or(0);
      ++devices;
    }
  if (all.device_parallel)
    out +=
        wrapped(fmt::format("devices: parallel efficiency {} = load balance {} x communication {} x orchestration {}",
                            percent(*all.device_parallel), percent(*all.device_load_balance),
                            percent(*all.device_communication), percent(*all.device_orchestration)),
                line_columns);
  if (devices > 1 && profile.offload.busy_ns && sum > *profile.offload.busy_ns)
    out += wrapped(fmt::format("devices: {} of their work went on at once",
                               duration(static_cast<double>(sum - *profile.offload.busy_ns))),
                   line_columns);
  if (all.device_offload)
    out += wrapped(fmt::format("host: offload efficiency {}{}", percent(*all.device_offload),
                               profile.offload.waited_ns.value_or(0) != 0
                                   ? fmt::format(", it waited {} for devices", duration(profile.offload.waited_ns))
                                   : ""),
                   line_columns);
}

}  // namespace

std::string device_table(const profile& profile, const table_options& how) {
  std::string out;
  const std::size_t line_columns = std::max(how.columns, min_table_columns);
  write_devices(out, profile, {line_columns, how.has_colour}, how.verbose);
  write_efficiency(out, profile, line_columns);
  return out;
}

}  // namespace adaptyst::lib
