#include "process_sums.hpp"

#include <algorithm>

namespace adaptyst::lib {

void process_sums::update(const process_list& processes) {
  if (processes.size() == 1) {
    only_ = processes.front().get();
    changed_.merge(processes.front()->take_changed());
    return;
  }
  path_set outdated;
  sum_.accounting = {};
  for (const auto& one : processes) {
    add(sum_.accounting, one->recorded().accounting);
    path_set changed = one->take_changed();
    // Its rows were the sum until now, and are not in `sum_` yet.
    if (one.get() == only_)
      for (const auto& [path, row] : only_->recorded().rows) changed.insert(path);
    for (const std::uint64_t path : changed) {
      auto& holders = holders_[path];
      if (std::find(holders.begin(), holders.end(), one.get()) == holders.end()) holders.push_back(one.get());
      name(path, one->recorded());
      outdated.insert(path);
    }
  }
  only_ = nullptr;
  for (const std::uint64_t path : outdated) {
    measured_row row;
    bool there = false;
    for (const recorded_process* const holder : holders_[path]) {
      const auto found = holder->recorded().rows.find(path);
      if (found == holder->recorded().rows.end()) continue;
      add(row, found->second);
      there = true;
    }
    if (there) sum_.rows[path] = std::move(row);
    else sum_.rows.erase(path);
  }
  changed_.insert(outdated.begin(), outdated.end());
}

// Names a path and those above it.
void process_sums::name(std::uint64_t path, const measured& in) {
  while (path != 0) {
    const auto known = in.paths.find(path);
    if (known == in.paths.end() || !sum_.paths.insert(*known).second) return;
    if (const auto site = in.sites.find(known->second.site); site != in.sites.end()) sum_.sites.insert(*site);
    path = known->second.parent;
  }
}

}  // namespace adaptyst::lib
