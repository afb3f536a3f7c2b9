// Stack samples in the forms that viewers of flame graphs read.
#ifndef ADAPTYST_LIB_REPORT_STACKS_HPP
#define ADAPTYST_LIB_REPORT_STACKS_HPP

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../model/samples.hpp"

namespace adaptyst::lib {

// A stack that was sampled in one region, with the time that it represents.
struct sampled_stack {
  std::string program;
  std::vector<std::string> region;  // path; empty: outside all regions
  thread_state state = thread_state::on_cpu;
  std::vector<std::string> frames;  // outermost first; of the program, then of the kernel
  std::uint64_t weight_ns = 0;      // on a core: samples times their mean distance; else the time itself
};

// "[on-cpu]", "[blocked]" or "[waiting]".
std::string_view to_label(thread_state state);

// Folded lines, which flamegraph.pl, inferno, Speedscope and others read: "program;region;…;[on-cpu];frame;… 1234", the
// number in microseconds. A line has the whole path of the region, and the thread's state in brackets. Equal stacks
// become one line; stacks of less than half a microsecond are omitted.
std::string to_folded(const std::vector<sampled_stack>& stacks);

// A file for https://www.speedscope.app (its file-format-schema.json): a profile for each thread state (running,
// blocked, waiting for a core), weights in nanoseconds. `name`: of the file. The heaviest samples come first: their
// order is not an order in time.
std::string to_speedscope(const std::vector<sampled_stack>& stacks, const std::string& name);

}  // namespace adaptyst::lib

#endif
