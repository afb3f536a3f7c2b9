#include "time_levels.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace adaptyst::lib {

namespace {

std::uint32_t in_255ths(std::uint64_t ns, std::uint64_t width_ns) {
  if (ns >= width_ns) return 255;
  return static_cast<std::uint32_t>((ns * 255 + width_ns - 1) / width_ns);
}

// Fills buckets from left to right.
class filling {
 public:
  filling(std::uint64_t width_ns, std::vector<time_bucket>& to) : width_ns_(width_ns), to_(to) {}

  void add(std::uint64_t number, std::uint32_t site, std::uint64_t ns, std::uint64_t begins) {
    if (!is_open_ || number != number_) close();
    is_open_ = true;
    number_ = number;
    count_ += begins;
    for (auto& [part_site, sum] : parts_)
      if (part_site == site) {
        sum += ns;
        return;
      }
    parts_.emplace_back(site, ns);
  }
  void close() {
    if (!is_open_) return;
    std::uint64_t all = 0;
    std::pair<std::uint32_t, std::uint64_t> most = parts_.front();
    for (const auto& part : parts_) {
      all += part.second;
      if (part.second > most.second) most = part;
    }
    to_.push_back({number_, most.first, in_255ths(all, width_ns_), count_});
    parts_.clear();
    count_ = 0;
    is_open_ = false;
  }

 private:
  std::uint64_t width_ns_;
  std::vector<time_bucket>& to_;
  bool is_open_ = false;
  std::uint64_t number_ = 0, count_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> parts_;
};

}  // namespace

std::vector<time_level> make_levels(const timeline_tracks& of, const timeline_row& row) {
  const std::vector<timeline_interval>& kept = of.tracks()[row.track].kept;
  std::vector<time_level> made;
  for (unsigned level = 0; level <= timeline_tracks::max_level; ++level) {
    const std::uint64_t buckets = timeline_tracks::coarsest_buckets << 2 * level;
    if (level != 0 && buckets > row.intervals.size() / 16) break;
    made.push_back({level, {}});
    const std::uint64_t width = of.width_ns(level);
    filling to(width, made.back().buckets);
    for (const std::uint32_t number : row.intervals) {
      const std::uint64_t end = kept[number].end_ns - of.first_ns();
      std::uint64_t at = kept[number].begin_ns - of.first_ns(), begins = 1;
      do {
        const std::uint64_t next = std::min((at / width + 1) * width, end);
        to.add(at / width, kept[number].site, next - at, begins);
        at = next;
        begins = 0;
      } while (at < end);
    }
    to.close();
  }
  return made;
}

std::vector<time_level> make_levels_of_sums(const timeline_tracks& of, const timeline_track& track) {
  const std::map<std::uint32_t, summed_intervals> sums(track.sums.begin(), track.sums.end());
  std::vector<time_level> made;
  for (unsigned level = 0; level <= of.level_of_sums(); ++level) {
    made.push_back({level, {}});
    filling to(of.width_ns(level), made.back().buckets);
    const std::uint64_t fine = of.width_ns(of.level_of_sums());
    for (const auto& [number, sum] : sums) to.add(number * fine / of.width_ns(level), sum.site, sum.sum_ns, sum.count);
    to.close();
  }
  return made;
}

}  // namespace adaptyst::lib
