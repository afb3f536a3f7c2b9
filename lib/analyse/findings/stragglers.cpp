// Finds ranks and nodes that are much slower in a region than the others, from the median and spread of their times.
#include "stragglers.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "run.hpp"

namespace adaptyst::lib {

namespace {

constexpr double min_beyond = 0.2;  // of the median
constexpr double max_rank_share = 0.25;
constexpr double min_node_share = 0.75;  // at least this share of slow ranks: the node is slow

double find_median(std::vector<double> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  if (all.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(all.begin(), middle)) / 2;
}

// The time above which a rank is a straggler.
double find_limit(const std::vector<double>& times, double median) {
  std::vector<double> distances;
  distances.reserve(times.size());
  for (const double time : times) distances.push_back(std::abs(time - median));
  const double spread = 1.4826 * find_median(std::move(distances));  // the standard deviation of a normal distribution
  const double factor = 7 + 100 / static_cast<double>(times.size());
  return median + std::max(factor * spread, min_beyond * median);
}

struct node {
  std::vector<std::uint32_t> slow;
  std::size_t ranks = 0;
  double sum_ns = 0;  // of the slow ranks

  bool is_slow() const {
    return slow.size() >= 2 && static_cast<double>(slow.size()) >= min_node_share * static_cast<double>(ranks);
  }
};

}  // namespace

std::vector<straggler> find_stragglers(const std::vector<std::optional<std::uint64_t>>& times,
                                       const std::vector<std::string>& hosts) {
  std::vector<double> measured;
  for (const std::optional<std::uint64_t>& time : times)
    if (time) measured.push_back(static_cast<double>(*time));
  if (measured.size() < min_ranks) return {};
  const double median = find_median(measured), limit = find_limit(measured, median);
  const auto count = std::count_if(measured.begin(), measured.end(), [&](double time) { return time > limit; });
  if (count == 0 || static_cast<double>(count) > max_rank_share * static_cast<double>(measured.size())) return {};

  std::map<std::string, node> nodes;
  for (std::uint32_t rank = 0; rank != times.size(); ++rank) {
    if (!times[rank]) continue;
    node& at = nodes[rank < hosts.size() ? hosts[rank] : ""];
    ++at.ranks;
    if (static_cast<double>(*times[rank]) <= limit) continue;
    at.slow.push_back(rank);
    at.sum_ns += static_cast<double>(*times[rank]);
  }
  std::vector<straggler> all;
  for (const auto& [host, at] : nodes) {
    if (!host.empty() && at.is_slow()) {
      all.push_back({std::nullopt, host, at.slow.size(), at.sum_ns / static_cast<double>(at.slow.size()), median});
      continue;
    }
    for (const std::uint32_t rank : at.slow) all.push_back({rank, host, 1, static_cast<double>(*times[rank]), median});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const straggler& a, const straggler& b) { return a.time_ns > b.time_ns; });
  return all;
}

std::vector<std::string> list_hosts(const profile& profile) {
  std::vector<std::string> hosts;
  for (const process_info& process : profile.processes) {
    if (!process.rank || !profile.heat || *process.rank >= profile.heat->ranks) continue;
    if (hosts.size() <= *process.rank) hosts.resize(*process.rank + std::size_t{1});
    hosts[*process.rank] = process.host;
  }
  return hosts;
}

}  // namespace adaptyst::lib
