// The regions of a profile, made from rows: paths spelled out, metrics folded into the region above them.
#ifndef ADAPTYST_LIB_MODEL_REGION_LIST_HPP
#define ADAPTYST_LIB_MODEL_REGION_LIST_HPP

#include <utility>

#include "measured.hpp"

namespace adaptyst::lib {

// Kept from one reading to the next, so that only changed paths cost time.
class region_list {
 public:
  // Updates the regions to which the rows of these paths belong. `device_index`: the index in profile::devices for each
  // number of a device in the process.
  void update(const measured& from, const std::vector<std::uint32_t>& device_index, const path_set& changed);
  void update_all(const measured& from, const std::vector<std::uint32_t>& device_index);

  // Parents before children.
  const std::vector<region>& regions() const noexcept { return regions_; }
  std::vector<region> take() { return std::move(regions_); }
  // How many paths were cut to their last name, since all names together take more than 288 MiB.
  std::uint64_t cut() const noexcept { return cut_.size(); }

 private:
  region name(const measured& from, std::uint64_t id);
  void count(region& in, const measured& from) const;
  void refresh(region& known, const measured& from);
  void sort();

  std::vector<region> regions_;
  std::size_t path_bytes_ = 0;  // of their paths
  bool is_full_ = false;        // no further path is spelled out
  path_set cut_;
  std::unordered_map<std::uint64_t, std::size_t> places_;  // in regions_
  std::unordered_map<std::uint64_t, path_set> metrics_;    // that a region holds
  std::vector<std::uint32_t> device_index_;
};

// Makes the list once. `cut`: adds how many paths were cut.
std::vector<region> assemble(const measured& from, const std::vector<std::uint32_t>& device_index,
                             std::uint64_t* cut = nullptr);

// Joins rows that differ in their ids only: compilers may copy code, and replaced names may make paths equal.
void join_same_rows(std::vector<region>& rows);

// The names of a path from its root, as region::path has them.
std::vector<std::string> list_path_names(const measured& in, std::uint64_t id);

}  // namespace adaptyst::lib

#endif
