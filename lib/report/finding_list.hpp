// What to look at first, in words.
#ifndef ADAPTYST_LIB_REPORT_FINDING_LIST_HPP
#define ADAPTYST_LIB_REPORT_FINDING_LIST_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <string>

namespace adaptyst::lib {

// The findings that concern most of the run, with what to try, and how many more there are; ends in an empty line.
// Empty where there are none.
std::string finding_list(const profile& profile, std::size_t line_columns);

}  // namespace adaptyst::lib

#endif
