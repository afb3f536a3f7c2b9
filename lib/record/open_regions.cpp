#include "open_regions.hpp"

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cstddef>
#include <vector>

#include "recorder_layout.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t most_recorders = 1 << 16;  // a program that lies may have them in a circle

}  // namespace

open_counts read_open_regions(const process_state& of) {
  open_counts open;
  detail::control_page control{};
  if (of.address == 0 || !has_known_layout(of) || !of.in->read(of.address, control)) return open;
  const std::uint64_t first_frame = layout_of_recorders().frames;
  std::uint64_t at = reinterpret_cast<std::uint64_t>(control.recorders);
  std::vector<detail::frame> frames;
  for (std::size_t count = 0; at != 0 && count != most_recorders; ++count) {
    detail::recorder_head head{};
    if (!of.in->read(at, head)) break;
    if (head.epoch == control.epoch && head.depth > head.base && head.depth <= detail::most_depth) {
      frames.resize(head.depth - head.base);
      if (of.in->read(at + first_frame + (head.base + std::size_t{1}) * sizeof(detail::frame), frames.data(),
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

}  // namespace adaptyst::lib
