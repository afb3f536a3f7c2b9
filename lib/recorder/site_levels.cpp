// Writes the settings of levels into a process, and leads the records of known markers to the step that follows.
#include "site_levels.hpp"

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

namespace {

// Where a process has what, and what is not in the store: both tables of steps, and the table of markers.
struct places {
  std::uint64_t settings, deeper_steps, has_deeper, sites;
};

places find_places(const detail::store_head& head) {
  const std::uint64_t settings = as_address(head.settings);
  const std::uint64_t process = settings - offsetof(detail::process, settings);
  return {settings, process + offsetof(detail::process, deeper_steps), process + offsetof(detail::process, has_deeper),
          process + offsetof(detail::process, sites)};
}

// The marker's number, by where its step stands; what is read may be damaged.
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
  if (state.address == 0 || !has_known_layout(state) || !state.in->read(state.address, head) ||
      head.settings == nullptr)
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
