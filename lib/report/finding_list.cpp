// Turns findings into sentences: one sentence for each kind, one piece of advice for each next step.
#include "parts.hpp"

#include <fmt/format.h>

#include <adaptyst/profile/findings.hpp>
#include <algorithm>

#include "../model/words.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

// More than a person considers before the next run.
constexpr std::size_t max_findings = 5;

constexpr std::size_t max_columns = 60;  // of a path

std::string format_region(const finding& finding) { return path_label(finding.path, max_columns); }

std::string format_device(const finding& finding, const profile& in) { return device_label(in, finding.device); }

// Of a finding on the whole run, or on a device, the region that has most of it. It stands behind the figures, which are
// not that region's.
std::string above_all(const finding& finding) {
  const bool is_on_region = finding.kind != finding_kind::core_wait && finding.kind != finding_kind::exposed_copies &&
                            finding.kind != finding_kind::launch_bound &&
                            !(finding.kind == finding_kind::fine_markers && finding.unit != finding_unit::ns);
  return is_on_region || finding.path.empty() ? "" : ", above all in " + format_region(finding);
}

std::string late_sentence(const finding& finding, const std::string& part) {
  const std::string whom =
      finding.rank ? rank_label(*finding.rank, printable(finding.host)) : "the last rank, another one each time";
  const std::string where = finding.late_in.empty()
                                ? ""
                                : fmt::format(", which takes longest in {}", path_label(finding.late_in, max_columns));
  return fmt::format("{}: {} of its time waiting for {}{}", format_region(finding), part, whom, where);
}

std::string sentence_on(const finding& finding, const profile& in) {
  const std::string part = percent(finding.value);
  switch (finding.kind) {
    case finding_kind::lock_wait:
      return fmt::format("{}: {} of its time blocked on locks, barriers or other threads", format_region(finding),
                         part);
    case finding_kind::core_wait: return fmt::format("threads had no core {} of the time that they could run", part);
    case finding_kind::io_wait:
      return fmt::format("{}: {} of its time blocked on files, sockets or their events", format_region(finding), part);
    case finding_kind::page_faults:
      return finding.unit == finding_unit::fraction
                 ? fmt::format("{}: {} of its time blocked while pages were read from a disk", format_region(finding),
                               part)
                 : fmt::format("{}: {} page faults a second on a core", format_region(finding),
                               format_number(finding.value));
    case finding_kind::thread_imbalance:
      if (finding.unit == finding_unit::fraction)
        return fmt::format("{}: {} of the threads' time waiting for the last of them", format_region(finding), part);
      return fmt::format("{}: one thread took {}, all took {} on average", format_region(finding),
                         duration(finding.value), duration(finding.against));
    case finding_kind::long_tail:
      return fmt::format("{}: some events took {} on average, half of all less than {}", format_region(finding),
                         duration(finding.value), duration(finding.against));
    case finding_kind::fine_markers:
      if (finding.unit == finding_unit::ns && finding.value <= finding.against)
        return fmt::format("{}: takes no longer than an empty region ({})", format_region(finding),
                           duration(finding.against));
      if (finding.unit == finding_unit::ns)
        return fmt::format("{}: takes {}, of which an empty region takes {}", format_region(finding),
                           duration(finding.value), duration(finding.against));
      if (in.budget)
        return fmt::format("observing cost {} of the CPU time, the limit is {}", part, percent(finding.against));
      return fmt::format(
          "observing cost {} of the run, and there is no limit; from {} on, times are not those of the program alone",
          part, percent(finding.against));
    case finding_kind::starved_device:
      return fmt::format("{}: idle {} of the time, with nothing submitted", format_device(finding, in), part);
    case finding_kind::exposed_copies:
      return fmt::format("{}: {} of its work was copying while no kernel ran", format_device(finding, in), part);
    case finding_kind::launch_bound:
      return fmt::format("{}: kernels took {} on average, launching them {}", format_device(finding, in),
                         duration(finding.value), duration(finding.against));
    case finding_kind::rank_imbalance:
      return fmt::format("{}: {} took {}, all ranks took {} on average", format_region(finding),
                         rank_label(finding.rank.value_or(0), printable(finding.host)), duration(finding.value),
                         duration(finding.against));
    case finding_kind::slow_rank:
      return fmt::format("{}: {} took {}, half of all ranks less than {}", format_region(finding),
                         rank_label(finding.rank.value_or(0), printable(finding.host)), duration(finding.value),
                         duration(finding.against));
    case finding_kind::slow_node:
      return fmt::format("{}: ranks on {} took {}, half of all ranks less than {}", format_region(finding),
                         printable(finding.host), duration(finding.value), duration(finding.against));
    case finding_kind::late_rank: return late_sentence(finding, part);
  }
  return {};
}

