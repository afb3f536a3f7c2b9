#include <algorithm>
#include <cmath>

#include "measured.hpp"

namespace adaptyst::lib {

std::string site_kind_name(std::uint32_t kind) {
  switch (kind) {
    case ADAPTYST_SITE_OFFLOAD: return "offload";
    case ADAPTYST_SITE_MARK: return "mark";
    case ADAPTYST_SITE_FUNCTION: return "function";
    case ADAPTYST_SITE_KERNEL: return "kernel";
    case ADAPTYST_SITE_COPY_TO: return "copy_to";
    case ADAPTYST_SITE_COPY_FROM: return "copy_from";
    case ADAPTYST_SITE_FILL: return "fill";
    case ADAPTYST_SITE_OTHER: return "other";
    default: return "region";
  }
}

namespace {

std::string display_name(const measured_site& site) {
  return site.label.empty() ? site.name : site.name + " [" + site.label + "]";
}

const measured_site& site_of(const measured& in, const measured_path& path) {
  static const measured_site unknown{"(name unreadable)", {}, {}, {}, 0, ADAPTYST_SITE_REGION, {}};
  const auto found = in.sites.find(path.site);
  return found != in.sites.end() ? found->second : unknown;
}

constexpr const char* unknown = "(unknown)";

// Names from the root; a path whose beginning was never seen, or that has more than `most`, starts with "(unknown)". What
// was read from a program's memory may be damaged, and lead in a circle.
std::vector<std::string> spell(const measured& in, std::uint64_t id, std::size_t most) {
  std::vector<std::string> names;
  most = std::min(most, in.paths.size() + 1);
  while (id != 0) {
    const auto path = in.paths.find(id);
    if (path == in.paths.end() || names.size() == most) {
      names.resize(std::min(names.size(), most - 1));
      names.emplace_back(unknown);
      break;
    }
    names.push_back(display_name(site_of(in, path->second)));
    id = path->second.parent;
  }
  std::reverse(names.begin(), names.end());
  return names;
}

// How long paths may be, so that all of them find room: as long as they are, unless a program lies.
class room_for_names {
 public:
  std::size_t of_path() const { return left_ < most_names_of_path ? 2 : most_names_of_path; }
  void take(std::size_t names) { left_ -= std::min(left_, names); }

 private:
  std::size_t left_ = std::size_t{1} << 24;
};

}  // namespace

void add(measured_row& to, const measured_row& from) {
  to.count += from.count;
  to.total_ns += from.total_ns;
  to.self_ns += from.self_ns;
  to.min_ns = std::min(to.min_ns, from.min_ns);
  to.max_ns = std::max(to.max_ns, from.max_ns);
  to.threads += from.threads;
  to.durations.merge(from.durations);
  if (to.attributes.size() < from.attributes.size()) to.attributes.resize(from.attributes.size());
  for (std::size_t at = 0; at != from.attributes.size(); ++at) to.attributes[at].merge(from.attributes[at]);
}

void add(account& to, const account& from) {
  to.begun += from.begun;
  to.ended += from.ended;
  to.open += from.open;
  to.unmatched += from.unmatched;
  to.unnamed += from.unnamed;
  for (const auto& [why, count] : from.lost) to.lost[why] += count;
}

void add(measured& to, const measured& from) {
  to.sites.insert(from.sites.begin(), from.sites.end());
  to.paths.insert(from.paths.begin(), from.paths.end());
  for (const auto& [id, row] : from.rows) add(to.rows[id], row);
  add(to.accounting, from.accounting);
}

std::vector<region> assemble(const measured& from, const std::vector<std::uint32_t>& device_index) {
  std::unordered_map<std::uint64_t, region> regions;
  room_for_names room;
  const auto region_of = [&](std::uint64_t id) -> region& {
    const auto [entry, is_new] = regions.try_emplace(id);
    region& made = entry->second;
    if (!is_new) return made;
    made.id = id;
    made.path = spell(from, id, room.of_path());
    room.take(made.path.size());
    if (const auto path = from.paths.find(id); path != from.paths.end()) {
      const measured_site& site = site_of(from, path->second);
      made.parent = path->second.parent;
      made.site = {site.file, site.line, site.function};
      made.kind = site_kind_name(site.kind);
      if (path->second.device < device_index.size()) made.device = device_index[path->second.device];
    } else {
      made.kind = site_kind_name(ADAPTYST_SITE_REGION);
    }
    return made;
  };

  for (const auto& [id, row] : from.rows) {
    if (row.count == 0) continue;
    const auto path = from.paths.find(id);
    const measured_site* const site = path != from.paths.end() ? &site_of(from, path->second) : nullptr;
    if (site != nullptr && site->kind == ADAPTYST_SITE_METRIC) {
      // A number belongs to the region that was open; outside any region it stands for itself.
      region& holder = region_of(path->second.parent != 0 ? path->second.parent : id);
      if (!row.attributes.empty()) holder.attributes[site->name].merge(row.attributes.front());
      continue;
    }
    region& into = region_of(id);
    into.threads = row.threads;
    into.count = row.count;
    if (site != nullptr && site->kind == ADAPTYST_SITE_MARK) continue;
    into.total_ns = row.total_ns;
    into.self_ns = row.self_ns;
    into.min_ns = row.min_ns;
    into.max_ns = row.max_ns;
    into.durations = row.durations;
    for (std::size_t at = 0; site != nullptr && at < std::min(row.attributes.size(), site->attributes.size()); ++at)
      into.attributes[site->attributes[at]].merge(row.attributes[at]);
  }

  std::vector<region> sorted;
  sorted.reserve(regions.size());
  for (auto& [id, made] : regions) sorted.push_back(std::move(made));
  std::sort(sorted.begin(), sorted.end(),
            [](const region& a, const region& b) { return a.path != b.path ? a.path < b.path : a.id < b.id; });
  return sorted;
}

}  // namespace adaptyst::lib
