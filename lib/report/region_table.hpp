// The table of regions: a row for each call path and device, what it says of payloads, and what the columns mean.
#ifndef ADAPTYST_LIB_REPORT_REGION_TABLE_HPP
#define ADAPTYST_LIB_REPORT_REGION_TABLE_HPP

#include <adaptyst/profile.hpp>
#include <string>

namespace adaptyst::lib {

std::string region_table(const profile& profile, const table_options& how);

// "1.2 M cycles, 3 M instructions (2.50 a cycle)".
std::string counters_text(const kernel_context& context);

}  // namespace adaptyst::lib

#endif
