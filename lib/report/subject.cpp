#include "subject.hpp"

#include <fmt/format.h>

#include "../profile/unmarked.hpp"
#include "../support/text.hpp"
#include "rank_lines.hpp"

namespace adaptyst::lib {

std::string describe_subject(const profile& profile) {
  const std::string time = duration(static_cast<double>(compute_wall_ns(profile)));
  const std::string ranks = count_ranks(profile);
  const std::uint64_t processes = profile.processes.size() + (profile.unlisted ? profile.unlisted->processes : 0);
  if (!ranks.empty() && profile.ranks == processes) return fmt::format("{}, {} in sum", ranks, time);
  if (!ranks.empty()) return fmt::format("{}, {} processes, {} in sum", ranks, processes, time);
  if (processes == 0) return {};
  if (processes > 1) return fmt::format("{} processes, {} in sum", processes, time);
  if (profile.processes.empty()) return fmt::format("1 process, {}", time);
  const process_info& process = profile.processes.front();
  const std::string rank = process.rank ? fmt::format(", {}", rank_label(*process.rank, process.host)) : "";
  return fmt::format("{}, pid {}{}, {}", process.command.substr(process.command.rfind('/') + 1), process.pid, rank,
                     time);
}

}  // namespace adaptyst::lib
