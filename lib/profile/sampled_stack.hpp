// A stack that was seen again and again in one region, with what it stands for: what the writers of flame graphs take.
#ifndef ADAPTYST_LIB_PROFILE_SAMPLED_STACK_HPP
#define ADAPTYST_LIB_PROFILE_SAMPLED_STACK_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace adaptyst::lib {

// What the thread did: computed, slept until something woke it, or was ready and had no core.
enum class thread_state { on_cpu, blocked, waiting };

struct sampled_stack {
  std::string program;
  std::vector<std::string> region;  // path; empty: outside all
  thread_state state = thread_state::on_cpu;
  std::vector<std::string> frames;  // outermost first; of the program, then of the kernel
  std::uint64_t weight_ns = 0;      // on a core: samples times their mean distance; else the time itself
};

}  // namespace adaptyst::lib

#endif
