#include "site_counts.hpp"

#include <adaptyst/detail/recorder.hpp>
#include <algorithm>
#include <cstddef>

#include "recorder_list.hpp"

namespace adaptyst::lib {

namespace {

// What is read may be damaged, and lead in a circle.
constexpr std::size_t most_rows = 1 << 20;  // of a look
constexpr std::size_t most_paths = 1 << 18;

}  // namespace

bool site_counts::know_site(const memory& in, std::uint64_t address) {
  if (sites_.find(address) != sites_.end()) return true;
  adaptyst_site site{};
  if (sites_.size() == detail::most_sites || !in.read(address, site) || site.id == 0) return false;
  site_count made;
  made.id = site.id;
  made.kind = site.kind;
  made.step_at = address_of(site.step);
  if (std::uint64_t step = 0; in.read(made.step_at, step) && step <= ADAPTYST_STEP_LAST)
    made.step = static_cast<std::uint32_t>(step);
  sites_.emplace(address, made);
  return true;
}

bool site_counts::know_path(const memory& in, std::uint64_t address, std::uint64_t site) {
  if (const auto known = paths_.find(address); known != paths_.end()) return known->second == site;
  adaptyst_path path{};
  if (paths_.size() == most_paths || !in.read(address, path) || address_of(path.site) != site || !know_site(in, site))
    return false;
  if (path.parent != nullptr) {
    adaptyst_path parent{};
    if (!in.read(address_of(path.parent), parent) || !know_site(in, address_of(parent.site))) return false;
    sites_[address_of(parent.site)].has_nested = true;
  }
  paths_.emplace(address, site);
  return true;
}

// Returns the address of the next one.
std::uint64_t site_counts::read_recorder(const memory& in, std::uint64_t address, std::uint64_t epoch) {
  detail::recorder_head head{};
  if (!in.read(address, head)) return 0;
  const std::uint64_t next = address_of(head.next);
  if (head.epoch != epoch) return next;
  const std::size_t used = std::min(head.rows_used, detail::most_rows);
  rows_read_ += used;
  for (std::size_t first = 0; first < used; first += detail::rows_per_chunk) {
    const std::size_t count = std::min<std::size_t>(detail::rows_per_chunk, used - first);
    rows_.resize(count);
    if (!in.read(address_of(head.chunks[first / detail::rows_per_chunk]), rows_.data(), count * sizeof(detail::row)))
      return next;
    for (const detail::row& one : rows_)
      if (know_path(in, address_of(one.path), address_of(one.site))) sites_[address_of(one.site)].events += one.count;
  }
  return next;
}

void site_counts::update(const process_state& of) {
  detail::store_head store{};
  if (of.address == 0 || !has_known_layout(of) || !of.in->read(of.address, store)) return;
  for (auto& [address, site] : sites_) site.events = 0;
  rows_read_ = 0;
  for_each_recorder(address_of(store.recorders), [&](std::uint64_t at) {
    return rows_read_ < most_rows ? read_recorder(*of.in, at, store.epoch) : 0;
  });
}

bool set_step(const process_state& of, const site_count& site, std::uint32_t step) {
  return site.step_at % 8 == 0 && of.in->write(site.step_at, std::uint64_t{step});
}

void reset_steps(const process_state& of) {
  detail::store_head head{};
  if (of.address == 0 || !has_known_layout(of) || !of.in->read(of.address, head) || head.settings == nullptr) return;
  const std::uint64_t first = address_of(head.settings) + offsetof(detail::observer_settings, steps);
  std::vector<std::uint64_t> steps(detail::most_sites);
  if (!of.in->read(first, steps.data(), steps.size() * sizeof steps[0])) return;
  for (std::size_t at = 0; at != steps.size(); ++at)
    if (steps[at] != ADAPTYST_STEP_ENGINE &&
        !of.in->write(first + at * sizeof steps[0], std::uint64_t{ADAPTYST_STEP_ENGINE}))
      return;  // nor any other
}

}  // namespace adaptyst::lib
