#include "device_efficiency.hpp"

#include <algorithm>
#include <map>

namespace adaptyst::lib {

namespace {

struct device_time {
  std::uint64_t busy_ns = 0, active_ns = 0;
};

}  // namespace

device_efficiencies find_device_efficiencies(const std::vector<window_row>& rows, const window_grid& grid,
                                             std::uint64_t first_ns, std::uint64_t last_ns) {
  std::map<std::uint32_t, device_time> times;
  for (const window_row& row : rows) {
    device_time& time = times[row.group];
    time.busy_ns += row.busy_ns;
    time.active_ns += row.active_ns;
  }
  const std::uint64_t devices = times.size();
  device_sums whole;
  for (const auto& [device, time] : times) whole.add(time.busy_ns, time.active_ns);
  device_efficiencies made;
  made.whole = {first_ns, last_ns, devices, whole.find_factors(devices, last_ns - first_ns)};
  for (auto row = rows.begin(); row != rows.end();) {
    const std::uint64_t window = row->window, start = grid.origin_ns + window * grid.width_ns;
    device_sums sums;
    for (; row != rows.end() && row->window == window; ++row) sums.add(row->busy_ns, row->active_ns);
    const std::uint64_t begin = std::max(start, first_ns), end = std::min(start + grid.width_ns, last_ns);
    if (end > begin) made.windows.push_back({begin, end, devices, sums.find_factors(devices, end - begin)});
  }
  return made;
}

}  // namespace adaptyst::lib
