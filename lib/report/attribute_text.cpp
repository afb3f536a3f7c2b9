// Chooses the unit of an attribute by the ending of its name, and arranges its figures in lines.
#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "../model/heap_usage.hpp"
#include "../model/mpi_usage.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

bool ends_in(std::string_view name, std::string_view end) {
  return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

// Nanoseconds in one unit of the attribute; 0: the attribute is not a time.
double find_time_unit(std::string_view name) {
  if (name.find("per_") != std::string_view::npos) return 0;  // a rate
  constexpr std::pair<const char*, double> units[] = {
      {"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}, {"_seconds", 1e9}};
  for (const auto& [end, ns] : units)
    if (ends_in(name, end)) return ns;
  return 0;
}

bool is_in_bytes(std::string_view name) {
  return name == "bytes" || name.substr(0, 6) == "bytes " || ends_in(name, "_bytes") || ends_in(name, " bytes");
}

std::string value_text(std::string_view name, double value) {
  if (!std::isfinite(value)) return "—";
  if (const double unit = find_time_unit(name); unit != 0)
    return (value < 0 ? "-" : "") + duration(std::abs(value) * unit);
  return is_in_bytes(name) ? quantity(value, "B") : fmt::format("{:.4g}", value);
}

}  // namespace

std::string attribute_text(const std::string& name, const attribute& values, const region& region) {
  if (!std::isfinite(values.sum)) return printable(name) + " —";
  const double seconds = static_cast<double>(region.total_ns) * 1e-9;
  const bool is_amount = values.metrics == 0 || find_time_unit(name) != 0;
  for (const auto& [rated, unit] : {std::pair{"bytes", "B"}, std::pair{"flops", "FLOP"}})
    if (name == rated && is_nonblocking_call(region)) return quantity(values.sum, unit);
    else if (name == rated && seconds > 0)
      return quantity(values.sum, unit) + " at " + quantity(values.sum / seconds, unit) + "/s";
  const auto text = [&](double value) { return value_text(name, value); };
  return fmt::format("{} mean {} [{}, {}]{}", printable(name), text(values.sum / static_cast<double>(values.count)),
                     text(values.min), text(values.max), is_amount ? ", sum " + text(values.sum) : "");
}

std::string attribute_lines(const region& region, std::size_t line_columns, std::size_t indent) {
  std::string out, line;
  const auto flush = [&] {
    if (!line.empty()) out += format_line(std::string(indent, ' ') + line, line_columns);
    line.clear();
  };
  for (const auto& [name, values] : region.attributes) {
    if (values.sum == 0 && values.min == 0 && values.max == 0) continue;  // a member that does not apply here
    const std::string text = attribute_text(name, values, region);
    if (!line.empty() && indent + width(line) + width(text) + 2 > line_columns - 2) flush();
    line += (line.empty() ? "" : "; ") + text;
  }
  flush();
  return out;
}

std::string error_text(double value, const std::optional<double>& variance) {
  return variance && value > 0 ? " ± " + percent(2 * std::sqrt(*variance) / value) : "";
}

namespace {

std::string bytes_text(std::uint64_t bytes, const std::optional<double>& variance) {
  const auto number = static_cast<double>(bytes);
  return quantity(number, "B") + error_text(number, variance);
}
std::string calls_text(std::uint64_t calls, const std::optional<double>& variance, const char* what) {
  return fmt::format("{}{} {}{}", format_count(calls), error_text(static_cast<double>(calls), variance), what,
                     calls == 1 ? "" : "s");
}

}  // namespace

std::string heap_text(const region& region) {
  if (!region.heap) return {};
  const heap_usage& heap = *region.heap;
  std::vector<std::string> parts;
  if (heap.allocations != 0)
    parts.push_back(bytes_text(heap.allocated_bytes, heap.bytes_variance) + " in " +
                    calls_text(heap.allocations, heap.allocations_variance, "allocation"));
  if (heap.frees && heap.freed_bytes && *heap.frees != 0)
    parts.push_back(bytes_text(*heap.freed_bytes, heap.freed_variance) + " freed by " +
                    calls_text(*heap.frees, heap.frees_variance, "call"));
  if (!heap.frees) parts.emplace_back("frees unknown");
  if (heap.untracked_bytes) parts.push_back(quantity(static_cast<double>(*heap.untracked_bytes), "B") + " untracked");
  if (heap.nested_calls) parts.push_back(calls_text(*heap.nested_calls, {}, "nested call") + " not counted");
  if (heap.unseen_frees) parts.push_back(calls_text(*heap.unseen_frees, {}, "free") + " not counted");
  return parts.empty() ? "" : fmt::format("heap: {}", fmt::join(parts, ", "));
}

bool is_metric_of(const std::vector<memory_space>& spaces, const region& row) {
  if (row.path.size() != 1 || row.total_ns != 0) return false;
  const std::string& name = row.path[0];
  const auto values = row.attributes.find(name);
  if (values == row.attributes.end() || values->second.metrics == 0) return false;
  for (const std::string_view begin : {"bytes allocated in ", "bytes freed in ", "bytes already in use in ",
                                       "bytes in use in ", "unknown changes in "})
    for (const memory_space& space : spaces)
      if (name.compare(0, begin.size(), begin) == 0 && name.compare(begin.size(), name.npos, space.name) == 0)
        return true;
  return false;
}

std::string memory_text(const profile& profile, std::size_t line_columns) {
  std::vector<std::string> parts;
  std::uint64_t peak = 0;
  for (const process_info& process : profile.processes) peak = std::max(peak, process.peak_rss_bytes.value_or(0));
  const auto bytes = [](std::uint64_t number) { return quantity(static_cast<double>(number), "B"); };
  if (peak != 0)
    parts.push_back(
        fmt::format("peak resident {}{}", bytes(peak), profile.processes.size() > 1 ? " of a process" : ""));
  if (const std::optional<heap_totals> heap = add_up_heap(profile)) {
    const auto at = std::find_if(profile.regions.begin(), profile.regions.end(), [&](const region& row) {
      return row.id == heap->high_water_region && row.heap && row.heap->high_water_bytes;
    });
    if (at != profile.regions.end())
      parts.push_back(fmt::format("heap high-water mark {} in {}",
                                  bytes_text(*heap->sums.high_water_bytes, heap->sums.high_water_variance),
                                  printable(fmt::format("{}", fmt::join(at->path, "/")))));
    if (heap->live_bytes)
      parts.push_back(
          fmt::format("{}{} live at the end", bytes(*heap->live_bytes),
                      heap->sums.live_variance ? " ± " + quantity(2 * std::sqrt(*heap->sums.live_variance), "B") : ""));
    else parts.emplace_back("high-water mark and live memory unknown: frees of untracked blocks are not counted");
  }
  constexpr std::size_t max_spaces = 4;
  const std::vector<memory_space> spaces = list_memory_spaces(profile);
  const std::uint64_t processes = count_processes(profile);
  for (std::size_t at = 0; at != std::min(spaces.size(), max_spaces); ++at) {
    const memory_space& space = spaces[at];
    const auto row = std::find_if(profile.regions.begin(), profile.regions.end(),
                                  [&](const region& any) { return any.id == space.high_water_region; });
    const bool is_inside = row != profile.regions.end() && !is_metric_of(spaces, *row);
    parts.push_back(fmt::format("{}: high-water mark {}{}{}{}, {} live at the end{}", printable(space.name),
                                space.has_unknown_changes ? "about " : "", bytes(space.high_water_bytes),
                                processes > 1 ? " of a process" : "",
                                is_inside ? " in " + printable(fmt::format("{}", fmt::join(row->path, "/"))) : "",
                                space.live_bytes ? bytes(*space.live_bytes) : "unknown bytes",
                                processes > 1 ? fmt::format(" in {} processes", format_count(processes)) : ""));
  }
  if (spaces.size() > max_spaces) parts.push_back(fmt::format("{} more in the JSON", spaces.size() - max_spaces));
  return parts.empty() ? "" : wrapped(fmt::format("memory: {}", fmt::join(parts, "; ")), line_columns);
}

std::string thread_wait_text(const profile& profile, std::size_t line_columns) {
  constexpr std::size_t max_threads = 4;
  constexpr std::uint64_t min_wait_ns = 10'000'000, min_part = 20;  // 5 %
  std::vector<std::pair<const thread_info*, const process_info*>> waiting;
  std::uint64_t unread = 0;
  for (const process_info& process : profile.processes) {
    for (const thread_info& thread : process.thread_list)
      if (thread.alive_ns != 0 && thread.runnable_ns >= std::max(min_wait_ns, thread.alive_ns / min_part))
        waiting.emplace_back(&thread, &process);
    const std::size_t read = process.thread_list.size();
    if (read < process_info::max_threads && process.threads && *process.threads > read)
      unread += *process.threads - read;
  }
  if (waiting.empty()) return {};
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const auto& a, const auto& b) { return a.first->runnable_ns > b.first->runnable_ns; });
  std::vector<std::string> parts;
  for (std::size_t at = 0; at != std::min(waiting.size(), max_threads); ++at) {
    const thread_info& thread = *waiting[at].first;
    const process_info& process = *waiting[at].second;
    const std::string where = profile.processes.size() == 1 ? ""
                              : process.rank                ? ", " + rank_label(*process.rank, process.host)
                                                            : fmt::format(", process {}", process.pid);
    const auto wait_ns = static_cast<double>(thread.runnable_ns), alive_ns = static_cast<double>(thread.alive_ns);
    parts.push_back(fmt::format("{} ({}{}) {} of {} ({})", printable(thread.name), thread.tid, printable(where),
                                duration(wait_ns), duration(alive_ns), percent(wait_ns / alive_ns)));
  }
  if (waiting.size() > max_threads) parts.push_back(fmt::format("{} more threads", waiting.size() - max_threads));
  if (unread != 0)
    parts.push_back(
        fmt::format("times of at least {} thread{} are unknown", format_count(unread), unread == 1 ? "" : "s"));
  return wrapped(fmt::format("threads waiting for a core: {}", fmt::join(parts, "; ")), line_columns);
}

std::string roofline_text(const roofline& region) {
  const std::string whose =
      region.threads == 1 ? std::string("one thread") : fmt::format("one of {} threads at once", region.threads);
  return fmt::format("{:.3g} FLOP/B, {} of {} that {} can attain, bound by {}", region.flops_per_byte,
                     percent(region.share), quantity(region.attainable_gflops * 1e9, "FLOP") + "/s", whose,
                     to_string(region.bound));
}

std::string roofline_legend(const machine_ceilings& ceilings) {
  return fmt::format(
      "can attain: the least of the peak and of FLOP/B times bandwidth, as measured on {} ({}) at {}, in {} "
      "precision; of a thread its own, {:.3g} GFLOP/s and {:.3g} GB/s, or its part of that of {} CPUs, {:.3g} GFLOP/s "
      "and {:.3g} GB/s, where that is less",
      printable(ceilings.host), printable(ceilings.cpu), printable(ceilings.measured), to_string(ceilings.precision),
      ceilings.one_gflops, ceilings.one_gbytes_per_s, ceilings.cpus, ceilings.all_gflops, ceilings.all_gbytes_per_s);
}

}  // namespace adaptyst::lib
