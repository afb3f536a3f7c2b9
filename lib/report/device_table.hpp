// The table of devices, lines on what has no column, and how well host and devices were used.
#ifndef ADAPTYST_LIB_REPORT_DEVICE_TABLE_HPP
#define ADAPTYST_LIB_REPORT_DEVICE_TABLE_HPP

#include <adaptyst/profile.hpp>
#include <string>

namespace adaptyst::lib {

std::string device_table(const profile& profile, const table_options& how);

}  // namespace adaptyst::lib

#endif
