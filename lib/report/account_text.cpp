// The lines below the tables: account, cost, timer floor, budget, samples, and the last regions of a killed program.
#include "parts.hpp"

#include <fmt/format.h>

#include <adaptyst/profile/findings.hpp>
#include <algorithm>
#include <array>
#include <utility>

#include "../model/unmarked.hpp"
#include "../model/words.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

std::uint64_t sum_up(const losses& all) {
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : all) sum += count;
  return sum;
}

// Whether a finding contains the cost of observing or of an empty region; then the account does not repeat this cost.
bool is_found(const profile& profile, finding_unit unit) {
  const std::vector<finding> all = analyse(profile);
  return std::any_of(all.begin(), all.end(), [unit](const finding& finding) {
    return finding.kind == finding_kind::fine_markers && finding.unit == unit;
  });
}
bool is_cost_found(const profile& profile) { return is_found(profile, finding_unit::fraction); }

bool has_sampled_events(const profile& profile) {
  return std::any_of(profile.regions.begin(), profile.regions.end(),
                     [](const region& row) { return row.timed_events && row.count_variance > 0; });
}

// Estimates, for example with events that a budget has skipped, have the same mark as in the rows.
std::string marked(std::uint64_t count, bool is_estimate) { return (is_estimate ? "~" : "") + format_count(count); }

// As list_losses(), with the mark of the estimate among the reasons.
std::string list_lost_events(const account& of) {
  losses counted = of.lost;
  std::string estimate;
  if (const auto found = counted.find(loss_reason::not_read); of.unread && found != counted.end()) {
    estimate = fmt::format("~{} {}", format_count(found->second), to_string(found->first));
    counted.erase(found);
  }
  const std::string others = list_losses(counted);
  return estimate + (estimate.empty() || others.empty() ? "" : ", ") + others;
}

std::string programs_text(std::uint64_t count) {
  return count == 1 ? "a program" : fmt::format("{} programs", format_count(count));
}

std::string unread_sentence(const unread_programs& unread) {
  return fmt::format("{} ended without telling: what {} recorded in the last {} at most was not read, and is estimated",
                     programs_text(unread.programs), unread.programs == 1 ? "it" : "they",
                     duration(static_cast<double>(unread.up_to_ns)));
}

std::string refused_sentence(const refused_programs& refused) {
  return printable(
      fmt::format("{} could not be looked into; what {} did is missing, and how much that is, is unknown: {}",
                  programs_text(refused.programs), refused.programs == 1 ? "it" : "they", refused.why));
}

std::string lost_context_sentence(const context_account& account) {
  losses others = account.lost;
  std::string made;
  if (const auto found = others.find(loss_reason::not_announced); found != others.end()) {
    made = fmt::format(
        "not_announced: the kernel does not know {} thread{} with markers, so when {} on a core is not known. Observe "
        "the program from its start (adaptyst run), and without a collector of its own (ADAPTYST=engine=off)",
        format_count(found->second), found->second == 1 ? "" : "s", found->second == 1 ? "it was" : "they were");
    others.erase(found);
  }
  if (!others.empty())
    made += fmt::format("{}of what the kernel knows of {} threads is missing: {}", made.empty() ? "" : "; ",
                        format_count(account.threads), list_losses(others));
  return made;
}

void write_samples(std::string& out, const sample_usage& usage, std::size_t line_columns) {
  const std::string reasons = usage.lost.empty() ? "" : "; lost: " + list_losses(usage.lost);
  const std::string cost =
      usage.observer_ns ? fmt::format("; the observer took {} of CPU time", duration(*usage.observer_ns)) : "";
  out += wrapped(fmt::format("samples: {} on a core, one for each {}{}{}", format_count(usage.samples),
                             duration(usage.period_ns()), cost, reasons),
                 line_columns);
}

std::string account_sentence(const profile& whole) {
  const account& account = whole.accounting;
  const std::string reasons = account.lost.empty() ? "" : " (" + list_lost_events(account) + ")";
  const bool is_sampled = has_sampled_events(whole);
  std::string sentence =
      fmt::format("{} events begun = {} ended + {} open + {} lost{}; {} unmatched",
                  marked(account.begun, is_sampled || account.unread), marked(account.ended, is_sampled),
                  format_count(account.open), marked(sum_up(account.lost), account.unread.has_value()), reasons,
                  format_count(account.unmatched));
  if (account.unnamed != 0) sentence += fmt::format("; {} paths unnamed", format_count(account.unnamed));
  return sentence;
}

// Reasons of lost events, with remedies; missing programs.
void write_losses(std::string& out, const profile& whole, std::size_t line_columns) {
  const account& account = whole.accounting;
  for (const std::string& loss : advice_on_losses(whole)) out += wrapped(printable(loss), line_columns, 2);
  if (account.unread) out += wrapped(unread_sentence(*account.unread), line_columns);
  if (account.refused) out += wrapped(refused_sentence(*account.refused), line_columns);
}

