// The report for people: a call tree, a line per device, a line of account; at most 100 columns.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "text.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::columns, lib::duration, lib::fitted, lib::line_of, lib::percent, lib::printable, lib::quantity, lib::right,
    lib::width, lib::wrapped;

constexpr std::size_t name_columns = 31;

std::string short_name(const profile& of, std::uint32_t device) {
  if (device >= of.devices.size()) return "?";
  const device_usage& known = of.devices[device];
  const std::string kind = known.kind == "accelerator" ? "acc" : known.kind;
  return known.kind == "cpu" && device == 0 ? kind : kind + std::to_string(known.index);
}

std::string row_of(const profile& of, const region& row, const std::string& name, double wall_ns) {
  std::string line = fitted(name, name_columns) + " " + fitted(short_name(of, row.device), 5);
  const bool fits = row.count < (row.sampled ? 1'000'000 : 10'000'000);
  const std::string count = fits ? std::to_string(row.count) : quantity(static_cast<double>(row.count), "");
  line += right(row.sampled ? "~" + count : count, 8);
  if (row.durations.count() == 0) return line;
  const auto total = static_cast<double>(row.total_ns);
  line += right(duration(total), 9) + right(duration(static_cast<double>(row.self_ns)), 9);
  line += right(wall_ns > 0 ? percent(total / wall_ns) : "—", 8);
  line += right(duration(total / static_cast<double>(row.count)), 9);
  line += right(duration(row.quantile_ns(0.5)), 9) + right(duration(row.quantile_ns(0.99)), 9);
  return line;
}

// What payloads and metrics said, on lines of their own.
void write_attributes(std::string& out, const region& row, const std::string& indent) {
  std::string line;
  const auto flush = [&] {
    if (!line.empty()) out += line_of(indent + line);
    line.clear();
  };
  for (const auto& [name, values] : row.attributes) {
    const double seconds = static_cast<double>(row.total_ns) * 1e-9;
    std::string text;
    if (values.sum == 0 && values.min == 0 && values.max == 0) continue;  // a member that does not apply here
    if (!std::isfinite(values.sum)) text = printable(name) + " —";
    else if (name == "bytes" && seconds > 0)
      text = quantity(values.sum, "B") + " at " + quantity(values.sum / seconds, "B/s");
    else if (name == "flops" && seconds > 0)
      text = quantity(values.sum, "FLOP") + " at " + quantity(values.sum / seconds, "FLOP/s");
    else
      text = fmt::format("{} mean {:.4g} [{:.4g}, {:.4g}], sum {:.4g}", printable(name),
                         values.sum / static_cast<double>(values.count), values.min, values.max, values.sum);
    if (!line.empty() && width(indent) + width(line) + width(text) + 2 > columns - 2) flush();
    line += (line.empty() ? "" : "; ") + text;
  }
  flush();
}

struct node {
  std::vector<const region*> rows;  // same path, other sites or devices
  std::map<std::string, node> below;

  std::uint64_t total_ns() const {
    std::uint64_t sum = 0;
    for (const region* row : rows) sum += row->total_ns;
    if (rows.empty())
      for (const auto& [name, child] : below) sum += child.total_ns();
    return sum;
  }
};

struct pending_node {
  const std::string* name;
  const node* at;
  std::size_t depth;
};

// Puts what lies below on the stack, the longest on top.
void push_below(std::vector<pending_node>& stack, const node& of, std::size_t depth) {
  std::vector<std::pair<std::uint64_t, pending_node>> children;
  for (const auto& [name, child] : of.below) children.push_back({child.total_ns(), {&name, &child, depth}});
  std::stable_sort(children.begin(), children.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto child = children.rbegin(); child != children.rend(); ++child) stack.push_back(child->second);
}

void write_node(std::string& out, const profile& of, const pending_node& one, double wall_ns) {
  const std::string indent(2 * std::min<std::size_t>(one.depth, 8), ' ');
  if (one.at->rows.empty()) out += fitted(indent + printable(*one.name), name_columns) + " (open)\n";
  for (const region* row : one.at->rows) {
    out += row_of(of, *row, indent + printable(*one.name), wall_ns) + "\n";
    write_attributes(out, *row, indent + "    ");
  }
}

