// Walks the frames of all recorders and counts the regions that are open. The number of rows that it looks at is
// bounded.
#include "open_regions.hpp"

#include <adaptyst/detail/recorder_layout.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_set>
#include <vector>

#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

// The list of recorders in a damaged program may be a circle, and all of them full.
constexpr std::size_t max_rows_of_recorder = 1 << 20;

// The rows of one recorder whose regions are open.
std::vector<detail::row> open_rows(const memory& in, const detail::recorder_head& head, std::size_t& rows_read) {
  std::vector<detail::row> open;
  std::vector<detail::row> chunk(detail::rows_per_chunk);
  const std::size_t used = std::min(head.rows_used, detail::max_rows);
  for (std::size_t first = 0; first < used && rows_read < max_rows_of_recorder; first += chunk.size()) {
    chunk.resize(std::min<std::size_t>(detail::rows_per_chunk, used - first));
    rows_read += chunk.size();
    const std::uint64_t at = as_address(head.chunks[first / detail::rows_per_chunk]);
    if (!in.read(at, chunk.data(), chunk.size() * sizeof chunk[0])) break;
    for (const detail::row& row : chunk)
      if (row.open_since != 0) open.push_back(row);
  }
  return open;
}

// Calls visit(rows) with those of each recorder of the epoch that runs.
template <class Visit>
void for_open_rows(const process_state& state, const detail::store_head& store, Visit&& visit) {
  std::size_t rows_read = 0;
  for_each_recorder(as_address(store.recorders), [&](std::uint64_t at) -> std::uint64_t {
    detail::recorder_head head{};
    if (!state.in->read(at, head)) return 0;
    if (head.epoch == store.epoch) visit(open_rows(*state.in, head, rows_read));
    return as_address(head.next);
  });
}

bool read_head(const process_state& state, detail::store_head& store) {
  return state.address != 0 && has_known_layout(state) && state.in->read(state.address, store);
}

}  // namespace

open_counts read_open_regions(const process_state& state) {
  open_counts open;
  detail::store_head store{};
  if (!read_head(state, store)) return open;
  for_open_rows(state, store, [&](const std::vector<detail::row>& rows) {
    for (const detail::row& row : rows) ++open[row.id];
  });
  return open;
}

std::vector<open_row> read_last_regions(const process_state& state) {
  std::map<std::uint64_t, open_row> last;
  detail::store_head store{};
  if (!read_head(state, store)) return {};
  for_open_rows(state, store, [&](const std::vector<detail::row>& open) {
    std::unordered_set<const adaptyst_path*> parents;
    for (const detail::row& row : open) {
      adaptyst_path path{};
      if (state.in->read(reinterpret_cast<std::uint64_t>(row.path), path)) parents.insert(path.parent);
    }
    for (const detail::row& row : open) {
      if (parents.count(row.path) != 0) continue;
      const std::uint64_t since_ns = detail::to_monotonic_ns(store.clock, row.open_since);
      open_row& known = last.try_emplace(row.id, open_row{row.id, 0, since_ns}).first->second;
      ++known.threads;
      known.since_ns = std::min(known.since_ns, since_ns);
    }
  });
  std::vector<open_row> all;
  all.reserve(last.size());
  for (const auto& [path, row] : last) all.push_back(row);
  return all;
}

}  // namespace adaptyst::lib
