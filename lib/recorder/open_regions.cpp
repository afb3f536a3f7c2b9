#include "open_regions.hpp"

#include <adaptyst/detail/recorder_layout.hpp>
#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <vector>

namespace adaptyst::lib {

namespace {

// A program that lies may have its recorders in a circle, and all of them full.
constexpr std::size_t most_recorders = 1 << 16;
constexpr std::size_t most_frames = 1 << 20;

}  // namespace

open_counts read_open_regions(const process_state& of) {
  open_counts open;
  detail::control_page control{};
  if (of.address == 0 || !has_known_layout(of) || !of.in->read(of.address, control)) return open;
  std::uint64_t at = reinterpret_cast<std::uint64_t>(control.recorders);
  std::vector<detail::frame> frames;
  std::unordered_set<std::uint64_t> visited;
  std::size_t frames_read = 0;
  while (at != 0 && visited.size() != most_recorders && frames_read < most_frames && visited.insert(at).second) {
    detail::recorder_head head{};
    if (!of.in->read(at, head)) break;
    if (head.epoch == control.epoch && head.depth > head.base && head.depth <= detail::most_depth) {
      frames.resize(head.depth - head.base);
      frames_read += frames.size();
      if (of.in->read(at + detail::offset_of_frames + (head.base + std::size_t{1}) * sizeof(detail::frame),
                      frames.data(), frames.size() * sizeof(detail::frame)))
        for (const detail::frame& one : frames) {
          adaptyst_path path{};
          if (of.in->read(reinterpret_cast<std::uint64_t>(one.path), path)) ++open[path.id];
        }
    }
    at = reinterpret_cast<std::uint64_t>(head.next);
  }
  return open;
}

}  // namespace adaptyst::lib
