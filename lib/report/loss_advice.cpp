// A sentence for each reason of missing data, with the call path that it concerns where one can be named.
#include "parts.hpp"

#include <fmt/format.h>

#include <adaptyst/detail/recorder_state.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

using path = std::vector<std::string>;

std::string spelled(const path& names) {
  constexpr std::size_t max_columns = 60;
  return names.empty() ? "the root" : path_label(names, max_columns);
}

// If there is no room for more call paths, most call paths are below one region, and have names made at run time.
std::string widest_in(const profile& profile) {
  std::map<path, std::size_t> children;
  for (const region& row : profile.regions)
    if (!row.path.empty()) ++children[path(row.path.begin(), row.path.end() - 1)];
  const auto widest = std::max_element(children.begin(), children.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (widest == children.end()) return {};
  return fmt::format("; of {} call paths, {} are directly below {}", format_count(profile.regions.size()),
                     format_count(widest->second), spelled(widest->first));
}

std::string deepest_in(const profile& profile) {
  const auto deepest = std::max_element(profile.regions.begin(), profile.regions.end(),
                                        [](const region& a, const region& b) { return a.path.size() < b.path.size(); });
  return deepest == profile.regions.end() ? "" : "; the deepest is " + spelled(deepest->path);
}

// The greatest number of threads of a process.
std::string most_threads_in(const profile& profile) {
  std::uint32_t most = 0;
  for (const process_info& process : profile.processes) most = std::max(most, process.threads.value_or(0));
  return most > 1 ? fmt::format(", with {} threads in a process that ran markers", format_count(most)) : "";
}

const char* const fewer_names =
    ". Names that are made at run time should be few: what differs from event to event belongs in a payload";

// The explanation of a reason; empty: its name is enough.
std::string sentence_on(loss_reason reason, const profile& profile) {
  switch (reason) {
    case loss_reason::too_deep:
      return "a thread had no room for more open regions" + deepest_in(profile) +
             ". End what was begun, and do not mark what calls itself";
    case loss_reason::rows_full: return "a thread had no room for more call paths" + widest_in(profile) + fewer_names;
    case loss_reason::kernel_rows_full:
      return "the kernel had no room for more call paths of a process" + widest_in(profile) + fewer_names +
             "; engine=inline has more room";
    case loss_reason::tables_full:
      return "a process had no room for more markers, call paths or devices" + widest_in(profile) + fewer_names;
    case loss_reason::no_memory:
      return fmt::format(
          "memory for recorders of threads could not be had{}. A process has room for them in a sixteenth of the "
          "machine's memory, at most 32 GiB, and each thread takes {} or more. Run markers on fewer threads at a time, "
          "or raise a lower limit on address space (ulimit -v) or of the container",
          most_threads_in(profile), quantity(static_cast<double>(detail::recorder_bytes), "B"));
    case loss_reason::in_signal:
      return "a signal handler with markers has interrupted one. Take the markers out of handlers";
    case loss_reason::bad_times:
      return "operations ended before they had started. The device's clock is not the declared clock "
             "(docs/devices.md)";
    case loss_reason::no_times:
      return "a device did not report when operations ran. Turn its profiling on (docs/devices.md)";
    case loss_reason::unknown_clock:
      return "a device reported times in a clock that cannot be converted (docs/adding-a-device.md)";
    case loss_reason::device_lost:
      return "a device failed, or its work was let go before it had ended. Look for its errors in the program";
    case loss_reason::unmatched:
      return "they were begun, and not ended. Look for handles without end(), and for scopes that longjmp() leaves";
    case loss_reason::kernel_busy:
      return "the kernel could not change its map at that moment. engine=inline does without";
    case loss_reason::not_delivered:
      return "they have ended, and the kernel has not seen it, as of threads that are killed meanwhile. engine=inline "
             "sees all";
    case loss_reason::function_too_deep:
      return "more functions were open on a thread than can be followed. Name fewer, and none that calls itself";
    case loss_reason::kernel_no_memory:
      return "the kernel had no memory for another call path at that moment. engine=inline does without";
    case loss_reason::not_read:
      return "the program ended before its recorders were read, they could not be read, or a timeline or a choice of levels "
             "began after the first marker; the count is an estimate";
    default: return {};
  }
}

// The same for context and samples, in which a reason of the same name has another cause. Empty: explained elsewhere.
const char* sentence_on_context(loss_reason reason) {
  switch (reason) {
    case loss_reason::rows_full: return "the kernel had no room for more combinations of region and stack";
    case loss_reason::no_memory: return "the kernel had no memory to record when a thread left its core";
    case loss_reason::unreadable: return "the kernel could not read the recorder of a thread, as while a program ends";
    case loss_reason::other_layout: return "a program was built with headers of another version of adaptyst";
    case loss_reason::no_wakeup:
      return "the kernel did not report when a thread could run again. The whole pause counts as blocked, although "
             "the thread may have waited for a core during part of the pause. If the kernel did not report the thread's "
             "return either, the pause counts as time on a core";
    case loss_reason::counter_interrupts:
      return "interrupts of the processor's counters were lost, and cycles and instructions are too small";
    case loss_reason::stacks_full:
      return "there was no room for more stacks. The samples count, without their functions";
    case loss_reason::truncated: return "stacks were too deep, and their outermost functions are missing";
    case loss_reason::not_unwound:
      return "the callers in stacks were not found, and outer functions are missing: code without unwinding tables, or "
             "programs that ended before their stacks were read";
    case loss_reason::clock_stopped: return "the sampling clock of a processor stopped, and samples are missing";
    case loss_reason::processors: return "the program may not run on all processors, and the others were not sampled";
    case loss_reason::sample_ring_full:
      return "the observer read the samples too late, and some are missing. Give it a core, or lower "
             "--sample-frequency";
    case loss_reason::throttled:
      return "the kernel paused the sampling clock, because samples took too long. Lower --sample-frequency";
    case loss_reason::region_unknown:
      return "the regions of samples are unknown, because events of their threads are missing. Use --overhead none, or give "
             "the observer a core";
    case loss_reason::too_many_threads:
      return "there were no descriptors or timers for all threads, and the others were not sampled. Raise ulimit -n, or "
             "ulimit -i with --samples timer";
    case loss_reason::signal_in_use:
      return "programs handle or block SIGURG, by which --samples timer samples, and samples are missing. Use --samples auto "
             "if the kernel permits it";
    case loss_reason::not_attached:
      return "the kernel refused to attach the program for page faults again, so that their figures have larger errors or are "
             "missing. Use --overhead none, or keep CAP_BPF and CAP_PERFMON";
    case loss_reason::other: return "a later version of adaptyst wrote this profile, and knows more reasons";
    default: return "";
  }
}

}  // namespace

std::vector<std::string> advice_on_losses(const profile& profile) {
  std::vector<std::string> all;
  all.reserve(profile.accounting.lost.size());
  for (const auto& [reason, count] : profile.accounting.lost)
    if (const std::string advice = sentence_on(reason, profile); count != 0 && !advice.empty())
      all.push_back(fmt::format("{}: {}", to_string(reason), advice));
  return all;
}

std::vector<std::string> explain_context_losses(const losses& lost) {
  std::vector<std::string> all;
  for (const auto& [reason, count] : lost)
    if (const std::string sentence = sentence_on_context(reason); count != 0 && !sentence.empty())
      all.push_back(fmt::format("{}: {}", to_string(reason), sentence));
  return all;
}

}  // namespace adaptyst::lib
