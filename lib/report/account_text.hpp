// What became of all events, what measuring them cost, what is estimated and what is missing.
#ifndef ADAPTYST_LIB_REPORT_ACCOUNT_TEXT_HPP
#define ADAPTYST_LIB_REPORT_ACCOUNT_TEXT_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <string>

namespace adaptyst::lib {

std::string account_text(const profile& profile, std::size_t line_columns);
// Lines on context, samples and timelines: what was lost, and what was written.
std::string context_lines(const profile& profile, std::size_t line_columns);

}  // namespace adaptyst::lib

#endif
