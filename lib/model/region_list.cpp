// Makes the list of regions from rows and keeps it between readings, so that only changed paths are made again. It
// makes the names of call paths and joins equal rows.
#include "region_list.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "../support/never_destroyed.hpp"
#include "heap_usage.hpp"

namespace adaptyst::lib {

namespace {

std::string display_name(const measured_site& site) {
  return site.label.empty() ? site.name : site.name + " [" + site.label + "]";
}

const measured_site& find_site(const measurements& in, const measured_path& path) {
  static const auto& unknown =
      never_destroyed<measured_site>({"(name unreadable)", {}, {}, {}, 0, ADAPTYST_SITE_REGION, {}});
  const auto found = in.sites.find(path.site);
  return found != in.sites.end() ? found->second : unknown;
}

constexpr const char* unknown_beginning = "(unknown)";

// Names from the root. A path with an unknown beginning, or with more than `max_names`, starts with "(unknown)". Data
// from a program's memory may be damaged and form a circle.
std::vector<std::string> spell(const measurements& in, std::uint64_t id, std::size_t max_names) {
  std::vector<std::string> names;
  max_names = std::min(max_names, in.paths.size() + 1);
  while (id != 0) {
    const auto path = in.paths.find(id);
    if (path == in.paths.end() || names.size() == max_names) {
      names.resize(std::min(names.size(), max_names - 1));
      names.emplace_back(unknown_beginning);
      break;
    }
    names.push_back(display_name(find_site(in, path->second)));
    id = path->second.parent;
  }
  std::reverse(names.begin(), names.end());
  return names;
}

// The limit is for all paths together: the names of a deep recursion grow with the square of its depth. 4,096 levels of
// a short name fit.
constexpr std::size_t max_path_bytes = std::size_t{288} << 20;

std::size_t bytes_in(const std::vector<std::string>& path) {
  constexpr std::size_t held_inside = 15;  // bytes that a text holds without allocation
  std::size_t sum = 0;
  for (const std::string& name : path)
    sum += sizeof(std::string) + (name.size() > held_inside ? name.size() + sizeof(std::size_t) : 0);
  return sum;
}

// Paths are ordered by depth, then by id. Each parent path is visited once.
void sort_by_depth(std::vector<std::uint64_t>& ids, const measurements& in) {
  std::unordered_map<std::uint64_t, std::size_t> depths{{0, 0}};
  std::vector<std::uint64_t> above;
  const auto depth = [&](std::uint64_t id) {
    above.clear();
    for (std::uint64_t at = id; depths.find(at) == depths.end();) {
      const auto path = in.paths.find(at);
      depths[at] = 0;  // it may be a circle
      above.push_back(at);
      at = path != in.paths.end() ? path->second.parent : 0;
      if (depths.find(at) != depths.end()) {
        std::size_t steps = depths[at];
        for (auto id_above = above.rbegin(); id_above != above.rend(); ++id_above) depths[*id_above] = ++steps;
      }
    }
    return depths[id];
  };
  std::vector<std::pair<std::size_t, std::uint64_t>> sorted;
  sorted.reserve(ids.size());
  for (const std::uint64_t id : ids) sorted.emplace_back(depth(id), id);
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t at = 0; at != ids.size(); ++at) ids[at] = sorted[at].second;
}

}  // namespace

// The names of a path: those of the parent, which mostly has a row already, and the last name. Looking up each level of each path
// would take time with the square of the depth.
std::vector<std::string> region_list::extend_path(const measurements& from, std::uint64_t id) const {
  const auto path = from.paths.find(id);
  const auto place = path != from.paths.end() ? places_.find(path->second.parent) : places_.end();
  if (place == places_.end() || place->second >= regions_.size()) return spell(from, id, max_path_names);
  const std::vector<std::string>& above = regions_[place->second].path;
  if (above.empty() || above.front() == unknown_beginning || above.size() >= max_path_names)
    return spell(from, id, max_path_names);
  std::vector<std::string> names;
  names.reserve(above.size() + 1);
  names = above;
  names.push_back(display_name(find_site(from, path->second)));
  return names;
}

// Makes a region with its names, without numbers.
region region_list::name(const measurements& from, std::uint64_t id) {
  region made;
  made.id = id;
  made.path = is_full_ ? spell(from, id, 2) : extend_path(from, id);
  if (!is_full_) {
    const std::size_t bytes = bytes_in(made.path);
    is_full_ = bytes > max_path_bytes - path_bytes_;
    if (is_full_) made.path = spell(from, id, 2);
    else path_bytes_ += bytes;
  }
  if (is_full_ && made.path.size() == 2 && made.path.front() == unknown_beginning) cut_.insert(id);
  const auto path = from.paths.find(id);
  const measured_site* const site = path != from.paths.end() ? &find_site(from, path->second) : nullptr;
  if (site != nullptr) {
    made.parent = path->second.parent;
    made.site = {site->file, site->line, site->function};
    const auto stated_level = static_cast<level>(site->level);
    if (stated_level >= level::application && stated_level <= level::hardware) made.level = stated_level;
    // Outside all regions, a metric is a row of the list.
    if (!is_of_enclosing(site->kind)) made.kind = to_region_kind(site->kind);
    if (path->second.device < device_index_.size()) made.device = device_index_[path->second.device];
  }
  return made;
}

