// Counts events by marker, for the overhead budget. Writes the steps of markers, and the settings of levels, into a
// process.
#include "site_counts.hpp"

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

// The data may be damaged and circular.
constexpr std::size_t max_paths_of_poll = 1 << 18;

}  // namespace

bool site_counts::know_site(const memory& in, std::uint64_t address) {
  if (sites_.find(address) != sites_.end()) return true;
  adaptyst_site site{};
  if (sites_.size() == detail::max_sites || !in.read(address, site) || site.id == 0) return false;
  site_count made;
  made.id = site.id;
  made.kind = site.kind;
  made.step_at = as_address(site.step);
  if (std::uint64_t step = 0; in.read(made.step_at, step) && step <= ADAPTYST_STEP_LAST)
    made.step = static_cast<std::uint32_t>(step);
  sites_.emplace(address, made);
  return true;
}

// Reads the paths above this path first, from the outermost. Null: there is no such path, or no memory for it.
const site_counts::path_state* site_counts::find_path_state(const memory& in, std::uint64_t address) {
  if (address == 0) return nullptr;  // a valid row has a path
  if (const auto entry = paths_.find(address); entry != paths_.end()) return &entry->second;
  std::vector<std::pair<std::uint64_t, path_state>> unknown;
  for (std::uint64_t at = address; at != 0 && paths_.find(at) == paths_.end();) {
    adaptyst_path path{};
    if (++steps_ > 2 * max_paths_of_poll || unknown.size() > detail::max_depth ||
        paths_.size() + unknown.size() >= max_paths_of_poll || !in.read(at, path) ||
        !know_site(in, as_address(path.site)))
      return nullptr;
    unknown.push_back({at, {as_address(path.site), as_address(path.parent), false}});
    at = as_address(path.parent);
  }
  for (auto entry = unknown.rbegin(); entry != unknown.rend(); ++entry) {
    paths_.insert(*entry);
    note_others(entry->first);
  }
  return &paths_.at(address);
}

// Notes a new path's nested events on the markers above it.
void site_counts::note_others(std::uint64_t address) {
  constexpr int max_levels = 128;  // a recursion is noticed much earlier
  const path_state& path = paths_.at(address);
  const std::uint32_t kind = sites_.at(path.site).kind;
  const bool is_other = kind != ADAPTYST_SITE_REGION && kind != ADAPTYST_SITE_CALLBACK;
  int level = 0;
  for (std::uint64_t at = path.parent; at != 0 && level != max_levels; ++level) {
    path_state& around = paths_.at(at);
    site_count& site = sites_.at(around.site);
    if (level == 0) site.has_nested = true;
    if (around.site == path.site) site.holds_others = true;
    if (is_other) {
      if (around.holds_others) break;  // then all above have it, too
      site.holds_others = around.holds_others = true;
    }
    at = around.parent;
  }
}

void site_counts::poll(const process_state& state) {
  detail::store_head store{};
  if (!read_store(state, store)) return;
  for (auto& [address, site] : sites_) {
    site.events = 0;
    for (auto& [around, events] : site.inside) events = 0;
  }
  steps_ = 0;
  for_each_row(state, store, [&](std::uint64_t, const detail::row& row) {
    const path_state* const path = find_path_state(*state.in, as_address(row.path));
    if (path == nullptr || path->site != as_address(row.site)) return;
    site_count& site = sites_.at(path->site);
    site.events += row.count;
    if (path->parent != 0) site.inside[paths_.at(path->parent).site] += row.count;
  });
}

bool set_sampled_floor(const process_state& state, double floor_ns) {
  detail::store_head head{};
  if (state.address == 0 || !state.in->read(state.address, head) || head.settings == nullptr) return false;
  constexpr double scale = 4294967296.0;  // the slope of the clock is a multiple of 2^-32
  const auto slope = static_cast<double>(head.clock.ns_per_tick);
  const double timestamps = head.clock.ns_per_tick != 0 ? floor_ns * scale / slope : floor_ns;
  const std::uint64_t at = as_address(head.settings) + offsetof(detail::observer_settings, sampled_floor);
  constexpr double max_timestamps = 10'000;  // limit, in case the clock of the process is damaged
  return state.in->write(at, static_cast<std::uint64_t>(std::llround(std::clamp(timestamps, 0.0, max_timestamps))));
}

