// The regions of a profile, made from rows: with the names of their paths, and with metrics in the region above them.
#ifndef ADAPTYST_LIB_MODEL_REGION_LIST_HPP
#define ADAPTYST_LIB_MODEL_REGION_LIST_HPP

#include <utility>

#include "measurements.hpp"

namespace adaptyst::lib {

// Kept between readings, so that only changed paths cost time.
class region_list {
 public:
  // Updates the regions of the rows of these paths. `device_index`: the index in profile::devices for each device
  // number of the process.
  void update(const measurements& from, const std::vector<std::uint32_t>& device_index, const path_set& changed);
  void update_all(const measurements& from, const std::vector<std::uint32_t>& device_index);

  // Parents before children.
  const std::vector<region>& regions() const noexcept { return regions_; }
  std::vector<region> take() { return std::move(regions_); }
  // The number of paths that were cut to their last name, because all names together exceed 288 MiB.
  std::uint64_t cut() const noexcept { return cut_.size(); }

 private:
  region name(const measurements& from, std::uint64_t id);
  std::vector<std::string> extend_path(const measurements& from, std::uint64_t id) const;
  void count(region& in, const measurements& from) const;
  void refresh(region& region, const measurements& from);
  std::uint64_t find_holder(const measurements& from, std::uint64_t metric);
  void sort();

  std::vector<region> regions_;
  std::size_t path_bytes_ = 0;  // of the regions' paths
  bool is_full_ = false;        // no further path gets all its names
  path_set cut_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // indices of regions_
  std::unordered_map<std::uint64_t, path_set> metrics_;    // of a region
  std::uint64_t heap_outside_ = 0;                         // the row of the heap outside all regions; 0: none
  std::vector<std::uint32_t> device_index_;
};

// Makes the list once. `cut`: the number of cut paths is added to it.
std::vector<region> assemble(const measurements& from, const std::vector<std::uint32_t>& device_index,
                             std::uint64_t* cut = nullptr);

// Joins rows that differ only in their ids: compilers may copy code, and replaced names may make paths equal.
void join_same_rows(std::vector<region>& rows);

// The names of a path from its root, as in region::path.
std::vector<std::string> list_path_names(const measurements& in, std::uint64_t id);

}  // namespace adaptyst::lib

#endif
