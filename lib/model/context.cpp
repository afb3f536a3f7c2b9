// Adds the kernel's context to the rows: first for the region itself, then summed up the call tree.
#include "context.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

namespace adaptyst::lib { namespace {

bool is_in_tree(const measurements& in, std::uint64_t path) {
  const auto entry = in.paths.find(path);
  if (entry == in.paths.end()) return false;
  const auto site = in.sites.find(entry->second.site);
  if (site == in.sites.end()) return false;
  return is_scope(site->second.kind) || site->second.kind == ADAPTYST_SITE_FUNCTION;
}

context_part nothing_in(const context_sums& sums) {
  context_part none;
  if (sums.with_faults) none.minor_faults = none.major_faults = 0;
  if (sums.counts_cycles) none.cycles = 0;
  if (sums.counts_instructions) none.instructions = 0;
  if (sums.counts_cache_misses) none.cache_misses = 0;
  return none;
}

// A probe without events on a path has no row for it; its values are then 0.
context_part complete(context_part context, const context_sums& sums) {
  using of = os_context;
  const os_context none = nothing_in(sums);
  for (const auto member : {&of::minor_faults, &of::major_faults, &of::cycles, &of::instructions, &of::cache_misses})
    if (!(context.*member)) context.*member = none.*member;
  return context;
}

// The whole of the parts. A page fault in progress has been counted, but its kind has not.
os_context settle(const context_part& whole, const context_sums& sums) {
  os_context made = whole;
  if (const std::vector<double>& all = whole.window_deviations; !all.empty())
    made.faults_variance =
        made.faults_variance.value_or(0) +
        std::inner_product(all.begin(), all.end(), all.begin(), 0.0) / static_cast<double>(all.size());
  if (whole.has_unseen_faults && sums.unseen_faults)
    made.faults_variance = made.faults_variance.value_or(0) + *sums.unseen_faults * *sums.unseen_faults;
  if (made.major_faults) made.minor_faults = whole.page_faults - std::min(whole.page_faults, *made.major_faults);
  return made;
}

// 0: no parent.
std::uint64_t find_parent(const measurements& in, std::uint64_t path) {
  const auto entry = in.paths.find(path);
  return entry != in.paths.end() ? entry->second.parent : 0;
}

// These paths and all paths above them, because the thread was in these regions as well.
path_set with_all_above(const path_set& paths, const measurements& in) {
  path_set all;
  for (std::uint64_t at : paths)
    for (; at != 0 && all.insert(at).second; at = find_parent(in, at)) {}
  return all;
}

// Includes the nested paths of each path. Paths of a damaged program may form a circle.
std::unordered_map<std::uint64_t, context_part> inclusive(const measurements& in, const context_sums& from) {
  std::unordered_map<std::uint64_t, context_part> all;
  for (const auto& [path, own] : from.by_path) {
    std::uint64_t at = path;
    const context_part part = complete(own, from);
    for (std::size_t step = 0; at != 0 && step != max_path_names; ++step) {
      all[at].merge(part);
      at = find_parent(in, at);
    }
  }
  return all;
}

}}  // namespace adaptyst::lib

namespace adaptyst { inline namespace v1 {

std::optional<std::uint64_t> os_context::on_cpu_ns() const {
  const std::uint64_t off_ns = runnable_ns + blocked_ns();
  if (open != 0 || wall_ns == 0) return std::nullopt;
  if (off_ns <= wall_ns) return wall_ns - off_ns;
  // An estimate exceeds the wall time by chance where the thread hardly ran. By more than three errors, it is wrong.
  const double error_ns = std::sqrt(runnable_variance.value_or(0) + blocked_variance.value_or(0));
  return static_cast<double>(off_ns - wall_ns) <= 3 * error_ns ? std::optional<std::uint64_t>(0) : std::nullopt;
}

}}  // namespace adaptyst::v1

