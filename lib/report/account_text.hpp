// What became of all events, what measuring them cost, what is estimated and what is missing.
#ifndef ADAPTYST_LIB_REPORT_ACCOUNT_TEXT_HPP
#define ADAPTYST_LIB_REPORT_ACCOUNT_TEXT_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace adaptyst::lib {

// What is missing in the figures, or an estimate: events, programs and ranks that were lost, and a budget that was missed, or
// kept by leaving events out. The worst first; empty: nothing.
std::vector<std::string> list_what_is_missing(const profile& profile);

std::string account_text(const profile& profile, std::size_t line_columns);
// Lines on context, samples and timelines: what was lost, and what was written.
std::string context_lines(const profile& profile, std::size_t line_columns);

}  // namespace adaptyst::lib

#endif
