// Turns findings into sentences: one sentence for each kind, one piece of advice for each next step.
#include "parts.hpp"

#include <fmt/format.h>

#include <adaptyst/profile/findings.hpp>
#include <algorithm>
#include <utility>

#include "../model/words.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

// A reader considers no more findings before the next run.
constexpr std::size_t max_findings = 5;

constexpr std::size_t max_columns = 60;  // maximum of a path

std::string format_region(const finding& finding) { return path_label(finding.path, max_columns); }

std::string format_device(const finding& finding, const profile& in) { return device_label(in, finding.device); }

// The main region of a finding on the whole run or on a device. The region comes after the figures, because they are
// not figures of this region.
std::string above_all(const finding& finding) {
  const bool is_on_region = finding.kind != finding_kind::core_wait && finding.kind != finding_kind::exposed_copies &&
                            finding.kind != finding_kind::launch_bound &&
                            !(finding.kind == finding_kind::fine_markers && finding.unit != finding_unit::ns);
  return is_on_region || finding.path.empty() ? "" : ", above all in " + format_region(finding);
}

std::string late_sentence(const finding& finding, const std::string& part) {
  const std::string whom =
      finding.rank ? rank_label(*finding.rank, printable(finding.host)) : "the last rank, which changes";
  const std::string where = finding.late_in.empty() ? ""
                                                    : fmt::format(", which exceeds the mean most in {}",
                                                                  path_label(finding.late_in, max_columns));
  return fmt::format("{}: ranks spent {} of the time waiting for {}{}", format_region(finding), part, whom, where);
}

std::string sentence_on(const finding& finding, const profile& in) {
  const std::string part = percent(finding.value);
  switch (finding.kind) {
    case finding_kind::lock_wait:
      return fmt::format("{}: threads spent {} of the time blocked on locks, barriers or other threads",
                         format_region(finding), part);
    case finding_kind::core_wait:
      return fmt::format("threads had no core for {} of the time in which they could run", part);
    case finding_kind::io_wait:
      return fmt::format("{}: threads spent {} of the time blocked on files, sockets or their events",
                         format_region(finding), part);
    case finding_kind::page_faults:
      return finding.unit == finding_unit::fraction
                 ? fmt::format("{}: threads spent {} of the time blocked until pages were read from a disk",
                               format_region(finding), part)
                 : fmt::format("{}: {} page faults per second on a core", format_region(finding),
                               format_rounded(finding.value));
    case finding_kind::thread_imbalance:
      if (finding.unit == finding_unit::fraction)
        return fmt::format("{}: threads spent {} of the time waiting for the slowest thread", format_region(finding),
                           part);
      return fmt::format("{}: the slowest thread took {}; the mean of all threads is {}", format_region(finding),
                         duration(finding.value), duration(finding.against));
    case finding_kind::long_tail:
      return fmt::format("{}: some events took {} on average; the median is {}", format_region(finding),
                         duration(finding.value), duration(finding.against));
    case finding_kind::fine_markers:
      if (finding.unit == finding_unit::ns && finding.value <= finding.against)
        return fmt::format("{}: takes no longer than an empty region ({})", format_region(finding),
                           duration(finding.against));
      if (finding.unit == finding_unit::ns)
        return fmt::format("{}: takes {} on average; an empty region takes {}", format_region(finding),
                           duration(finding.value), duration(finding.against));
      if (in.budget)
        return fmt::format("observation cost {} of the CPU time; the limit is {}", part, percent(finding.against));
      return fmt::format(
          "observation cost {} of the run, and no limit is set; above {}, the times include much overhead", part,
          percent(finding.against));
    case finding_kind::starved_device:
      return fmt::format("{}: idle {} of the time, with nothing submitted", format_device(finding, in), part);
    case finding_kind::exposed_copies:
      return fmt::format("{}: copied for {} of its busy time while no kernel ran", format_device(finding, in), part);
    case finding_kind::launch_bound:
      return fmt::format("{}: kernels took {} on average; the median launch latency is {}", format_device(finding, in),
                         duration(finding.value), duration(finding.against));
    case finding_kind::rank_imbalance:
      return fmt::format("{}: {} took {}; the mean of all ranks is {}", format_region(finding),
                         rank_label(finding.rank.value_or(0), printable(finding.host)), duration(finding.value),
                         duration(finding.against));
    case finding_kind::slow_rank:
      return fmt::format("{}: {} took {}; the median of all ranks is {}", format_region(finding),
                         rank_label(finding.rank.value_or(0), printable(finding.host)), duration(finding.value),
                         duration(finding.against));
    case finding_kind::slow_node:
      return fmt::format("{}: ranks on {} took {} on average; the median of all ranks is {}", format_region(finding),
                         printable(finding.host), duration(finding.value), duration(finding.against));
    case finding_kind::late_rank: return late_sentence(finding, part);
    case finding_kind::heap_churn:
      return fmt::format("{}: {} allocations per second, at least 90 % of them freed here", format_region(finding),
                         format_rounded(finding.value));
    case finding_kind::heap_growth:
      return fmt::format("{}: each call left {} of live memory on average, spread over the run", format_region(finding),
                         quantity(finding.value, "B"));
  }
  return {};
}

