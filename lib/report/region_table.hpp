// The table of regions: a row for each call path and device, what it says of payloads, and what the columns mean.
#ifndef ADAPTYST_LIB_REPORT_REGION_TABLE_HPP
#define ADAPTYST_LIB_REPORT_REGION_TABLE_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <map>
#include <string>

namespace adaptyst::lib {

std::string region_table(const profile& profile, const table_options& how);

// "1.2 M cycles, 3 M instructions (2.50 a cycle)".
std::string counters_text(const kernel_context& context);

// The functions in which threads were sampled most often. `functions`: how often in each.
std::string function_table(const std::map<std::string, std::uint64_t>& functions, std::size_t max_columns);

}  // namespace adaptyst::lib

#endif
