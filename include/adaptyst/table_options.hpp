// How much of a profile a table shows, in what order, and how wide it is.
//
//   adaptyst::table_options how;
//   how.sort = adaptyst::region_order::self;
//   how.rows = 20;
//   std::cout << adaptyst::to_table(profile, how);
//
// What is left out is told in one line. docs/report.md says what each column means.
#ifndef ADAPTYST_TABLE_OPTIONS_HPP
#define ADAPTYST_TABLE_OPTIONS_HPP

#include <cstddef>

namespace adaptyst { inline namespace v1 {

// What regions are listed by below their parents, the greatest first; names by the alphabet.
enum class region_order { time, self, calls, mean, p99, name };

struct table_options {
  std::size_t columns = 100;  // of the terminal; at least 80
  region_order sort = region_order::time;
  std::size_t rows = 200;  // those that are greatest, and what they are nested in; 0: all
  std::size_t depth = 20;  // levels of nesting; 0: all
  double least_share = 0;  // rows whose time is a smaller part of the run are left out
};

}}  // namespace adaptyst::v1

#endif