std::string cost_sentence(const profile& profile) {
  const std::optional<double>& cost_ns = profile.accounting.overhead_ns;
  if (!cost_ns || is_cost_found(profile)) return {};
  const auto wall_ns = static_cast<double>(compute_wall_ns(profile));
  const std::string share =
      wall_ns > 0 ? fmt::format(", {} of the run if on one thread", percent(*cost_ns / wall_ns)) : "";
  return fmt::format("observing them cost about {} of the threads' time{}", duration(*cost_ns), share);
}

std::string lost_sentence(const profile& profile) {
  const account& of = profile.accounting;
  return fmt::format("{} of {} events are not in the figures: {}", marked(sum_up(of.lost), of.unread.has_value()),
                     marked(of.begun, has_sampled_events(profile) || of.unread), list_lost_events(of));
}

// The time of an empty region, if regions are not much longer.
void write_floor(std::string& out, const profile& profile, std::size_t line_columns) {
  constexpr double times = 10;
  const bool matters =
      profile.timer_floor_ns && !is_found(profile, finding_unit::ns) &&
      std::any_of(profile.regions.begin(), profile.regions.end(), [&](const region& row) {
        return row.durations.count() != 0 && row.kind != region_kind::function &&
               static_cast<double>(row.total_ns) < times * *profile.timer_floor_ns * static_cast<double>(row.count);
      });
  if (matters)
    out += wrapped(fmt::format("an empty region takes {} here: so much of each event's time is the measuring itself",
                               duration(*profile.timer_floor_ns)),
                   line_columns);
}

// The effect of the overhead budget; empty: none.
std::string budget_sentence(const profile& profile) {
  std::size_t sampled = 0;
  std::uint64_t coarsest = 1;
  double worst = 0;
  for (const region& row : profile.regions) {
    if (!row.timed_events || row.count == 0) continue;
    ++sampled;
    worst = std::max(worst, row.count_error().value_or(0) / static_cast<double>(row.count));
    if (!row.measured_on.empty()) coarsest = std::max(coarsest, row.measured_on.rbegin()->first.one_of);
  }
  std::vector<std::string> parts;
  if (sampled != 0)
    parts.push_back(fmt::format(
        "{} region{} sampled (~){}, counts within {} (standard error)", format_count(sampled), sampled == 1 ? "" : "s",
        coarsest != 1 ? fmt::format(", down to 1 event of {}", format_count(coarsest)) : "", percent(worst)));
  if (profile.context && profile.context->faults_one_of)
    parts.push_back(
        fmt::format("page faults sampled (~), down to 1 of {}", format_count(*profile.context->faults_one_of)));
  if (profile.context && profile.context->switches_one_of)
    parts.push_back(
        fmt::format("thread switches sampled (~), down to 1 of {}", format_count(*profile.context->switches_one_of)));
  if (profile.samples && profile.samples->waits_one_of)
    parts.push_back(
        fmt::format("stacks of waits sampled (~), down to 1 of {}", format_count(*profile.samples->waits_one_of)));
  if (parts.empty()) return {};
  return fmt::format("overhead budget: {}; overhead=none records every event", fmt::join(parts, "; "));
}

void write_last_regions(std::string& out, const profile& profile, std::size_t line_columns) {
  constexpr std::size_t max_regions = 8;
  std::size_t left = 0;
  for (const process_info& process : profile.processes)
    for (const last_region& region : process.ended_in) {
      if (left++ >= max_regions) continue;
      out += wrapped(printable(fmt::format("pid {} ended in {}, {} into it{}", process.pid, join_path(region.path),
                                           duration(static_cast<double>(region.age_ns)),
                                           region.threads == 1 ? "" : fmt::format(" ({} threads)", region.threads))),
                     line_columns);
    }
  if (left > max_regions) out += fmt::format("({} more such regions)\n", left - max_regions);
}

// Events that are not in the timeline, by their causes; empty: none.
std::string describe_missing(const timeline_usage& usage) {
  std::string made;
  const auto add = [&](std::uint64_t events, const char* cause, bool is_estimate = false) {
    if (events != 0) made += fmt::format("{}{} {}", made.empty() ? "" : ", ", marked(events, is_estimate), cause);
  };
  add(usage.lost, "lost (rings were full, see trace_events=, or the file could not be written)");
  add(usage.beyond_limit, "after the file had reached its limit (timeline_limit=)");
  add(usage.sampled_out, "skipped by the overhead budget (overhead=none keeps them)", true);
  return made;
}

std::string timeline_sentence(const timeline_usage& usage) {
  const std::string missing = describe_missing(usage);
  return fmt::format("timeline: {} events written, {}{}", format_count(usage.events),
                     missing.empty() ? "0 lost" : "not in it: " + missing,
                     usage.unchanged != 0
                         ? fmt::format("; {} values that never changed left out", format_count(usage.unchanged))
                         : "");
}

}  // namespace