// The name of the counted objects.
const char* counted(const finding& finding) {
  switch (finding.kind) {
    case finding_kind::lock_wait:
    case finding_kind::io_wait: return "waits";
    case finding_kind::core_wait: return "involuntary switches";
    case finding_kind::page_faults: return "faults";
    case finding_kind::thread_imbalance: return finding.unit == finding_unit::ns ? "threads" : "events";
    case finding_kind::starved_device: return "operations";
    case finding_kind::exposed_copies: return "copies";
    case finding_kind::launch_bound: return "kernels";
    case finding_kind::rank_imbalance:
    case finding_kind::slow_rank:
    case finding_kind::slow_node: return finding.count == 1 ? "rank" : "ranks";
    case finding_kind::late_rank: return "calls";
    case finding_kind::heap_churn: return "allocations";
    case finding_kind::heap_growth: return "blocks";
    default: return "events";
  }
}

const char* advice_on(next_step step) {
  switch (step) {
    case next_step::hold_locks_shorter:
      return "hold locks for less time, or give each thread separate data; at a barrier, give threads equal work";
    case next_step::use_fewer_threads: return "run at most one thread per core (OpenMP: OMP_NUM_THREADS)";
    case next_step::free_the_cores:
      return "find what else uses these cores, for example with top: other programs, other ranks, a device's threads; "
             "or raise the CPU limit of the job";
    case next_step::do_larger_io: return "read and write larger blocks, or overlap reads and writes with computing";
    case next_step::reuse_memory: return "allocate the memory once and reuse it, or use larger pages";
    case next_step::need_less_memory: return "use less memory than is free on the machine, or read files ahead";
    case next_step::even_out_work:
      return "give threads equal or smaller parts of the work, or assign parts dynamically (OpenMP: schedule(dynamic))";
    case next_step::inspect_slow_events:
      return "find the slow events: record a timeline (-o run.trace.json), or add a payload that distinguishes events";
    case next_step::mark_larger_regions:
      return "mark the loop around the region instead, or allow more overhead (overhead=)";
    case next_step::reduce_kernel_data:
      return "request less from the kernel: context=none or cpu, sample_frequency=99; "
             "or allow more overhead (overhead=)";
    case next_step::submit_earlier: return "submit work before the device is idle, and wait for it later";
    case next_step::overlap_copies: return "copy in a separate queue while kernels run, or keep data on the device";
    case next_step::launch_fewer_kernels: return "join kernels into larger ones, or submit many kernels at once";
    case next_step::even_out_ranks:
      return "give ranks equal work: change the decomposition, or balance the load during the run";
    case next_step::inspect_node:
      return "compare with other ranks: part of the input, other programs, clock rate and memory of the node";
    case next_step::free_memory:
      return "free what a call no longer needs, or bound what it keeps, such as a cache; memory that is in use until the end "
             "of the run is no fault";
  }
  return "";
}

// Only a run with a budget can raise the budget.
const char* advice_on(const finding& finding, const profile& in) {
  if (finding.next == next_step::mark_larger_regions && !in.budget)
    return "mark the loop around the region instead, or set an overhead budget (overhead=2%)";
  return advice_on(finding.next);
}

// The share of the run, omitted if the sentence has the same number: a fraction is in each sentence of its unit.
std::string format_extent(const finding& finding) {
  const std::string error = finding.error_ns ? fmt::format(" ± {} (95 %)", duration(2 * *finding.error_ns)) : "";
  const std::string part =
      finding.known_part ? fmt::format("; known for {} of the time in regions", percent(*finding.known_part)) : "";
  const std::string share = percent(finding.share);
  if (finding.kind == finding_kind::heap_growth)
    return fmt::format("{} of the high-water mark; {} {}", share, format_count(finding.count), counted(finding));
  const bool is_repeated = finding.unit == finding_unit::fraction && percent(finding.value) == share;
  return fmt::format("{}{}{}; {} {}{}", duration(finding.time_ns), error,
                     is_repeated ? "" : fmt::format(", {} of the run", share), format_count(finding.count),
                     counted(finding), part);
}

}  // namespace

std::vector<finding_words> put_findings_in_words(const profile& profile) {
  std::vector<finding_words> made;
  for (const finding& finding : analyse(profile)) {
    made.push_back({sentence_on(finding, profile), format_extent(finding), above_all(finding),
                    advice_on(finding, profile), finding.share});
  }
  return made;
}

std::string finding_list(const profile& profile, std::size_t line_columns, bool has_colour) {
  constexpr double severe = 0.1;  // of the run
  const std::vector<finding_words> all = put_findings_in_words(profile);
  if (all.empty()) return {};
  std::string out = painted_heading("findings:\n", has_colour);
  for (std::size_t at = 0; at != std::min(max_findings, all.size()); ++at) {
    const std::string text =
        wrapped(fmt::format("{}. {} ({}){}", at + 1, all[at].sentence, all[at].evidence, all[at].place), line_columns);
    const text_style style = all[at].share >= severe ? text_style::red : text_style::yellow;
    out += has_colour ? painted(text.substr(0, 2), style) + text.substr(2) : text;
    out += wrapped(fmt::format("try: {}", all[at].advice), line_columns, 3);
  }
  if (all.size() > max_findings)
    out += fmt::format("({} more; output=FILE.json has them all)\n", all.size() - max_findings);
  return out + "\n";
}

}  // namespace adaptyst::lib
