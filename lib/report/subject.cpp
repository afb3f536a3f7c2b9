#include "parts.hpp"

#include <fmt/format.h>

#include <cstring>

#include "../model/unmarked.hpp"
#include "../support/text.hpp"

namespace adaptyst::lib {

namespace {

std::string signal_text(std::uint32_t number) {
  return fmt::format("signal {} ({})", number, strsignal(static_cast<int>(number)));
}

// The processes that a signal has ended; empty: none.
std::string describe_signals(const profile& profile) {
  constexpr std::size_t max_processes = 4;
  if (profile.processes.size() == 1 && !profile.unlisted) {
    const process_info& only = profile.processes.front();
    return only.signal ? ", ended by " + signal_text(*only.signal) : "";
  }
  std::string names;
  std::size_t ended = 0;
  for (const process_info& process : profile.processes)
    if (process.signal && ended++ < max_processes)
      names += fmt::format("{}pid {} by {}", names.empty() ? "" : ", ", process.pid, signal_text(*process.signal));
  if (ended > max_processes) names += fmt::format(" and {} more", format_count(ended - max_processes));
  return ended == 0 ? "" : "; ended: " + names;
}

std::string describe_processes(const profile& profile) {
  const std::uint64_t wall_ns = compute_wall_ns(profile);
  const std::string time = wall_ns != 0 ? duration(static_cast<double>(wall_ns)) : "time unknown";
  const std::string ranks = count_ranks(profile);
  const std::uint64_t processes = profile.processes.size() + (profile.unlisted ? profile.unlisted->processes : 0);
  if (!ranks.empty() && profile.ranks == processes) return fmt::format("{}, {} in sum", ranks, time);
  if (!ranks.empty()) return fmt::format("{}, {} processes, {} in sum", ranks, format_count(processes), time);
  if (processes == 0) return {};
  if (processes > 1) return fmt::format("{} processes, {} in sum", format_count(processes), time);
  if (profile.processes.empty()) return fmt::format("1 process, {}", time);
  const process_info& process = profile.processes.front();
  const std::string rank = process.rank ? fmt::format(", {}", rank_label(*process.rank, process.host)) : "";
  return fmt::format("{}, pid {}{}, {}", process.command.substr(process.command.rfind('/') + 1), process.pid, rank,
                     time);
}

}  // namespace

std::string describe_subject(const profile& profile) { return describe_processes(profile) + describe_signals(profile); }

}  // namespace adaptyst::lib