// Sets the numbers of a region without numbers, except durations, which reuse its memory.
void region_list::count(region& made, const measurements& from) const {
  const std::uint64_t id = made.id;
  const auto path = from.paths.find(id);
  const measured_site* const site = path != from.paths.end() ? &find_site(from, path->second) : nullptr;
  const bool is_metric = site != nullptr && is_of_enclosing(site->kind);
  const auto found = from.rows.find(id);
  const bool has_durations = found != from.rows.end() && found->second.count != 0 && !is_metric &&
                             (site == nullptr || site->kind != ADAPTYST_SITE_MARK);
  if (!has_durations) made.durations = {};
  if (found != from.rows.end() && found->second.count != 0 && !is_metric) {
    const measured_row& row = found->second;
    made.threads = row.threads;
    made.count = row.count;
    if (has_durations) {
      made.total_ns = row.total_ns;
      made.self_ns = row.self_ns - std::min(row.self_ns, row.excess_ns);
      if (row.left_out != 0) {
        made.timed_events = row.timed();
        made.count_variance = row.count_variance;
        made.total_variance = row.total_variance;
      }
      const bool is_scope =
          site != nullptr && (site->kind == ADAPTYST_SITE_REGION || site->kind == ADAPTYST_SITE_CALLBACK);
      if (is_scope) made.per_thread = row.per_thread;
      made.min_ns = row.min_ns;
      made.max_ns = row.max_ns;
      made.durations = row.durations;
      for (std::size_t at = 0; site != nullptr && at < std::min(row.attributes.size(), site->attributes.size()); ++at)
        made.attributes[site->attributes[at]].merge(row.attributes[at]);
    }
  }
  heap_rows heap;
  if (const auto held = metrics_.find(id); held != metrics_.end())
    for (const std::uint64_t metric : held->second) {
      const measured_row& row = from.rows.at(metric);
      const measured_site& metric_site = find_site(from, from.paths.at(metric));
      if (row.attributes.empty()) continue;
      if (metric_site.kind == ADAPTYST_SITE_HEAP) {
        heap.add(row, metric_site);
        continue;
      }
      attribute sums = row.attributes.front();
      sums.metrics = sums.count;
      made.attributes[metric_site.name].merge(sums);
    }
  made.heap = heap.usage();
  if (found != from.rows.end()) {
    made.context = found->second.context;
    made.self_context = found->second.self_context;
    made.samples = found->second.samples;
  }
}

// Keeps the names from before, unless they were incomplete.
void region_list::refresh(region& existing, const measurements& from) {
  if (existing.path.empty() || existing.path.front() == unknown_beginning) {
    if (cut_.count(existing.id) == 0) {
      path_bytes_ -= std::min(path_bytes_, bytes_in(existing.path));
      existing = name(from, existing.id);
    }
  } else {
    region bare;
    bare.id = existing.id;
    bare.parent = existing.parent;
    bare.path = std::move(existing.path);
    bare.site = std::move(existing.site);
    bare.kind = existing.kind;
    bare.level = existing.level;
    bare.device = existing.device;
    bare.durations = std::move(existing.durations);  // reuses its memory
    existing = std::move(bare);
  }
  count(existing, from);
}

void region_list::update(const measurements& from, const std::vector<std::uint32_t>& device_index,
                         const path_set& changed) {
  if (device_index != device_index_) return update_all(from, device_index);
  std::vector<std::uint64_t> outdated;
  outdated.reserve(changed.size());
  for (const std::uint64_t id : changed) {
    const auto row = from.rows.find(id);
    if (row == from.rows.end()) return update_all(from, device_index);  // the row was removed
    if (row->second.count == 0 && !row->second.context) continue;
    const auto path = from.paths.find(id);
    const bool is_metric = path != from.paths.end() && is_of_enclosing(find_site(from, path->second).kind);
    // A metric belongs to the region that was open; outside any region it is a separate row.
    const std::uint64_t holder = is_metric ? find_holder(from, id) : id;
    if (is_metric) metrics_[holder].insert(id);
    outdated.push_back(holder);
  }
  std::sort(outdated.begin(), outdated.end());
  outdated.erase(std::unique(outdated.begin(), outdated.end()), outdated.end());
  const std::size_t existing = regions_.size();
  // If memory for names is used up, the deepest paths are cut.
  if (std::any_of(outdated.begin(), outdated.end(), [&](std::uint64_t id) { return places_.count(id) == 0; }))
    sort_by_depth(outdated, from);
  for (const std::uint64_t id : outdated) {
    const auto [place, is_new] = places_.try_emplace(id, regions_.size());
    if (is_new) {
      regions_.push_back(name(from, id));
      count(regions_.back(), from);
    } else {
      refresh(regions_[place->second], from);
    }
  }
  if (regions_.size() != existing) sort();
}

