// The shown regions as a tree, in the order of the report.
#ifndef ADAPTYST_LIB_REPORT_REGION_TREE_HPP
#define ADAPTYST_LIB_REPORT_REGION_TREE_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

struct region_node {
  std::string name;   // with its place in the source if siblings have the same name
  std::size_t depth;  // the number of regions around it
  const region* row;  // null: it has not ended yet
};

struct shown_regions {
  std::vector<region_node> nodes;  // parents before children
  std::size_t left_out = 0;        // rows
  std::uint64_t left_out_ns = 0;   // their time on the host, without nested regions
};

// For each row its place in the source, as "main.cpp:12", if siblings of one name are at several places; else empty.
std::vector<std::string> list_places(const profile& profile);

shown_regions regions_to_show(const profile& profile, const table_options& how);

// "… 4,051 more rows, 3.0% of the run: --top, --depth and --min-share say how many"; empty: none was left out.
std::string left_out_text(const profile& profile, const shown_regions& shown);

}  // namespace adaptyst::lib

#endif
