// Converts a message to a profile.
#include <utility>

#include "message_parts.hpp"

namespace adaptyst::lib {

profile read_message(std::string_view message) {
  message_reader from(message, message_kind::profile);
  read_limits(from);
  profile made;
  read_fields(from, made);
  ranks_state state;
  state.read(from);
  if (state.processes.processes != 0) made.unlisted = state.processes;
  made.ranks = state.ranks;
  if (state.ranks) made.about_ranks = std::move(state.account);
  made.mpi = state.get_mpi();
  while (from.get(1) != 0) {
    device_usage& device = made.devices.emplace_back();
    from.get(last_value<device_kind>());
    from.get();
    from.get_text();
    read_fields(from, device);
  }
  // A small message could require a thousand times its size.
  constexpr std::size_t max_names = std::size_t{1} << 26U, max_bytes = std::size_t{1} << 30U;
  std::size_t names = 0, bytes = 0;
  std::vector<std::string_view> path;
  spread_state spread;
  while (from.get(1) != 0) {
    read_path(from, path);
    names += path.size();
    for (const std::string_view name : path) bytes += name.size();
    if (names > max_names || bytes > max_bytes) from.fail("has paths with too many names");
    region& row = made.regions.emplace_back();
    row.path.assign(path.begin(), path.end());
    const std::uint64_t id = from.get_whole();
    const auto device = static_cast<std::uint32_t>(from.get(made.devices.size()));
    read_fields(from, row);
    row.id = id;
    row.device = device;
    if (row.min_ns > row.max_ns) from.fail("has a shortest event above the longest");
    read_spread(from, spread);
    row.across_ranks = std::move(spread.spread);
    if (row.across_ranks) row.across_ranks->total_ns.values = spread.values.whole();
  }
  from.require_end();
  return made;
}

}  // namespace adaptyst::lib