std::vector<std::string> list_what_is_missing(const profile& profile) {
  std::vector<std::string> made;
  const account& of = profile.accounting;
  if (sum_up(of.lost) != 0) made.push_back(lost_sentence(profile));
  const std::vector<std::string> advice = advice_on_losses(profile);
  made.insert(made.end(), advice.begin(), advice.end());
  if (of.unread) made.push_back(unread_sentence(*of.unread));
  if (of.refused) made.push_back(refused_sentence(*of.refused));
  if (profile.budget && profile.budget->is_exceeded() && !is_cost_found(profile))
    made.push_back(fmt::format("the overhead budget was missed: observing cost {} of CPU time, {} were allowed",
                               duration(profile.budget->cost_ns), duration(profile.budget->allowed_ns)));
  if (std::string text = budget_sentence(profile); !text.empty()) made.push_back(std::move(text));
  if (profile.context && !profile.context->lost.empty()) made.push_back(lost_context_sentence(*profile.context));
  if (profile.samples && !profile.samples->lost.empty())
    made.push_back("samples were lost: " + list_losses(profile.samples->lost));
  if (profile.timeline)
    if (const std::string text = describe_missing(*profile.timeline); !text.empty())
      made.push_back("events that are not in the timeline: " + text);
  for (std::string& sentence : made) sentence = printable(sentence);
  return made;
}

std::string account_text(const profile& profile, std::size_t line_columns) {
  std::string out = "\n" + wrapped(account_sentence(profile), line_columns);
  write_losses(out, profile, line_columns);
  if (const std::string text = cost_sentence(profile); !text.empty()) out += wrapped(text, line_columns);
  write_floor(out, profile, line_columns);
  write_last_regions(out, profile, line_columns);
  if (const std::string text = budget_sentence(profile); !text.empty()) out += wrapped(text, line_columns);
  return out;
}

std::string account_line(const profile& profile, std::size_t line_columns) {
  const account& of = profile.accounting;
  const auto count = [](std::uint64_t number, const char* what) {
    return number != 0 ? fmt::format(", {} {}", format_count(number), what) : "";
  };
  enum part { begun, open, lost, unmatched, unnamed, cost, parts_count };
  std::array<std::string, parts_count> parts = {
      printable(fmt::format("engine {}: {} events begun", profile.engine,
                            marked(of.begun, has_sampled_events(profile) || of.unread))),
      count(of.open, "open"),
      fmt::format(", {} lost", marked(sum_up(of.lost), of.unread.has_value())),
      count(of.unmatched, "unmatched"),
      count(of.unnamed, "paths unnamed"),
      {}};
  if (of.overhead_ns && !is_cost_found(profile)) {
    constexpr double least_share = 0.0005;  // the smallest share that percent() shows
    const auto wall_ns = static_cast<double>(compute_wall_ns(profile));
    const bool has_share = wall_ns > 0 && *of.overhead_ns >= least_share * wall_ns;
    parts[cost] = "; observing cost " +
                  (has_share ? percent(*of.overhead_ns / wall_ns) + " of the run" : duration(*of.overhead_ns));
  }
  const auto join = [&] { return fmt::format("{}", fmt::join(parts, "")); };
  bool is_cut = false;
  for (const part left_out : {unnamed, open, cost, unmatched}) {  // --verbose shows all
    if (width(join()) + (is_cut ? 3 : 0) <= line_columns) break;
    is_cut = is_cut || !parts[left_out].empty();
    parts[left_out].clear();
  }
  return format_line(join() + (is_cut ? ", …" : ""), line_columns);
}

std::string warning_text(const profile& profile, std::size_t line_columns) {
  std::string out;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) out += wrapped(printable(text), line_columns);
  };
  if (sum_up(profile.accounting.lost) != 0) add(lost_sentence(profile));
  write_losses(out, profile, line_columns);
  write_floor(out, profile, line_columns);
  write_last_regions(out, profile, line_columns);
  add(budget_sentence(profile));
  if (profile.context && !profile.context->lost.empty()) add(lost_context_sentence(*profile.context));
  if (profile.samples && !profile.samples->lost.empty()) write_samples(out, *profile.samples, line_columns);
  if (profile.timeline && !describe_missing(*profile.timeline).empty()) add(timeline_sentence(*profile.timeline));
  return out.empty() ? out : "\n" + out;
}

std::string context_lines(const profile& profile, std::size_t line_columns) {
  std::string out;
  if (profile.context && !profile.context->lost.empty())
    out += wrapped(lost_context_sentence(*profile.context), line_columns);
  if (profile.samples) write_samples(out, *profile.samples, line_columns);
  if (profile.timeline) out += wrapped(timeline_sentence(*profile.timeline), line_columns);
  return out;
}

}  // namespace adaptyst::lib
