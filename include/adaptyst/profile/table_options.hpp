// Layout of a table of regions. Part of <adaptyst/profile.hpp>.
#ifndef ADAPTYST_PROFILE_TABLE_OPTIONS_HPP
#define ADAPTYST_PROFILE_TABLE_OPTIONS_HPP

#include <cstddef>
#include <optional>

namespace adaptyst { inline namespace v1 {

// Order of regions below their parents: greatest first; names alphabetically.
enum class region_order { time, self, calls, mean, p99, name };

// Size and order of a table of regions. One line counts the omitted rows.
//
//   adaptyst::table_options how;
//   how.sort = adaptyst::region_order::self;
//   how.rows = 20;
//   std::cout << adaptyst::to_table(profile, how);
struct table_options {
  std::size_t columns = 100;  // terminal width; at least 80
  region_order sort = region_order::time;
  static constexpr std::size_t usual_rows = 200, usual_depth = 20;  // except for CSV, which is complete
  static constexpr std::size_t usual_rows_of_markdown = 10;
  std::optional<std::size_t> rows;   // the greatest rows and their ancestors; 0: all; empty: default
  std::optional<std::size_t> depth;  // nesting depth; 0 and empty as for rows
  double least_share = 0;            // rows with a smaller share of the run are omitted
  bool verbose = false;              // also the legend, the spread of events, clocks, and the account of events
  std::size_t lines = 0;             // height of the terminal: rows have bars; 0: no terminal
  bool has_colour = false;           // colours on the terminal
};

}}  // namespace adaptyst::v1

#endif