// The rows of the heap outside all regions are one row.
std::uint64_t region_list::find_holder(const measurements& from, std::uint64_t metric) {
  const measured_path& path = from.paths.at(metric);
  if (path.parent != 0) return path.parent;
  if (find_site(from, path).kind != ADAPTYST_SITE_HEAP) return metric;
  if (heap_outside_ == 0) heap_outside_ = metric;
  return heap_outside_;
}

void region_list::update_all(const measurements& from, const std::vector<std::uint32_t>& device_index) {
  *this = {};
  device_index_ = device_index;
  path_set all;
  for (const auto& [id, row] : from.rows) all.insert(id);
  update(from, device_index, all);
}

namespace {

struct group {
  std::size_t begin, end;
  std::size_t names;  // of their paths, which are equal
};

// By path, then by id. One name after another: most names of two deep paths are equal, and are compared once here.
void sort_by_path(std::vector<region*>& all) {
  std::vector<group> unsorted{{0, all.size(), 0}};
  while (!unsorted.empty()) {
    const group now = unsorted.back();
    unsorted.pop_back();
    const auto at = [&](std::size_t index) { return all.begin() + static_cast<std::ptrdiff_t>(index); };
    const auto longer =
        std::partition(at(now.begin), at(now.end), [&](const region* of) { return of->path.size() == now.names; });
    std::sort(at(now.begin), longer, [](const region* a, const region* b) { return a->id < b->id; });
    const auto next_name = [&](const region* of) -> const std::string& { return of->path[now.names]; };
    const auto find_other = [&](auto from) {
      return std::find_if(from, at(now.end), [&](const region* of) { return next_name(of) != next_name(*from); });
    };
    if (longer == at(now.end)) continue;
    if (find_other(longer) != at(now.end))
      std::sort(longer, at(now.end), [&](const region* a, const region* b) { return next_name(a) < next_name(b); });
    for (auto from = longer; from != at(now.end);) {
      const auto to = find_other(from);
      const auto begin = static_cast<std::size_t>(from - all.begin());
      const auto end = static_cast<std::size_t>(to - all.begin());
      if (end - begin > 1) unsorted.push_back({begin, end, now.names + 1});
      from = to;
    }
  }
}

}  // namespace

void region_list::sort() {
  // Each name is compared once; operator< of vectors compares it twice.
  const auto is_before = [](const region& a, const region& b) {
    const auto [in_a, in_b] = std::mismatch(a.path.begin(), a.path.end(), b.path.begin(), b.path.end());
    if (in_b == b.path.end()) return in_a == a.path.end() && a.id < b.id;
    return in_a == a.path.end() || *in_a < *in_b;
  };
  // A recursion without other branches is in order already.
  if (!std::is_sorted(regions_.begin(), regions_.end(), is_before)) {
    std::vector<region*> order;
    order.reserve(regions_.size());
    for (region& each : regions_) order.push_back(&each);
    sort_by_path(order);
    std::vector<region> sorted;
    sorted.reserve(regions_.size());
    for (region* const each : order) sorted.push_back(std::move(*each));
    regions_ = std::move(sorted);
  }
  for (std::size_t at = 0; at != regions_.size(); ++at) places_[regions_[at].id] = at;
}

std::vector<std::string> list_path_names(const measurements& in, std::uint64_t id) {
  return spell(in, id, max_path_names);
}

std::vector<region> assemble(const measurements& from, const std::vector<std::uint32_t>& device_index,
                             std::uint64_t* cut) {
  region_list once;
  once.update_all(from, device_index);
  if (cut != nullptr) *cut += once.cut();
  return once.take();
}

void join_same_rows(std::vector<region>& rows) {
  using key =
      std::tuple<std::uint64_t, std::string, region_kind, std::uint32_t, std::string, std::uint32_t, std::string>;
  std::map<key, std::uint64_t> first;
  std::unordered_map<std::uint64_t, std::uint64_t> kept_ids;  // by id, the id that is kept
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> threads;
  for (region& row : rows) {
    if (const auto kept = kept_ids.find(row.parent); kept != kept_ids.end()) row.parent = kept->second;
    const auto [same, is_new] = first.try_emplace(
        {row.parent, row.path.back(), row.kind, row.device, row.site.file, row.site.line, row.site.function}, row.id);
    if (!is_new) kept_ids[row.id] = same->second;
    row.id = same->second;
    std::uint32_t& largest = threads[{row.id, row.device}];  // mostly the same ids
    largest = std::max(largest, row.threads);
  }
  if (kept_ids.empty()) return;
  profile joined;
  joined.regions = std::move(rows);
  merge(joined, profile());
  rows = std::move(joined.regions);
  std::unordered_set<std::uint64_t> several;
  for (const auto& [id, kept] : kept_ids) several.insert(kept);
  for (region& row : rows) {
    row.threads = threads[{row.id, row.device}];
    if (several.count(row.id) != 0) row.per_thread.reset();  // a thread that ran two of them is in it twice
  }
}

}  // namespace adaptyst::lib
