// Sampled stacks in the forms that viewers of flame graphs read.
#ifndef ADAPTYST_LIB_REPORT_STACKS_HPP
#define ADAPTYST_LIB_REPORT_STACKS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../model/samples.hpp"

namespace adaptyst::lib {

// A stack that was sampled in one region, with the time that it stands for.
struct sampled_stack {
  std::string program;
  std::vector<std::string> region;  // path; empty: outside all
  thread_state state = thread_state::on_cpu;
  std::vector<std::string> frames;  // outermost first; of the program, then of the kernel
  std::uint64_t weight_ns = 0;      // on a core: samples times their mean distance; else the time itself
};

// "[on-cpu]", "[blocked]" or "[waiting]".
std::string_view to_label(thread_state state);

// Folded lines, which flamegraph.pl, inferno, Speedscope and others read: "program;region;…;[on-cpu];frame;… 1234", the
// number in microseconds. A region stands in its line with its whole path, and what the thread did in brackets. Equal
// stacks become one line; those of less than half a microsecond none.
std::string to_folded(const std::vector<sampled_stack>& stacks);

// A file for https://www.speedscope.app (its file-format-schema.json): a profile each for what ran, what was blocked
// and what waited for a core, weights in nanoseconds. `name`: of the whole. The samples are no sequence in time:
// heaviest first.
std::string to_speedscope(const std::vector<sampled_stack>& stacks, const std::string& name);

}  // namespace adaptyst::lib

#endif
