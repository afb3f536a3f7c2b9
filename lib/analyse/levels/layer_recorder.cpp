#include "layer_recorder.hpp"

#include <algorithm>

#include "../../support/levels.hpp"
#include "levels.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::size_t max_order_path_bytes = std::size_t{16} << 20U;

bool has_batch(const std::string& name) {
  return name.find("[batch=") != std::string::npos || name.find(",batch=") != std::string::npos;
}

}  // namespace

std::uint32_t layer_recorder::find_thread(std::int64_t process, std::uint32_t thread) {
  const auto number = static_cast<std::uint32_t>(threads_.size());
  const auto [found, is_new] = threads_.try_emplace({process, thread}, number);
  if (is_new) made_.complete_until_ns.push_back(timed_layers::always);
  return found->second;
}

timed_layers layer_recorder::take() {
  if (sums_.has_unknown_beginnings() || has_too_many_paths_) return {};
  made_.has_kernels = deepest_ >= level::library;
  return std::move(made_);
}

void layer_recorder::omit(std::uint32_t thread, std::uint64_t begin_ns) {
  is_cut_ = true;
  made_.complete_until_ns[thread] = std::min(made_.complete_until_ns[thread], begin_ns);
}

// The path as levels.cpp makes it: without regions that are deeper than the last one.
bool layer_recorder::add_path(const traced_site& site, level at, std::uint32_t& to) {
  if (has_too_many_paths_) return false;
  std::vector<std::string> path;
  std::size_t bytes = 0;
  for (const traced_site* around = &site; around != nullptr; around = around->parent) {
    bytes += sizeof(std::string);  // also of skipped regions, which take time
    if (around == &site || sites_.at(around).at <= at) {
      path.push_back(row_name(*around));
      bytes += path.back().size();
    }
    if (bytes > max_order_path_bytes - path_bytes_) {
      has_too_many_paths_ = true;
      return false;
    }
  }
  std::reverse(path.begin(), path.end());
  const auto [found, is_new] = numbers_.try_emplace(std::move(path), static_cast<std::uint32_t>(made_.paths.size()));
  if (is_new) {
    path_bytes_ += bytes;
    made_.paths.push_back(found->first);
  }
  to = found->second;
  return true;
}

layer_recorder::site_facts layer_recorder::make_site(const traced_site& site, const site_facts* around) {
  site_facts made;
  made.at = level_of(site.name, {}, site.kind, site.level, rules_);
  if (around != nullptr) {
    made.layer = around->layer;
    made.is_in_library = around->is_in_library;
  }
  if (made.at > deepest_) return made;
  if (site.device != 0) {
    if (made.at >= level::layer && made.layer != 0) made.role = site_role::kernel;
    return made;
  }
  if (made.at == level::layer && add_path(site, made.at, made.path)) {
    made.role = site_role::layer;
    made.layer = made.path + 1;
    made.is_in_library = false;
  } else if (made.at == level::model || (made.at < level::model && has_batch(site.name))) {
    if (add_path(site, made.at, made.path)) made.role = site_role::model;
  } else if (made.at == level::library) {
    if (!made.is_in_library && made.layer != 0 && !is_device_call(site.name)) made.role = site_role::kernel;
    made.is_in_library = true;
  }
  return made;
}

const layer_recorder::site_facts& layer_recorder::find_site(const traced_site& site) {
  if (const auto found = sites_.find(&site); found != sites_.end()) return found->second;
  std::vector<const traced_site*> missing;
  const site_facts* around = nullptr;
  for (const traced_site* at = &site; at != nullptr; at = at->parent) {
    if (const auto found = sites_.find(at); found != sites_.end()) around = &found->second;
    if (around != nullptr) break;
    missing.push_back(at);
  }
  for (auto at = missing.rbegin(); at != missing.rend(); ++at)
    around = &sites_.emplace(*at, make_site(**at, around)).first->second;
  return *around;
}

void layer_recorder::add(std::int64_t process, const traced_event& event) {
  sums_.add(process, event);
  if (event.as == traced_as::metric || event.as == traced_as::instant_event) return;
  const site_facts& site = find_site(*event.site);
  if (site.role == site_role::none) return;
  const bool is_on_device = event.site->device != 0;
  const std::uint64_t submitted_ns = is_on_device ? event.submitted_ns : event.begin_ns;
  if (site.role == site_role::kernel && is_on_device && submitted_ns == 0) {
    made_.unlinked_layers.insert(site.layer - 1);
    return;
  }
  const std::uint32_t thread = find_thread(process, event.thread);
  if (site.role == site_role::kernel) {
    if (made_.kernels.size() < most_)
      made_.kernels.push_back({thread, site.layer - 1, submitted_ns, event.duration_ns(), is_on_device});
    else omit(thread, submitted_ns);
    return;
  }
  auto& to = site.role == site_role::model ? made_.models : made_.layers;
  if (made_.models.size() + made_.layers.size() < most_)
    to.push_back({thread, site.path, event.begin_ns, event.end_ns});
  else omit(thread, event.begin_ns);
}

std::vector<std::string> layer_recorder::remarks() const {
  std::vector<std::string> made;
  if (is_cut_)
    made.emplace_back("the order of layers is that of the first passes: memory for further calls is limited");
  if (has_too_many_paths_) made.emplace_back("the call paths of layers have too many names: their order is omitted");
  return made;
}

}  // namespace adaptyst::lib