// What was counted.
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
    default: return "events";
  }
}

const char* advice_on(next_step step) {
  switch (step) {
    case next_step::hold_locks_shorter: return "hold locks for less time, or give each thread data of its own";
    case next_step::use_fewer_threads: return "run no more threads than there are cores";
    case next_step::free_the_cores:
      return "see what else runs on these cores: a device's own threads, other programs, other ranks, a quota";
    case next_step::do_larger_io: return "read and write more at a time, or while something else is computed";
    case next_step::reuse_memory: return "allocate once and use the memory again, or use larger pages";
    case next_step::need_less_memory: return "use less memory than the machine has free, or read files ahead";
    case next_step::even_out_work: return "share the work out evenly, in smaller parts, or as threads become free";
    case next_step::look_at_slow_events:
      return "see which events these are: --timeline, or a payload that distinguishes them";
    case next_step::mark_larger_regions:
      return "mark the loop around it instead, or allow observing to cost more (overhead=)";
    case next_step::ask_kernel_for_less:
      return "ask the kernel for less: context=none or cpu, sample_frequency=99; or allow more (overhead=)";
    case next_step::submit_earlier: return "submit work before the device has run out of it, and wait later";
    case next_step::overlap_copies: return "copy in a queue of its own while kernels run, or leave data on the device";
    case next_step::launch_fewer_kernels: return "join kernels into larger ones, or submit many at once";
    case next_step::even_out_ranks: return "give ranks equal work: another decomposition, or work that moves";
    case next_step::look_at_node:
      return "see what is different there: its part of the input, other programs, the node's clock and memory";
  }
  return "";
}

// Without a budget there is none to be raised.
const char* advice_on(const finding& finding, const profile& in) {
  if (finding.next == next_step::mark_larger_regions && !in.budget)
    return "mark the loop around it instead, or let a budget leave events out (overhead=2%)";
  return advice_on(finding.next);
}

std::string format_extent(const finding& finding) {
  const std::string error = finding.error_ns ? fmt::format(" ± {} (95 %)", duration(2 * *finding.error_ns)) : "";
  const std::string part =
      finding.known_part ? fmt::format("; known for {} of the time in regions", percent(*finding.known_part)) : "";
  return fmt::format("{}{}, {} of the run; {} {}{}", duration(finding.time_ns), error, percent(finding.share),
                     format_number(static_cast<double>(finding.count)), counted(finding), part);
}

}  // namespace

std::vector<finding_words> put_findings_in_words(const profile& profile) {
  std::vector<finding_words> made;
  for (const finding& one : analyse(profile))
    made.push_back({sentence_on(one, profile), format_extent(one), above_all(one), advice_on(one, profile)});
  return made;
}

std::string finding_list(const profile& profile, std::size_t line_columns) {
  const std::vector<finding_words> all = put_findings_in_words(profile);
  if (all.empty()) return {};
  std::string out = "what to look at first:\n";
  for (std::size_t at = 0; at != std::min(max_findings, all.size()); ++at) {
    out +=
        wrapped(fmt::format("{}. {} ({}){}", at + 1, all[at].sentence, all[at].evidence, all[at].place), line_columns);
    out += wrapped(fmt::format("try: {}", all[at].advice), line_columns, 3);
  }
  if (all.size() > max_findings)
    out += fmt::format("({} more; output=FILE.json has them all)\n", all.size() - max_findings);
  return out + "\n";
}

}  // namespace adaptyst::lib
