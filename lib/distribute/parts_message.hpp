// Parts of an analysis as bytes, for the way up the tree of ranks.
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

// A table that several readers share: the rows read, and the rows that exist.
struct divided_table {
  std::uint64_t read = 0, counted = 0;
};

// The data that ranks combine.
struct gathered {
  variability_parts parts;
  bad_rows bad;
  std::vector<divided_table> tables;  // the same tables on all ranks
  std::vector<rank_work> ranks;
  std::string failure;  // of the first rank that failed; empty: none
};

std::string write_parts(const gathered& from, const name_table& names);
// Adds the message; `names` numbers its names. Throws error if it is not such a message.
void add_parts(std::string_view message, gathered& to, name_table& names);

}  // namespace adaptyst::lib

#endif
