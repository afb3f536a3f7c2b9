// How a table of regions is laid out. A part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_TABLE_OPTIONS_HPP
#define ADAPTYST_PROFILE_TABLE_OPTIONS_HPP

#include <cstddef>
#include <optional>

namespace adaptyst { inline namespace v1 {

// The order of regions below their parents: the greatest first; names by the alphabet.
enum class region_order { time, self, calls, mean, p99, name };

// How much of a profile a table shows, in what order, and how wide it is. One line counts the omitted rows.
//
//   adaptyst::table_options how;
//   how.sort = adaptyst::region_order::self;
//   how.rows = 20;
//   std::cout << adaptyst::to_table(profile, how);
struct table_options {
  std::size_t columns = 100;  // of the terminal; at least 80
  region_order sort = region_order::time;
  static constexpr std::size_t usual_rows = 200, usual_depth = 20;  // unless it is a CSV, which is whole
  static constexpr std::size_t usual_rows_of_markdown = 10;
  std::optional<std::size_t> rows;   // those that are greatest, and what they are nested in; 0: all; empty: as usual
  std::optional<std::size_t> depth;  // levels of nesting; the same
  double least_share = 0;            // rows whose time is a smaller part of the run are left out
};

}}  // namespace adaptyst::v1

#endif