namespace adaptyst::lib {

void context_part::merge(const context_part& other) {
  os_context::merge(other);
  page_faults += other.page_faults;
  has_unseen_faults = has_unseen_faults || other.has_unseen_faults;
  window_deviations.resize(std::max(window_deviations.size(), other.window_deviations.size()));
  std::transform(other.window_deviations.begin(), other.window_deviations.end(), window_deviations.begin(),
                 window_deviations.begin(), std::plus<>());
}

void unannounced_threads::merge(unannounced_threads&& other) {
  threads += other.threads;
  paths.merge(other.paths);
  ran_any_path = ran_any_path || other.ran_any_path;
}

void context_sums::leave_out(unannounced_threads&& threads) {
  unannounced = std::move(threads);
  if (unannounced.threads != 0) account.lost[loss_reason::not_announced] += unannounced.threads;
}

void add_context(measurements& sum, const context_sums& from, const open_region_counts& open) {
  const auto with_below = inclusive(sum, from);
  for (const auto& [path, all] : with_below)
    if (is_in_tree(sum, path)) sum.rows[path];
  // An event that the overhead budget skips is not on the stack, so its context counts for the region around it. The
  // context is therefore unknown for rows with sampled events, and for regions around them without nested regions.
  const path_set above_left_out = find_parents_of_left_out(sum);
  // If data was lost, a path without context may have lost its context.
  const bool is_incomplete = std::any_of(from.account.lost.begin(), from.account.lost.end(), [](const auto& loss) {
    return loss.first != loss_reason::no_wakeup && loss.first != loss_reason::not_announced &&
           loss.first != loss_reason::not_attached;
  });
  // No event was drawn, and an unknown number was skipped: as in one drawn event.
  const auto of_one_recorded = [](std::uint64_t one_of) {
    return static_cast<double>(one_of) * static_cast<double>(one_of - 1);
  };
  const path_set unannounced = with_all_above(from.unannounced.paths, sum);
  const auto ran_unannounced = [&](std::uint64_t id) {
    const measured_path& path = sum.paths.at(id);
    if (from.unannounced.ran_any_path && sum.sites.at(path.site).kind != ADAPTYST_SITE_FUNCTION) return true;
    return unannounced.count(id) != 0 || (path.marker != 0 && unannounced.count(path.marker) != 0);
  };
  for (auto& [id, row] : sum.rows) {
    if (!is_in_tree(sum, id) || row.left_out != 0 || ran_unannounced(id)) continue;
    if (is_incomplete && with_below.find(id) == with_below.end()) continue;
    const auto opened = open.find(id);
    const auto given = [&, path = id](const std::unordered_map<std::uint64_t, context_part>& by_path,
                                      std::uint64_t wall_ns) {
      const auto found = by_path.find(path);
      const context_part whole = found != by_path.end() ? complete(found->second, from) : nothing_in(from);
      os_context made = settle(whole, from);
      if (const auto one_of = from.account.faults_one_of; one_of && whole.page_faults == 0 && !made.faults_variance)
        made.faults_variance =
            from.unseen_faults ? *from.unseen_faults * *from.unseen_faults : of_one_recorded(*one_of);
      if (const auto one_of = from.account.switches_one_of; one_of && !made.voluntary_variance)
        made.voluntary_variance = made.involuntary_variance = made.migrations_variance = of_one_recorded(*one_of);
      made.wall_ns = wall_ns;
      made.open = opened != open.end() ? opened->second : 0;
      return made;
    };
    row.context = given(with_below, row.total_ns);
    if (above_left_out.count(id) == 0) row.self_context = given(from.by_path, row.self_ns);
  }
}

path_set find_parents_of_left_out(const measurements& in) {
  path_set parents;
  for (const auto& [id, row] : in.rows)
    if (const auto path = in.paths.find(id); row.left_out != 0 && path != in.paths.end())
      parents.insert(path->second.parent);
  return parents;
}

path_set find_complete_scopes(const measurements& in) {
  const path_set incomplete = find_parents_of_left_out(in);
  path_set all;
  for (const auto& [id, row] : in.rows)
    if (is_in_tree(in, id) && row.left_out == 0 && incomplete.count(id) == 0) all.insert(id);
  return all;
}

std::optional<core_waits> sum_core_waits(const profile& in) {
  if (!in.is_host(0) || !in.devices[0].context || in.unlisted || in.processes.empty()) return std::nullopt;
  const os_context& all = *in.devices[0].context;
  const auto waited_ns = static_cast<double>(all.runnable_ns);
  core_waits sum{waited_ns, waited_ns, all.involuntary_switches};
  for (const process_info& process : in.processes) {
    if (!process.cpu_ns) return std::nullopt;
    sum.able_ns += static_cast<double>(*process.cpu_ns);
  }
  return sum;
}

std::optional<os_context> sum_context(const context_sums& all) {
  if (all.account.threads == 0 && all.by_path.empty()) return std::nullopt;
  context_part sum = nothing_in(all);
  for (const auto& [path, sums] : all.by_path) sum.merge(complete(sums, all));
  return settle(sum, all);
}

}  // namespace adaptyst::lib