// With a stack of its own: a path may be 4097 deep, and the thread's stack small.
void write_tree(std::string& out, const profile& of, const node& root, double wall_ns) {
  std::vector<pending_node> stack;
  push_below(stack, root, 0);
  while (!stack.empty()) {
    const pending_node one = stack.back();
    stack.pop_back();
    write_node(out, of, one, wall_ns);
    push_below(stack, *one.at, one.depth + 1);
  }
}

std::string tail_of(const std::optional<latencies>& all) {
  if (!all) return "—";
  return fmt::format("{} (p99 {})", duration(all->durations.quantile(0.5)), duration(all->durations.quantile(0.99)));
}

std::string transfer(const std::optional<amount>& all, const char* direction) {
  if (!all) return "";
  const std::string rate = all->per_second() ? " at " + quantity(*all->per_second(), "B/s") : "";
  return fmt::format("; {} {}{}", quantity(all->sum, "B"), direction, rate);
}

// What the columns have no room for; nothing of a device that has only run offloads.
void write_operations(std::string& out, const device_usage& device) {
  if (device.queue_wait) {
    std::string text =
        fmt::format("{} operations on {} queue{}", device.operations, device.queues, device.queues == 1 ? "" : "s");
    if (const auto at_once = device.concurrency()) text += fmt::format(", {:.3g} at a time", *at_once);
    text += "; started after " + tail_of(device.queue_wait) + ", launched in " + tail_of(device.launch_latency);
    text += transfer(device.to_device, "to it") + transfer(device.from_device, "from it");
    if (device.flops && device.flops->per_second())
      text += "; kernels " + quantity(*device.flops->per_second(), "FLOP/s");
    out += wrapped(text, columns, 4);
  }
  if (device.clock)
    out += wrapped(fmt::format("clock {}: {} sync points, offset {}{}, drift {:.3g} ppm, residual {}",
                               device.clock->name, device.clock->sync_points, device.clock->offset_ns < 0 ? "-" : "",
                               duration(std::abs(static_cast<double>(device.clock->offset_ns))),
                               device.clock->drift_ppm, duration(static_cast<double>(device.clock->residual_ns))),
                   columns, 4);
  if (device.late + device.skipped != 0)
    out += wrapped(fmt::format("{} operations came too late for an exact busy time, {} were not booked", device.late,
                               device.skipped),
                   columns, 4);
}

// busy = kernels + exposed copies + other; idle = launching + starved.
void write_devices(std::string& out, const profile& of) {
  constexpr std::size_t device_columns = 28;
  out += "\n" + fitted("device", device_columns);
  out += right("busy", 9) + right("used", 8) + right("kernels", 9) + right("exposed", 9) + right("idle", 9) +
         right("launching", 11) + right("starved", 9) + right("overlap", 8) + "\n";
  for (std::uint32_t at = 0; at != of.devices.size(); ++at) {
    const device_usage& device = of.devices[at];
    out += fitted(short_name(of, at) + "  " + printable(device.name), device_columns);
    out += right(duration(device.busy_ns), 9);
    out += right(device.utilisation() ? percent(*device.utilisation()) : "—", 8);
    out += right(duration(device.kernel_ns), 9) + right(duration(device.exposed_copy_ns), 9);
    out += right(duration(device.idle_ns()), 9) + right(duration(device.launch_idle_ns), 11);
    out += right(duration(device.starved_ns()), 9);
    const bool told = of.offload.waited_ns && device.overlap();
    out += right(told ? percent(*device.overlap()) : "—", 8) + "\n";
    write_operations(out, device);
  }
}

void write_efficiency(std::string& out, const profile& of) {
  const efficiencies all = efficiencies_of(of);
  std::uint64_t sum = 0;
  std::size_t devices = 0;
  for (const device_usage& device : of.devices)
    if (device.kernel_ns) {
      sum += device.busy_ns.value_or(0);
      ++devices;
    }
  if (all.device_parallel)
    out +=
        wrapped(fmt::format("devices: parallel efficiency {} = load balance {} x communication {} x orchestration {}",
                            percent(*all.device_parallel), percent(*all.device_load_balance),
                            percent(*all.device_communication), percent(*all.device_orchestration)));
  if (devices > 1 && of.offload.busy_ns && sum >= *of.offload.busy_ns)
    out += wrapped(fmt::format("devices: {} of their work went on at once",
                               duration(static_cast<double>(sum - *of.offload.busy_ns))));
  if (all.device_offload)
    out += wrapped(fmt::format("host: offload efficiency {}, it waited {} for devices", percent(*all.device_offload),
                               duration(of.offload.waited_ns)));
}

