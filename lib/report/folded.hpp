// Stacks as folded lines, which flamegraph.pl, inferno, Speedscope and others read: "program;region;…;[on-cpu];frame;… 1234",
// the number in microseconds. A region stands in its line with its whole path, and what the thread did in brackets.
#ifndef ADAPTYST_LIB_REPORT_FOLDED_HPP
#define ADAPTYST_LIB_REPORT_FOLDED_HPP

#include <string>
#include <string_view>
#include <vector>

#include "../profile/sampled_stack.hpp"

namespace adaptyst::lib {

// "[on-cpu]", "[blocked]" or "[waiting]".
std::string_view label_of(thread_state state);

// Equal stacks become one line; those of less than half a microsecond none.
std::string to_folded(const std::vector<sampled_stack>& stacks);

}  // namespace adaptyst::lib

#endif
