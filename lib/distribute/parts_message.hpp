// Parts of an analysis as bytes, on their way up the tree of ranks.
#ifndef ADAPTYST_LIB_DISTRIBUTE_PARTS_MESSAGE_HPP
#define ADAPTYST_LIB_DISTRIBUTE_PARTS_MESSAGE_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../analyse/variability/variability.hpp"
#include "../trace/trace_input.hpp"
#include "name_table.hpp"

namespace adaptyst::lib {

// Rows of a table that was divided among readers: those that were read, and those that there are.
struct divided_table {
  std::uint64_t read = 0, counted = 0;
};

// What ranks bring together.
struct gathered {
  variability_parts parts;
  bad_rows bad;
  std::vector<divided_table> tables;  // the same ones in all ranks
  std::vector<rank_work> ranks;
  std::string failure;  // of the first rank that could not go on; empty: none
};

std::string write_parts(const gathered& from, const name_table& names);
// Adds it; names get their numbers in `names`. Throws error where it is no such message.
void add_parts(std::string_view message, gathered& to, name_table& names);

}  // namespace adaptyst::lib

#endif
