// The lines below the tables: account, cost, timer floor, budget, samples, and the last regions of a program that was
// killed.
#include "account_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../profile/unmarked.hpp"
#include "../support/text.hpp"
#include "loss_advice.hpp"
#include "words.hpp"

namespace adaptyst::lib {

namespace {

void write_lost_context(std::string& out, const context_account& account, std::size_t line_columns) {
  out += wrapped(
      fmt::format("of what the kernel knows of {} threads is missing: {}", account.threads, list_losses(account.lost)),
      line_columns);
}

void write_samples(std::string& out, const sample_usage& usage, std::size_t line_columns) {
  const std::string reasons = usage.lost.empty() ? "" : "; lost: " + list_losses(usage.lost);
  out += wrapped(
      fmt::format("samples: {} on a core, one for each {}{}", usage.samples, duration(usage.period_ns()), reasons),
      line_columns);
}

// An estimate, as of events that a budget has left out, is marked as in the rows.
void write_account(std::string& out, const profile& whole, double wall_ns, std::size_t line_columns) {
  const account& account = whole.accounting;
  std::uint64_t lost = 0;
  for (const auto& [reason, count] : account.lost) lost += count;
  const std::string reasons = account.lost.empty() ? "" : " (" + list_losses(account.lost) + ")";
  const bool is_thinned = std::any_of(whole.regions.begin(), whole.regions.end(),
                                      [](const region& row) { return row.timed_events && row.count_variance > 0; });
  const auto marked = [](std::uint64_t count, bool is_estimate) {
    return (is_estimate ? "~" : "") + std::to_string(count);
  };
  std::string sentence =
      fmt::format("{} events begun = {} ended + {} open + {} lost{}; {} unmatched",
                  marked(account.begun, is_thinned || account.unread), marked(account.ended, is_thinned), account.open,
                  marked(lost, account.unread.has_value()), reasons, account.unmatched);
  if (account.unnamed != 0) sentence += fmt::format("; {} paths unnamed", account.unnamed);
  out += "\n" + wrapped(sentence, line_columns);
  for (const std::string& one : advice_on_losses(whole)) out += wrapped(printable(one), line_columns, 2);
  if (account.unread)
    out += wrapped(
        fmt::format("{} ended without telling: what {} recorded in the last {} at most was not read, and is "
                    "estimated",
                    account.unread->programs == 1 ? "a program" : fmt::format("{} programs", account.unread->programs),
                    account.unread->programs == 1 ? "it" : "they",
                    duration(static_cast<double>(account.unread->up_to_ns))),
        line_columns);
  if (account.refused)
    out += wrapped(
        printable(fmt::format(
            "{} could not be looked into; what {} did is missing, and how much that is, is unknown: {}",
            account.refused->programs == 1 ? "a program" : fmt::format("{} programs", account.refused->programs),
            account.refused->programs == 1 ? "it" : "they", account.refused->why)),
        line_columns);
  if (account.overhead_ns)
    out += wrapped(fmt::format("observing them cost about {} of the threads' time{}", duration(*account.overhead_ns),
                               wall_ns > 0 ? fmt::format(", {} of the run if on one thread",
                                                         percent(*account.overhead_ns / wall_ns))
                                           : ""),
                   line_columns);
}

// What is no work in times that are hardly longer.
void write_floor(std::string& out, const profile& profile, std::size_t line_columns) {
  constexpr double times = 10;
  const bool matters =
      profile.timer_floor_ns && std::any_of(profile.regions.begin(), profile.regions.end(), [&](const region& row) {
        return row.durations.count() != 0 && row.kind != region_kind::function &&
               static_cast<double>(row.total_ns) < times * *profile.timer_floor_ns * static_cast<double>(row.count);
      });
  if (matters)
    out += wrapped(fmt::format("an empty region takes {} here: so much of each event's time is the measuring itself",
                               duration(*profile.timer_floor_ns)),
                   line_columns);
}

// What an overhead budget has done.
void write_budget(std::string& out, const profile& profile, std::size_t line_columns) {
  std::size_t thinned = 0;
  std::uint64_t coarsest = 1;
  double worst = 0;
  for (const region& row : profile.regions) {
    if (!row.timed_events || row.count == 0) continue;
    ++thinned;
    worst = std::max(worst, row.count_error().value_or(0) / static_cast<double>(row.count));
    if (!row.measured_on.empty()) coarsest = std::max(coarsest, row.measured_on.rbegin()->first.one_of);
  }
  if (thinned == 0) return;
  out += wrapped(
      fmt::format("overhead budget: {} region{} thinned (~){}, counts within {} (standard error); overhead=none "
                  "records every event",
                  thinned, thinned == 1 ? "" : "s",
                  coarsest != 1 ? fmt::format(", down to 1 event of {}", coarsest) : "", percent(worst)),
      line_columns);
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

}  // namespace

std::string account_text(const profile& profile, std::size_t line_columns) {
  std::string out;
  write_account(out, profile, static_cast<double>(compute_wall_ns(profile)), line_columns);
  write_floor(out, profile, line_columns);
  write_last_regions(out, profile, line_columns);
  write_budget(out, profile, line_columns);
  return out;
}

std::string context_lines(const profile& profile, std::size_t line_columns) {
  std::string out;
  if (profile.context && !profile.context->lost.empty()) write_lost_context(out, *profile.context, line_columns);
  if (profile.samples) write_samples(out, *profile.samples, line_columns);
  if (profile.timeline)
    out += wrapped(
        fmt::format(
            "timeline: {} events written, {} lost{}{}", profile.timeline->events, profile.timeline->lost,
            profile.timeline->lost != 0 ? ": rings were full (trace_events=), or the file could not be written" : "",
            profile.timeline->unchanged != 0
                ? fmt::format("; {} values that never changed left out", profile.timeline->unchanged)
                : ""),
        line_columns);
  return out;
}

}  // namespace adaptyst::lib
