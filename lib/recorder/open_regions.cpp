#include "open_regions.hpp"

#include <adaptyst/detail/recorder_layout.hpp>
#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_set>
#include <vector>

namespace adaptyst::lib {

namespace {

// A program that lies may have its recorders in a circle, and all of them full.
constexpr std::size_t most_recorders = 1 << 16;
constexpr std::size_t most_frames = 1 << 20;
constexpr std::size_t most_rows = 1 << 20;

// Those of one recorder.
std::vector<detail::row> open_rows(const memory& in, const detail::recorder_head& head, std::size_t& rows_read) {
  std::vector<detail::row> open;
  std::vector<detail::row> chunk(detail::rows_per_chunk);
  const std::size_t used = std::min(head.rows_used, detail::most_rows);
  for (std::size_t first = 0; first < used && rows_read < most_rows; first += chunk.size()) {
    chunk.resize(std::min<std::size_t>(detail::rows_per_chunk, used - first));
    rows_read += chunk.size();
    const auto at = reinterpret_cast<std::uint64_t>(head.chunks[first / detail::rows_per_chunk]);
    if (!in.read(at, chunk.data(), chunk.size() * sizeof chunk[0])) break;
    for (const detail::row& one : chunk)
      if (one.open_since != 0) open.push_back(one);
  }
  return open;
}

}  // namespace

open_counts read_open_regions(const process_state& of) {
  open_counts open;
  detail::store_head store{};
  if (of.address == 0 || !has_known_layout(of) || !of.in->read(of.address, store)) return open;
  std::uint64_t at = reinterpret_cast<std::uint64_t>(store.recorders);
  std::vector<detail::frame> frames;
  std::unordered_set<std::uint64_t> visited;
  std::size_t frames_read = 0;
  while (at != 0 && visited.size() != most_recorders && frames_read < most_frames && visited.insert(at).second) {
    detail::recorder_head head{};
    std::uint64_t depths = 0;
    if (!of.in->read(at, head)) break;
    const bool counts = head.epoch == store.epoch && of.in->read(at + detail::offset_of_depth, depths);
    const auto depth = static_cast<std::uint32_t>(depths);
    const auto base = static_cast<std::uint32_t>(depths >> 32);
    if (counts && depth > base && depth <= detail::most_depth) {
      frames.resize(depth - base);
      frames_read += frames.size();
      if (of.in->read(at + detail::offset_of_frames + (base + std::size_t{1}) * sizeof(detail::frame), frames.data(),
                      frames.size() * sizeof(detail::frame)))
        for (const detail::frame& one : frames) {
          adaptyst_path path{};
          if (of.in->read(reinterpret_cast<std::uint64_t>(one.path), path)) ++open[path.id];
        }
    }
    at = reinterpret_cast<std::uint64_t>(head.next);
  }
  return open;
}

std::vector<open_row> read_last_regions(const process_state& of) {
  std::map<std::uint64_t, open_row> last;
  detail::store_head store{};
  if (of.address == 0 || !has_known_layout(of) || !of.in->read(of.address, store)) return {};
  std::unordered_set<std::uint64_t> visited;
  std::size_t rows_read = 0;
  for (auto at = reinterpret_cast<std::uint64_t>(store.recorders);
       at != 0 && visited.size() != most_recorders && visited.insert(at).second;) {
    detail::recorder_head head{};
    if (!of.in->read(at, head)) break;
    at = reinterpret_cast<std::uint64_t>(head.next);
    if (head.epoch != store.epoch) continue;
    const std::vector<detail::row> open = open_rows(*of.in, head, rows_read);
    std::unordered_set<const adaptyst_path*> parents;
    for (const detail::row& one : open) {
      adaptyst_path path{};
      if (of.in->read(reinterpret_cast<std::uint64_t>(one.path), path)) parents.insert(path.parent);
    }
    for (const detail::row& one : open) {
      if (parents.count(one.path) != 0) continue;
      const std::uint64_t since_ns = detail::to_monotonic_ns(store.clock, one.open_since);
      open_row& known = last.try_emplace(one.id, open_row{one.id, 0, since_ns}).first->second;
      ++known.threads;
      known.since_ns = std::min(known.since_ns, since_ns);
    }
  }
  std::vector<open_row> all;
  for (const auto& [path, row] : last) all.push_back(row);
  return all;
}

}  // namespace adaptyst::lib
