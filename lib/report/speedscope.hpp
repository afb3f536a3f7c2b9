// Stacks as a file for https://www.speedscope.app (its file-format-schema.json): a profile each for what ran, what was
// blocked and what waited for a core, weights in nanoseconds.
#ifndef ADAPTYST_LIB_REPORT_SPEEDSCOPE_HPP
#define ADAPTYST_LIB_REPORT_SPEEDSCOPE_HPP

#include <string>
#include <vector>

#include "../profile/sampled_stack.hpp"

namespace adaptyst::lib {

// `name`: of the whole. The samples are no sequence in time: heaviest first.
std::string to_speedscope(const std::vector<sampled_stack>& stacks, const std::string& name);

}  // namespace adaptyst::lib

#endif
