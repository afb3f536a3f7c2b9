// The data about the ranks of an MPI program. Everything is a sum of integers or the first in a fixed order, so merging
// in any order and grouping gives the same result.
#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace adaptyst { inline namespace v1 {

namespace {

__extension__ typedef unsigned __int128 wide;  // NOLINT(modernize-use-using): invalid after __extension__

wide value(const wide_sum& sum) { return static_cast<wide>(sum.high) << 64U | sum.low; }
constexpr std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max();
bool is_full(const wide_sum& sum) { return sum.high == greatest && sum.low == greatest; }

double to_double(wide number) {
  return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(number >> 64U)), 64) +
         static_cast<double>(static_cast<std::uint64_t>(number));
}

auto by_rank(const rank_place& place) { return std::tie(place.rank, place.host); }

// FNV-1a, then mixed: host names often differ only in the last digit.
std::uint64_t hash(const std::string& text) {
  std::uint64_t made = 0xcbf29ce484222325;
  for (const char c : text) made = (made ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  made = (made ^ made >> 33U) * 0xff51afd7ed558ccd;
  made = (made ^ made >> 33U) * 0xc4ceb9fe1a85ec53;
  return made ^ made >> 33U;
}

}  // namespace

void wide_sum::add(const wide_sum& more) {
  const wide before = value(*this);
  const wide after = before + value(more);
  const wide kept = after < before ? ~wide{0} : after;
  high = static_cast<std::uint64_t>(kept >> 64U);
  low = static_cast<std::uint64_t>(kept);
}

void wide_sum::add_square(std::uint64_t number) {
  const wide square = static_cast<wide>(number) * number;
  add({static_cast<std::uint64_t>(square >> 64U), static_cast<std::uint64_t>(square)});
}

void rank_totals::add(std::uint64_t value, std::uint32_t rank, const std::string& host) {
  rank_totals totals;
  totals.min = totals.max = value;
  totals.min_rank = totals.max_rank = rank;
  totals.min_host = totals.max_host = host;
  totals.sum.low = value;
  totals.squares.add_square(value);
  totals.values.add(value);
  merge(totals);
}

void rank_totals::merge(const rank_totals& other) {
  if (other.values.count() == 0) return;
  const bool is_first = values.count() == 0;
  if (is_first || std::tie(other.min, other.min_rank, other.min_host) < std::tie(min, min_rank, min_host)) {
    min = other.min;
    min_rank = other.min_rank;
    min_host = other.min_host;
  }
  if (is_first || std::tie(max, other.max_rank, other.max_host) < std::tie(other.max, max_rank, max_host)) {
    max = other.max;
    max_rank = other.max_rank;
    max_host = other.max_host;
  }
  sum.add(other.sum);
  squares.add(other.squares);
  values.merge(other.values);
}

std::optional<double> rank_totals::mean() const {
  if (values.count() == 0) return std::nullopt;
  return to_double(v1::value(sum)) / static_cast<double>(values.count());
}

// Uses integers as long as possible, to avoid cancellation. With the quotient q and the rest r of sum / n, the squared
// distances from q add up to squares - q (sum + r). The term r * r / n corrects for q.
std::optional<double> rank_totals::stddev() const {
  const wide n = values.count();
  if (n == 0 || is_full(squares)) return std::nullopt;
  const wide all = v1::value(sum), q = all / n, r = all % n;
  const double distances = to_double(v1::value(squares) - q * (all + r));
  const double off = to_double(r) * to_double(r) / to_double(n);
  return std::sqrt(std::max(0.0, distances - off) / to_double(n));
}

std::optional<std::uint64_t> rank_totals::quantile(double q) const {
  const std::optional<std::uint64_t> found = values.quantile(q);
  return found ? std::optional(std::clamp(*found, min, std::max(min, max))) : std::nullopt;
}

void rank_spread::merge(const rank_spread& other) {
  ranks += other.ranks;
  total_ns.merge(other.total_ns);
}

std::optional<double> rank_spread::imbalance() const {
  const std::optional<double> mean = total_ns.mean();
  if (!mean || *mean == 0) return std::nullopt;
  return std::max(0.0, static_cast<double>(total_ns.max) / *mean - 1);
}

void rank_list::add(std::uint32_t rank, const std::string& host) {
  rank_list list;
  list.count = 1;
  list.first.push_back({rank, host});
  merge(list);
}

void rank_list::merge(const rank_list& other) {
  count += other.count;
  if (other.first.empty()) return;
  first.insert(first.end(), other.first.begin(), other.first.end());
  std::sort(first.begin(), first.end(),
            [](const rank_place& a, const rank_place& b) { return by_rank(a) < by_rank(b); });
  if (first.size() > max_first) first.resize(max_first);
}

void rank_account::merge(const rank_account& other) {
  end = std::max(end, other.end);
  if (hosts != other.hosts) {
    hosts.insert(hosts.end(), other.hosts.begin(), other.hosts.end());
    std::vector<std::pair<std::uint64_t, std::string>> all;
    for (std::string& host : hosts) all.emplace_back(hash(host), std::move(host));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() > max_hosts) all.resize(max_hosts);
    hosts.clear();
    for (auto& [number, host] : all) hosts.push_back(std::move(host));
  }
  for (const program_ranks& theirs : other.programs) {
    const auto at =
        std::lower_bound(programs.begin(), programs.end(), theirs,
                         [](const program_ranks& a, const program_ranks& b) { return a.program < b.program; });
    if (at != programs.end() && at->program == theirs.program) at->ranks.merge(theirs.ranks);
    else programs.insert(at, theirs);
  }
  if (programs.size() > max_programs) programs.resize(max_programs);
  without_regions.merge(other.without_regions);
  killed.merge(other.killed);
  missing.merge(other.missing);
}

// Hashes are evenly distributed, so the greatest of the k lowest hashes gives their density.
std::uint64_t rank_account::count_hosts() const {
  if (hosts.size() < max_hosts) return hosts.size();
  const double part = std::ldexp(static_cast<double>(hash(hosts.back())), -64);
  return part <= 0 ? hosts.size()
                   : static_cast<std::uint64_t>(std::llround(static_cast<double>(hosts.size() - 1) / part));
}

}}  // namespace adaptyst::v1
