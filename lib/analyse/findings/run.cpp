#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "../../model/mpi_usage.hpp"
#include "../../model/unmarked.hpp"

namespace adaptyst::lib {

double compute_duration(const profile& profile) { return static_cast<double>(compute_wall_ns(profile)); }

bool is_significant(double time_ns, double whole_ns) {
  return whole_ns > 0 && time_ns >= min_time_ns && time_ns >= min_share * whole_ns;
}

finding found_in(const profile& profile, const region& row, finding_kind kind, double time_ns) {
  finding made;
  made.kind = kind;
  made.path = row.path;
  made.region = row.id;
  made.device = row.device;
  made.time_ns = time_ns;
  made.share = time_ns / compute_duration(profile);
  return made;
}

finding found_on(const profile& profile, std::uint32_t device, finding_kind kind, double time_ns) {
  finding made;
  made.kind = kind;
  made.device = device;
  made.time_ns = time_ns;
  made.share = time_ns / static_cast<double>(profile.devices[device].observed_ns);
  return made;
}

double find_rank_error(const region& row) {
  if (!row.across_ranks || row.across_ranks->ranks == 0) return 0;
  return std::sqrt(row.total_variance.value_or(0) / static_cast<double>(row.across_ranks->ranks));
}

namespace {

void take(std::uint64_t& from, std::uint64_t what) { from -= std::min(from, what); }

void take(std::optional<std::uint64_t>& from, const std::optional<std::uint64_t>& what) {
  if (from && what) take(*from, *what);
  else from.reset();
}

void take(os_context& from, const os_context& what) {
  using of = os_context;
  for (const auto member : {&of::wall_ns, &of::runnable_ns, &of::sleep_ns, &of::lock_ns, &of::io_ns, &of::other_ns,
                            &of::voluntary_switches, &of::involuntary_switches, &of::migrations})
    take(from.*member, what.*member);
  for (const auto member : {&of::minor_faults, &of::major_faults, &of::cycles, &of::instructions, &of::cache_misses})
    take(from.*member, what.*member);
}

}  // namespace

std::optional<double> find_known_part(double known_ns, double all_ns) {
  constexpr double as_good_as_all = 0.99;
  if (all_ns <= 0 || known_ns >= as_good_as_all * all_ns) return std::nullopt;
  return known_ns / all_ns;
}

std::optional<double> own_context::known_part() const {
  return find_known_part(static_cast<double>(of.wall_ns), static_cast<double>(expected_ns));
}

own_contexts::own_contexts(const profile& in) {
  std::unordered_map<std::uint64_t, const region*> by_id;
  for (const region& row : in.regions) {
    if (in.is_host(row.device) || row.device == 0) by_id.emplace(row.id, &row);
    if (row.self_context) all_[&row] = {*row.self_context, 0, row.self_ns};
    else if (row.context) all_[&row] = {*row.context, 0, row.total_ns};
  }
  // Subtracts nested regions with a known context from the region around them; regions with sampled events remain
  // included.
  for (const region& row : in.regions) {
    if (!row.context) continue;
    const region* around = nullptr;
    std::size_t step = 0;
    for (auto above = by_id.find(row.parent); above != by_id.end() && step++ != row.path.size();
         above = by_id.find(above->second->parent))
      if (above->second->context || above->second->self_context) {
        around = above->second;
        break;
      }
    if (around == nullptr || around == &row || around->self_context) continue;
    own_context& own = all_[around];
    take(own.of, *row.context);
    take(own.expected_ns, row.total_ns);
  }
  for (auto entry = all_.begin(); entry != all_.end();) {
    const std::optional<std::uint64_t> on_cpu_ns = entry->second.of.on_cpu_ns();
    entry->second.on_cpu_ns = on_cpu_ns.value_or(0);
    entry = entry->second.of.wall_ns != 0 && on_cpu_ns ? std::next(entry) : all_.erase(entry);
  }
}

const own_context* own_contexts::find(const region& row) const {
  const auto found = all_.find(&row);
  return found != all_.end() ? &found->second : nullptr;
}

bool is_below(const finding& inner, const finding& outer) {
  return inner.path.size() > outer.path.size() && std::equal(outer.path.begin(), outer.path.end(), inner.path.begin());
}

bool is_paging(const os_context& own) {
  const std::uint64_t faults = own.major_faults.value_or(0);
  return faults >= min_events && 2 * faults > own.voluntary_switches;
}

bool is_a_wait(const region& row) {
  return row.kind == region_kind::wait || row.kind == region_kind::offload || is_mpi_call(row);
}

}  // namespace adaptyst::lib
