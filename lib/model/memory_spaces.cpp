// Finds the metrics of memory spaces by their names, and adds up the regions of a profile.
#include "memory_spaces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace adaptyst::lib {

namespace {

struct space_sums {
  double allocated = 0, freed = 0, already = 0, most = -1, unknown = 0;
  std::uint64_t observations = 0;  // that began with bytes in use
  std::uint64_t region = 0;
  bool has_allocations = false;
};

// The rest of a text behind a beginning; empty: another beginning.
std::string_view behind(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin ? text.substr(begin.size()) : std::string_view();
}

// A program under observation may record any number.
bool is_count(double number) { return number >= 0 && number < 0x1p63; }
bool is_exact(double number) { return number >= 0 && number <= 0x1p53; }
std::uint64_t to_bytes(double number) { return static_cast<std::uint64_t>(std::llround(number)); }

}  // namespace

std::uint64_t count_processes(const profile& in) {
  const std::uint64_t listed = in.processes.size() + (in.unlisted ? in.unlisted->processes : 0);
  return std::max<std::uint64_t>({1, listed, in.ranks.value_or(0)});
}

std::vector<memory_space> list_memory_spaces(const profile& in) {
  std::map<std::string, space_sums, std::less<>> found;
  for (const region& row : in.regions)
    for (const auto& [name, values] : row.attributes) {
      if (values.metrics == 0) continue;
      if (const std::string_view space = behind(name, "bytes allocated in "); !space.empty()) {
        space_sums& sums = found[std::string(space)];
        sums.allocated += values.sum;
        sums.has_allocations = true;
      } else if (const std::string_view space = behind(name, "bytes freed in "); !space.empty()) {
        found[std::string(space)].freed += values.sum;
      } else if (const std::string_view space = behind(name, "bytes already in use in "); !space.empty()) {
        space_sums& sums = found[std::string(space)];
        sums.already += values.sum;
        sums.observations += values.metrics;
      } else if (const std::string_view space = behind(name, "unknown changes in "); !space.empty()) {
        found[std::string(space)].unknown += values.sum;
      } else if (const std::string_view space = behind(name, "bytes in use in "); !space.empty()) {
        space_sums& sums = found[std::string(space)];
        if (values.max <= sums.most) continue;
        sums.most = values.max;
        sums.region = row.id;
      }
    }
  std::vector<memory_space> made;
  for (const auto& [name, sums] : found) {
    if (!sums.has_allocations || !is_count(sums.most) || !is_count(sums.allocated) || !is_count(sums.freed)) continue;
    memory_space space{name, to_bytes(sums.allocated), to_bytes(sums.freed)};
    const double ever = sums.already + sums.allocated, live = ever - sums.freed;
    space.has_unknown_changes = sums.unknown != 0;
    // Each process begins once, and has never more bytes in use than it ever had.
    const bool is_consistent = sums.observations <= count_processes(in) && sums.most <= ever;
    if (is_consistent && is_exact(ever) && is_exact(live) && sums.unknown == 0 && in.accounting.lost.empty())
      space.live_bytes = to_bytes(live);
    space.high_water_bytes = to_bytes(sums.most);
    space.high_water_region = sums.region;
    made.push_back(std::move(space));
  }
  return made;
}

}  // namespace adaptyst::lib
