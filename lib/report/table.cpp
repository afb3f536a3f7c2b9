// The report for people: a call tree, a line per device, a line of account; at most 100 columns.
#include <fmt/format.h>

#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>

#include "../support/text.hpp"
#include "finding_list.hpp"
#include "loss_advice.hpp"
#include "words.hpp"

namespace adaptyst { inline namespace v1 {

namespace {

using lib::columns, lib::duration, lib::fitted, lib::line_of, lib::list_of, lib::percent, lib::printable, lib::quantity,
    lib::right, lib::width, lib::wrapped;

// Where the kernel was asked, what it knows takes the place of mean and median, and of some of the names.
std::size_t name_columns(const profile& of) { return of.context ? 26 : 31; }

std::string short_name(const profile& of, std::uint32_t device) {
  if (device >= of.devices.size()) return "?";
  const device_usage& known = of.devices[device];
  // The host's is the first; others may be CPUs as well.
  if (known.kind == device_kind::cpu) return device == 0 ? "cpu" : "cpu" + std::to_string(known.index);
  return lib::device_label(known.kind, known.index);
}

// The parts of a region's time that its threads were on a core, waited for one, or were blocked. Not of one that is open:
// its time is not known yet.
std::string parts_of(const std::optional<kernel_context>& context) {
  constexpr std::size_t part_columns = 5;
  const auto part = [&](std::uint64_t ns) {
    return right(fmt::format("{:.0f}%", 100 * static_cast<double>(ns) / static_cast<double>(context->wall_ns)),
                 part_columns);
  };
  const std::optional<std::uint64_t> on_ns = context ? context->on_cpu_ns() : std::nullopt;
  if (!on_ns || context->wall_ns == 0)
    return right("—", part_columns) + right("—", part_columns) + right("—", part_columns);
  return part(*on_ns) + part(context->runnable_ns) + part(context->blocked_ns());
}

std::string row_of(const profile& of, const region& row, const std::string& name, double wall_ns) {
  std::string line = fitted(name, name_columns(of)) + " " + fitted(short_name(of, row.device), 5);
  const bool fits = row.count < (row.sampled ? 1'000'000 : 10'000'000);
  const std::string count = fits ? std::to_string(row.count) : quantity(static_cast<double>(row.count), "");
  line += right(row.sampled ? "~" + count : count, 8);
  if (row.durations.count() == 0) return line;
  const auto total = static_cast<double>(row.total_ns);
  line += right(duration(total), 9) + right(duration(static_cast<double>(row.self_ns)), 9);
  line += right(wall_ns > 0 ? percent(total / wall_ns) : "—", 8);
  if (of.context) return line + right(duration(row.quantile_ns(0.99)), 9) + parts_of(row.context);
  line += right(duration(total / static_cast<double>(row.count)), 9);
  line += right(duration(row.quantile_ns(0.5)), 9) + right(duration(row.quantile_ns(0.99)), 9);
  return line;
}

// How far the truth may be from a sampled total, where that matters: in 19 of 20 cases it is nearer.
void write_error(std::string& out, const region& row, const std::string& indent) {
  constexpr double worth_a_line = 0.02;
  const double error = 2 * row.total_error_ns().value_or(0);
  if (row.sampled && error > worth_a_line * static_cast<double>(row.total_ns))
    out += line_of(indent + fmt::format("total ± {} (95 %)", duration(error)));
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

// Of the processor, as far as it told.
std::string counters_of(const kernel_context& of) {
  std::string text;
  const auto add = [&](const std::optional<std::uint64_t>& count, const char* what) {
    if (count) text += (text.empty() ? "" : ", ") + quantity(static_cast<double>(*count), "") + what;
  };
  add(of.cycles, " cycles");
  add(of.instructions, " instructions");
  if (of.cycles && of.instructions && *of.cycles != 0)
    text += fmt::format(" ({:.2f} a cycle)", static_cast<double>(*of.instructions) / static_cast<double>(*of.cycles));
  add(of.cache_misses, " cache misses");
  return text;
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
  if (one.at->rows.empty()) out += fitted(indent + printable(*one.name), name_columns(of)) + " (open)\n";
  for (const region* row : one.at->rows) {
    if (row->count == 0) {
      out += fitted(indent + printable(*one.name), name_columns(of)) + " (open)\n";
      continue;
    }
    out += row_of(of, *row, indent + printable(*one.name), wall_ns) + "\n";
    write_error(out, *row, indent + "    ");
    write_attributes(out, *row, indent + "    ");
    if (row->context && row->context->cycles.value_or(0) != 0)
      out += wrapped(counters_of(*row->context), columns, indent.size() + 4);
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
    out += wrapped(
        fmt::format("clock {}: {} sync points, offset {}{}, drift {:.3g} ppm, residual {}",
                    word_of(device.clock->clock), device.clock->sync_points, device.clock->offset_ns < 0 ? "-" : "",
                    duration(std::abs(static_cast<double>(device.clock->offset_ns))), device.clock->drift_ppm,
                    duration(static_cast<double>(device.clock->residual_ns))),
        columns, 4);
  if (device.late + device.skipped != 0)
    out += wrapped(fmt::format("{} operations came too late for an exact busy time, {} were not booked", device.late,
                               device.skipped),
                   columns, 4);
}

void write_context(std::string& out, const kernel_context& of) {
  const auto time = [](std::uint64_t ns) { return duration(static_cast<double>(ns)); };
  std::string text =
      fmt::format("its threads waited {} for a core, and were blocked {}", time(of.runnable_ns), time(of.blocked_ns()));
  std::string reasons;
  for (const auto& [ns, name] : {std::pair{of.sleep_ns, "sleep"}, std::pair{of.lock_ns, "futex"},
                                 std::pair{of.io_ns, "I/O"}, std::pair{of.other_ns, "other"}})
    if (ns != 0) reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", name, time(ns));
  if (!reasons.empty()) text += " (" + reasons + ")";
  text += fmt::format("; {} switches, {} of them involuntary; {} migrations",
                      of.voluntary_switches + of.involuntary_switches, of.involuntary_switches, of.migrations);
  if (of.minor_faults && of.major_faults)
    text += fmt::format("; {} page faults, {} major", *of.minor_faults + *of.major_faults, *of.major_faults);
  if (of.cycles || of.instructions || of.cache_misses) text += "; " + counters_of(of);
  out += wrapped(text, columns, 4);
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
    if (device.context) write_context(out, *device.context);
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

void write_lost_context(std::string& out, const context_account& of) {
  out += wrapped(fmt::format("of what the kernel knows of {} threads is missing: {}", of.threads, list_of(of.lost)));
}

void write_samples(std::string& out, const sample_usage& of) {
  const std::string reasons = of.lost.empty() ? "" : "; lost: " + list_of(of.lost);
  out +=
      wrapped(fmt::format("samples: {} on a core, one for each {}{}", of.samples, duration(of.period_ns()), reasons));
}

// An estimate, as of events that a budget has left out, is marked as in the rows.
void write_account(std::string& out, const profile& whole, double wall_ns) {
  const account& of = whole.accounting;
  std::uint64_t lost = 0;
  for (const auto& [reason, count] : of.lost) lost += count;
  const std::string reasons = of.lost.empty() ? "" : " (" + list_of(of.lost) + ")";
  const bool is_sampled = std::any_of(whole.regions.begin(), whole.regions.end(),
                                      [](const region& row) { return row.sampled && row.count_variance > 0; });
  const auto marked = [](std::uint64_t count, bool is_estimate) {
    return (is_estimate ? "~" : "") + std::to_string(count);
  };
  std::string sentence = fmt::format("{} events begun = {} ended + {} open + {} lost{}; {} unmatched",
                                     marked(of.begun, is_sampled || of.unread), marked(of.ended, is_sampled), of.open,
                                     marked(lost, of.unread.has_value()), reasons, of.unmatched);
  if (of.unnamed != 0) sentence += fmt::format("; {} paths unnamed", of.unnamed);
  out += "\n" + wrapped(sentence);
  for (const std::string& one : lib::advice_on_losses(whole)) out += wrapped(printable(one), columns, 2);
  if (of.unread)
    out += wrapped(
        fmt::format("{} ended without telling: what {} recorded in the last {} at most was not read, and is "
                    "estimated",
                    of.unread->programs == 1 ? "a program" : fmt::format("{} programs", of.unread->programs),
                    of.unread->programs == 1 ? "it" : "they", duration(static_cast<double>(of.unread->up_to_ns))));
  if (of.refused)
    out += wrapped(printable(
        fmt::format("{} could not be looked into, and what {} did is missing, whatever that is: {}",
                    of.refused->programs == 1 ? "a program" : fmt::format("{} programs", of.refused->programs),
                    of.refused->programs == 1 ? "it" : "they", of.refused->why)));
  if (of.overhead_ns)
    out += wrapped(fmt::format(
        "observing them cost about {} of the threads' time{}", duration(*of.overhead_ns),
        wall_ns > 0 ? fmt::format(", {} of the run if on one thread", percent(*of.overhead_ns / wall_ns)) : ""));
}

// What is no work in times that are hardly longer.
void write_floor(std::string& out, const profile& of) {
  constexpr double times = 10;
  const bool matters =
      of.timer_floor_ns && std::any_of(of.regions.begin(), of.regions.end(), [&](const region& row) {
        return row.durations.count() != 0 && row.kind != region_kind::function &&
               static_cast<double>(row.total_ns) < times * *of.timer_floor_ns * static_cast<double>(row.count);
      });
  if (matters)
    out += wrapped(fmt::format("an empty region takes {} here: so much of each event's time is the measuring itself",
                               duration(*of.timer_floor_ns)));
}

// What an overhead budget has done.
void write_budget(std::string& out, const profile& of) {
  std::size_t sampled = 0;
  std::uint64_t coarsest = 1;
  double worst = 0;
  for (const region& row : of.regions) {
    if (!row.sampled || row.count == 0) continue;
    ++sampled;
    worst = std::max(worst, row.count_error().value_or(0) / static_cast<double>(row.count));
    if (!row.measured_on.empty()) coarsest = std::max(coarsest, row.measured_on.rbegin()->first.one_of);
  }
  if (sampled == 0) return;
  out += wrapped(
      fmt::format("overhead budget: {} region{} sampled (~){}, counts within {} (standard error); overhead=none "
                  "records every event",
                  sampled, sampled == 1 ? "" : "s",
                  coarsest != 1 ? fmt::format(", down to 1 event of {}", coarsest) : "", percent(worst)));
}

void write_metadata(std::string& out, const profile& of) {
  std::string all;
  for (const auto& [name, value] : of.metadata) all += (all.empty() ? "" : ", ") + name + " " + value;
  if (!all.empty()) out += wrapped(printable("of " + all));
  if (of.metadata_lost)
    out += wrapped(fmt::format("metadata: {} calls found no room; a process has room for 64", *of.metadata_lost));
}

void write_last_regions(std::string& out, const profile& of) {
  constexpr std::size_t most = 8;
  std::size_t left = 0;
  for (const process_info& process : of.processes)
    for (const last_region& one : process.ended_in) {
      if (left++ >= most) continue;
      std::string path;
      for (const std::string& name : one.path) path += (path.empty() ? "" : " > ") + name;
      out += wrapped(printable(fmt::format("pid {} ended in {}, {} into it{}", process.pid, path,
                                           duration(static_cast<double>(one.age_ns)),
                                           one.threads == 1 ? "" : fmt::format(" ({} threads)", one.threads))));
    }
  if (left > most) out += fmt::format("({} more such regions)\n", left - most);
}

// What there is of a program in which no marker ran, and what can be done.
void write_without_markers(std::string& out, const profile& of) {
  constexpr std::size_t most = 10;
  out += "no markers: none ran in it\n";
  std::uint64_t all = 0;
  std::vector<std::pair<std::uint64_t, std::string>> functions;
  for (const auto& [name, count] : of.functions) {
    all += count;
    if (name != "(others)") functions.emplace_back(count, name);
  }
  std::sort(functions.rbegin(), functions.rend());
  if (functions.size() > most) functions.resize(most);
  if (!functions.empty()) out += "\n" + right("samples", 9) + right("share", 8) + "  function\n";
  for (const auto& [count, name] : functions)
    out +=
        line_of(right(std::to_string(count), 9) +
                right(percent(static_cast<double>(count) / static_cast<double>(std::max<std::uint64_t>(all, 1))), 8) +
                "  " + printable(name));
  out += "\nwhat to try next:\n";
  const auto advise = [&](const char* text) { out += wrapped(std::string("- ") + text, columns, 2); };
  advise("mark what is to be timed: ADAPTYST_REGION(\"name\"), of <adaptyst/region.hpp>, in its source");
  if (of.engine != "ebpf") {
    advise("where eBPF is permitted, the functions that it spends its time in stand here (adaptyst doctor)");
    return;
  }
  advise("without a change to it: adaptyst run --functions mpi,blas,io, --function FILE:PATTERN, or --with openmp");
  if (!of.samples) advise("a flame graph of all its functions: adaptyst run --stacks run.folded");
}

// Beside the regions, of whose self times their calls are a part.
void write_not_probed(std::string& out, const profile& of) {
  constexpr std::size_t most = 20;
  if (of.not_probed.empty()) return;
  std::string names;
  std::size_t left = of.not_probed.size();
  for (auto one = of.not_probed.begin(); one != of.not_probed.end() && of.not_probed.size() - left != most;
       ++one, --left)
    names += (names.empty() ? "" : ", ") + one->first;
  if (left != 0) names += fmt::format(" and {} others", left);
  out += wrapped(printable(
      fmt::format("not probed, though the program imports them: {}; their time is that of what calls them", names)));
}

// Of what was asked for beside regions: what was lost, and what was written.
void write_beside(std::string& out, const profile& of) {
  if (of.context && !of.context->lost.empty()) write_lost_context(out, *of.context);
  if (of.samples) write_samples(out, *of.samples);
  if (of.timeline)
    out += wrapped(fmt::format(
        "timeline: {} events written, {} lost{}{}", of.timeline->events, of.timeline->lost,
        of.timeline->lost != 0 ? ": rings were full (trace_events=), or the file could not be written" : "",
        of.timeline->unchanged != 0 ? fmt::format("; {} values that never changed left out", of.timeline->unchanged)
                                    : ""));
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
  out += wrapped(printable(fmt::format("engine {} ({}): {}", of.engine, of.mechanism, of.reason)));
  write_metadata(out, of);
  out += "\n" + lib::finding_list(of);
  if (!of.has_markers() && of.options.count("functions") == 0 && of.devices.size() <= 1) {
    write_without_markers(out, of);
    write_beside(out, of);
    return out;
  }

  node root;
  for (const region& row : of.regions) {
    node* at = &root;
    for (const std::string& name : row.path) at = &at->below[name];
    at->rows.push_back(&row);
  }
  const auto wall_ns = static_cast<double>(wall);
  out += fitted("region", name_columns(of)) + " " + fitted("on", 5) + right("count", 8) + right("total", 9) +
         right("self", 9) + right("share", 8);
  out += of.context ? right("p99", 9) + right("on", 5) + right("run", 5) + right("blk", 5) + "\n"
                    : right("mean", 9) + right("p50", 9) + right("p99", 9) + "\n";
  write_tree(out, of, root, wall_ns);
  if (of.regions.empty()) out += "(no marker ran to its end)\n";
  write_not_probed(out, of);
  write_devices(out, of);
  write_efficiency(out, of);
  write_account(out, of, wall_ns);
  write_floor(out, of);
  write_last_regions(out, of);
  write_budget(out, of);
  write_beside(out, of);
  return out;
}

}}  // namespace adaptyst::v1
