#include "device_efficiency.hpp"

#include <algorithm>
#include <map>

namespace adaptyst::lib {

namespace {

struct device_time {
  std::uint64_t busy_ns = 0, active_ns = 0;
};

using times_by_device = std::map<std::uint32_t, device_time>;

std::optional<device_efficiency::factors> find_factors(const times_by_device& times, std::uint64_t devices,
                                                       std::uint64_t time_ns) {
  double sum = 0, max_busy = 0, max_active = 0;
  for (const auto& [device, time] : times) {
    sum += static_cast<double>(time.busy_ns);
    max_busy = std::max(max_busy, static_cast<double>(time.busy_ns));
    max_active = std::max(max_active, static_cast<double>(time.active_ns));
  }
  if (max_busy == 0 || time_ns == 0) return std::nullopt;
  const auto time = static_cast<double>(time_ns);
  const double mean = sum / static_cast<double>(devices);
  return device_efficiency::factors{mean / time, mean / max_busy, max_busy / max_active, max_active / time};
}

}  // namespace

device_efficiencies find_device_efficiencies(const std::vector<window_row>& rows, const window_grid& grid,
                                             std::uint64_t first_ns, std::uint64_t last_ns) {
  times_by_device whole;
  for (const window_row& row : rows) {
    device_time& time = whole[row.group];
    time.busy_ns += row.busy_ns;
    time.active_ns += row.active_ns;
  }
  const std::uint64_t devices = whole.size();
  device_efficiencies made;
  made.whole = {first_ns, last_ns, devices, find_factors(whole, devices, last_ns - first_ns)};
  for (auto row = rows.begin(); row != rows.end();) {
    const std::uint64_t window = row->window, start = grid.origin_ns + window * grid.width_ns;
    times_by_device times;
    for (; row != rows.end() && row->window == window; ++row) times[row->group] = {row->busy_ns, row->active_ns};
    const std::uint64_t begin = std::max(start, first_ns), end = std::min(start + grid.width_ns, last_ns);
    if (end > begin) made.windows.push_back({begin, end, devices, find_factors(times, devices, end - begin)});
  }
  return made;
}

}  // namespace adaptyst::lib
