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
  const std::string all = duration(static_cast<double>(context.blocked_ns()));
  std::string reasons;
  for (const auto& [ns, name] : {std::pair{context.sleep_ns, "sleep"}, std::pair{context.lock_ns, "futex"},
                                 std::pair{context.io_ns, "I/O"}, std::pair{context.other_ns, "other"}}) {
    if (ns == 0 || ns < context.blocked_ns() / 1000) continue;
    const std::string time = duration(static_cast<double>(ns));
    reasons += fmt::format("{}{}{}", reasons.empty() ? "" : ", ", name, time == all ? "" : " " + time);
  }
  return reasons;
}

// "its threads waited 3.90 s for a core, and were blocked 3.17 s (futex)"; empty: their waits took no time.
std::string describe_waits(const os_context& context) {
  const auto time = [](std::uint64_t ns) { return duration(static_cast<double>(ns)); };
  std::string text;
  if (context.runnable_ns != 0) text = fmt::format("its threads waited {} for a core", time(context.runnable_ns));
  if (context.blocked_ns() == 0) return text;
  text += fmt::format("{} blocked {}", text.empty() ? "its threads were" : ", and were", time(context.blocked_ns()));
  const std::string reasons = list_reasons(context);
  return reasons.empty() ? text : text + " (" + reasons + ")";
}

void write_context(std::string& out, const os_context& context, std::size_t line_columns) {
  // Zeros are omitted, but for page faults: without a number, they are unknown.
  std::string text = describe_waits(context);
  const auto add = [&](std::uint64_t count, const char* what, const char* before = "; ") {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : before, format_count(count), what);
  };
  add(context.voluntary_switches + context.involuntary_switches, "switches");
  add(context.involuntary_switches, "involuntary", ", ");
  add(context.migrations, "migrations");
  if (context.minor_faults && context.major_faults) {
    const std::uint64_t faults = *context.minor_faults + *context.major_faults;
    const bool is_estimate = context.faults_variance.has_value();
    text += fmt::format("{}{}{}{} page faults", text.empty() ? "" : "; ", is_estimate ? "~" : "", format_count(faults),
                        error_text(static_cast<double>(faults), context.faults_variance));
    add(*context.major_faults, "major", ", ");
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