bool set_step(const process_state& state, const site_count& site, std::uint32_t step) {
  return site.step_at % 8 == 0 && state.in->write(site.step_at, std::uint64_t{step});
}

void reset_steps(const process_state& state) {
  detail::store_head head{};
  if (state.address == 0 || !has_same_layout(state) || !state.in->read(state.address, head) ||
      head.settings == nullptr || head.numbered == 0)
    return;
  const std::uint64_t first = as_address(head.settings) + offsetof(detail::observer_settings, steps);
  std::vector<std::uint64_t> steps(std::min<std::uint64_t>(head.numbered, detail::max_sites));
  if (!state.in->read(first, steps.data(), steps.size() * sizeof steps[0])) return;
  for (std::size_t at = 0; at != steps.size(); ++at)
    if (steps[at] != ADAPTYST_STEP_ENGINE &&
        !state.in->write(first + at * sizeof steps[0], std::uint64_t{ADAPTYST_STEP_ENGINE}))
      return;  // further writes would fail as well
}

namespace {

// Addresses in a process, some outside the store: both tables of steps, and the table of markers.
struct places {
  std::uint64_t settings, deeper_steps, has_deeper, sites;
};

places find_places(const detail::store_head& head) {
  const std::uint64_t settings = as_address(head.settings);
  const std::uint64_t process = settings - offsetof(detail::process, settings);
  return {settings, process + offsetof(detail::process, deeper_steps), process + offsetof(detail::process, has_deeper),
          process + offsetof(detail::process, sites)};
}

// The marker's number, from the address of its step; the data may be damaged.
std::optional<std::uint64_t> find_number(const places& at, std::uint64_t step) {
  const std::uint64_t own = at.settings + offsetof(detail::observer_settings, steps);
  for (const std::uint64_t first : {own, at.deeper_steps})
    if (step >= first && step < first + detail::max_sites * sizeof(std::uint64_t)) return (step - first) / 8;
  return std::nullopt;
}

bool lead(const memory& in, const places& at, std::uint64_t address, const detail::level_settings& levels) {
  adaptyst_site site{};
  if (!in.read(address, site)) return false;
  const std::optional<std::uint64_t> number = find_number(at, as_address(site.step));
  if (!number) return false;
  const std::string name = in.text(as_address(site.name), ADAPTYST_TEXT_BYTES);
  const std::string function = in.text(as_address(site.function), ADAPTYST_TEXT_BYTES);
  const bool is_out = detail::is_too_deep(
      levels, {{name.data(), name.size()}, {function.data(), function.size()}, site.kind, site.level});
  const std::uint64_t first = is_out ? at.deeper_steps : at.settings + offsetof(detail::observer_settings, steps);
  const std::uint64_t step = first + *number * sizeof(std::uint64_t);
  if (is_out && !in.write(step, std::uint64_t{ADAPTYST_STEP_DEEPER})) return false;
  return step == as_address(site.step) || in.write(address + offsetof(adaptyst_site, step), step);
}

}  // namespace

void set_levels(const process_state& state, const detail::level_settings& levels) {
  detail::store_head head{};
  if (state.address == 0 || !has_same_layout(state) || !state.in->read(state.address, head) || head.settings == nullptr)
    return;
  const places at = find_places(head);
  if (!state.in->write(at.settings + offsetof(detail::observer_settings, levels), &levels, sizeof levels)) return;
  std::uint64_t had_deeper = 0;
  if (head.numbered == 0 || !state.in->read(at.has_deeper, had_deeper) || (had_deeper == 0 && levels.deepest == 0))
    return;
  std::vector<std::uint64_t> records(sizeof(detail::process::sites) / sizeof(std::uint64_t));
  if (!state.in->read(at.sites, records.data(), records.size() * sizeof records[0])) return;
  bool any = had_deeper != 0;
  for (const std::uint64_t record : records)
    if (record != 0) any = lead(*state.in, at, record, levels) || any;
  if (any && levels.deepest != 0) state.in->write(at.has_deeper, std::uint64_t{1});
}

}  // namespace adaptyst::lib
