// The report's lines on ranks: ranks that differ, waits in MPI, and the spread of rows.
#include "parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../model/unmarked.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

constexpr double min_run_share = 0.001;  // shorter waits for the slowest rank are not reported

const char* plural(std::uint64_t count) { return count == 1 ? "" : "s"; }

// "3 ranks (4 on n01, 5 on n01, 17 on n03)"
std::string format_list(const rank_list& list) {
  constexpr std::size_t max_ranks = 6;
  std::string names;
  for (std::size_t at = 0; at != std::min(max_ranks, list.first.size()); ++at) {
    const rank_place& place = list.first[at];
    names += fmt::format("{}{}{}", at == 0 ? "" : ", ", place.rank, place.host.empty() ? "" : " on " + place.host);
  }
  if (list.count > max_ranks) names += ", …";
  return fmt::format("{} rank{}{}", format_count(list.count), plural(list.count),
                     names.empty() ? "" : " (" + names + ")");
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string count_ranks(const profile& profile) {
  if (!profile.ranks || !profile.about_ranks) return {};
  const std::uint64_t hosts = profile.about_ranks->count_hosts();
  const bool is_estimate = profile.about_ranks->hosts.size() >= rank_account::max_hosts;
  return fmt::format("{} rank{} on {}{} host{}", format_count(*profile.ranks), plural(*profile.ranks),
                     is_estimate ? "~" : "", format_count(hosts), plural(hosts));
}

std::string rank_label(std::uint32_t rank, const std::string& host) {
  return host.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} on {}", rank, host);
}

std::string odd_ranks_text(const profile& profile, std::size_t line_columns) {
  if (!profile.about_ranks) return {};
  const rank_account& account = *profile.about_ranks;
  std::string out;
  const auto add = [&](const std::string& sentence) { out += wrapped(printable(sentence), line_columns); };
  if (account.missing.count != 0) add("missing, in no figure: " + format_list(account.missing));
  if (account.killed.count != 0) add("killed, or without a report: " + format_list(account.killed));
  if (account.without_regions.count != 0) add("without regions: " + format_list(account.without_regions));
  if (account.programs.size() > 1) {
    std::string all;
    for (const program_ranks& program : account.programs)
      all += fmt::format("{}{}: {}", all.empty() ? "" : "; ", file_name(program.program), format_list(program.ranks));
    add("different programs: " + all);
  }
  return out;
}

std::string efficiency_text(const profile& profile) {
  if (!profile.mpi || profile.ranks.value_or(0) < 2) return {};
  const mpi_usage& usage = *profile.mpi;
  const std::optional<double> all = usage.parallel_efficiency(), balance = usage.load_balance(),
                              communication = usage.communication_efficiency(), in = usage.load_balance_in(),
                              between = usage.load_balance_out();
  const bool is_estimate = usage.outside_errors.has_value();
  if (is_estimate && (!all || !balance || !communication))
    return "MPI: parallel efficiency — (unknown: the overhead budget has sampled calls of MPI, and the error of their "
           "time is too great; overhead=none records every call)";
  if (!all || !balance || !communication) return {};
  const char* const mark = is_estimate ? "~" : "";
  const std::string error =
      usage.parallel_error() ? fmt::format(" ± {} (95 %)", percent(2 * *usage.parallel_error())) : "";
  const bool has_nodes = in && between && profile.about_ranks && profile.about_ranks->count_hosts() > 1;
  const std::string parts =
      has_nodes ? fmt::format(" (within nodes {}{}, between nodes {}{})", mark, percent(*in), mark, percent(*between))
                : "";
  const std::string without = usage.ranks_without != 0
                                  ? fmt::format("; without {} rank{} that did not call it",
                                                format_count(usage.ranks_without), plural(usage.ranks_without))
                                  : "";
  return fmt::format("MPI: parallel efficiency {}{}{} = load balance {}{}{} x communication {}{}{}", mark,
                     percent(*all), error, mark, percent(*balance), parts, mark, percent(*communication), without);
}

std::string collective_text(const profile& profile, const region& row) {
  if (!row.collective || row.collective->time_ns == 0) return {};
  const collective_waits& collective = *row.collective;
  const double part = static_cast<double>(collective.waited_ns) / static_cast<double>(collective.time_ns);
  if (part * static_cast<double>(row.total_ns) < min_run_share * static_cast<double>(compute_wall_ns(profile)))
    return {};
  return printable(fmt::format("{} of this: waits for the last rank; most for {}, the last in {} of {} calls{}",
                               percent(part), rank_label(collective.last_rank, collective.last_host),
                               format_count(collective.last_calls), format_count(collective.calls),
                               collective.step == 1 ? "" : fmt::format(" (1 of {} was looked at)", collective.step)));
}

std::string spread_text(const profile& profile, const region& row) {
  constexpr double worth_a_line = 0.02;
  if (!row.across_ranks || profile.ranks.value_or(0) < 2) return {};
  const rank_spread& spread = *row.across_ranks;
  const std::optional<double> imbalance = spread.imbalance();
  const bool has_all = spread.ranks == *profile.ranks;
  const std::string those =
      has_all ? "ranks" : fmt::format("in {} of {} ranks", format_count(spread.ranks), format_count(*profile.ranks));
  const rank_totals& totals = spread.total_ns;
  const double lost_ns =
      (static_cast<double>(totals.max) - totals.mean().value_or(0)) * static_cast<double>(spread.ranks);
  const bool is_small = lost_ns < min_run_share * static_cast<double>(compute_wall_ns(profile));
  if (imbalance.value_or(0) < worth_a_line || is_small) return has_all ? std::string() : those;
  return printable(fmt::format("{}: imbalance {}; slowest: {} ({}), mean {}, fastest: {} ({})", those,
                               percent(*imbalance), rank_label(totals.max_rank, totals.max_host),
                               duration(static_cast<double>(totals.max)), duration(totals.mean().value_or(0)),
                               rank_label(totals.min_rank, totals.min_host),
                               duration(static_cast<double>(totals.min))));
}

}  // namespace adaptyst::lib