void write_account(std::string& out, const account& of, double wall_ns) {
  std::uint64_t lost = 0;
  std::string reasons;
  for (const auto& [reason, count] : of.lost) {
    lost += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? " (" : ", ", count, reason);
  }
  if (!reasons.empty()) reasons += ")";
  std::string sentence = fmt::format("{} events begun = {} ended + {} open + {} lost{}; {} unmatched", of.begun,
                                     of.ended, of.open, lost, reasons, of.unmatched);
  if (of.unnamed != 0) sentence += fmt::format("; {} paths unnamed", of.unnamed);
  out += "\n" + wrapped(sentence);
  if (of.overhead_ns)
    out += wrapped(fmt::format(
        "observing them cost about {} of the threads' time{}", duration(*of.overhead_ns),
        wall_ns > 0 ? fmt::format(", {} of the run if on one thread", percent(*of.overhead_ns / wall_ns)) : ""));
}

// What an overhead budget has done.
void write_budget(std::string& out, const profile& of) {
  std::size_t sampled = 0;
  std::uint64_t coarsest = 0;
  double worst = 0;
  for (const region& row : of.regions) {
    if (!row.sampled || row.count == 0) continue;
    ++sampled;
    worst = std::max(worst, row.count_error().value_or(0) / static_cast<double>(row.count));
    for (const auto& [step, time_ns] : row.measured_on)
      if (step.rfind("1 of ", 0) == 0)
        coarsest = std::max<std::uint64_t>(coarsest, std::strtoull(&step[5], nullptr, 10));
  }
  if (sampled == 0) return;
  out += wrapped(
      fmt::format("overhead budget: {} region{} sampled (~){}, counts within {} (standard error); overhead=none "
                  "records every event",
                  sampled, sampled == 1 ? "" : "s",
                  coarsest != 0 ? fmt::format(", down to 1 event of {}", coarsest) : "", percent(worst)));
}

}  // namespace

std::string to_table(const profile& of) {
  std::uint64_t wall = 0;
  std::string subject;
  for (const process_info& process : of.processes) wall += process.duration_ns;
  if (of.processes.size() == 1) {
    const process_info& process = of.processes.front();
    subject = fmt::format("{}, pid {}, {}", process.command.substr(process.command.rfind('/') + 1), process.pid,
                          duration(static_cast<double>(wall)));
  } else if (!of.processes.empty()) {
    subject = fmt::format("{} processes, {} in sum", of.processes.size(), duration(static_cast<double>(wall)));
  }
  std::string out = "\n" + line_of("adaptyst: " + printable(subject));
  out += wrapped(fmt::format("engine {} ({}): {}", of.engine, of.mechanism, printable(of.reason))) + "\n";

  node root;
  for (const region& row : of.regions) {
    node* at = &root;
    for (const std::string& name : row.path) at = &at->below[name];
    at->rows.push_back(&row);
  }
  const auto wall_ns = static_cast<double>(wall);
  out += fitted("region", name_columns) + " " + fitted("on", 5) + right("count", 8) + right("total", 9) +
         right("self", 9) + right("share", 8) + right("mean", 9) + right("p50", 9) + right("p99", 9) + "\n";
  write_tree(out, of, root, wall_ns);
  if (of.regions.empty()) out += "(no marker ran to its end)\n";
  write_devices(out, of);
  write_efficiency(out, of);
  write_account(out, of.accounting, wall_ns);
  write_budget(out, of);
  if (of.timeline)
    out += wrapped(fmt::format(
        "timeline: {} events written, {} lost{}", of.timeline->events, of.timeline->lost,
        of.timeline->lost != 0 ? ": rings were full (trace_events=), or the file could not be written" : ""));
  return out;
}

}}  // namespace adaptyst::v1
