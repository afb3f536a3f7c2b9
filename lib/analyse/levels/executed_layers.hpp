// The layers of a model in their order of execution, from the times of a trace. Pure.
//
// A *pass* is a call of a model on a thread with at least one layer; its layers are those of this model that begin and
// end within it, on the same thread, by begin. Without a model, a pass is the shortest sequence of layers that repeats
// on a thread; if none repeats, it is all layers of the thread. The passes with the most frequent sequence of layers
// are averaged by position; passes with other sequences are only counted.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_EXECUTED_LAYERS_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_EXECUTED_LAYERS_HPP

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "stack.hpp"

namespace adaptyst::lib {

// Calls of models and layers on host threads, and the kernels below layers, in any order.
struct timed_layers {
  struct scope {
    std::uint32_t thread = 0;  // of any process
    std::uint32_t path = 0;    // an index into `paths`
    std::uint64_t begin_ns = 0, end_ns = 0;
  };
  struct kernel {
    std::uint32_t thread = 0;  // that submitted it
    std::uint32_t layer = 0;   // an index into `paths`
    std::uint64_t submitted_ns = 0, duration_ns = 0;
    bool is_on_device = false;
  };
  static constexpr std::uint64_t always = std::numeric_limits<std::uint64_t>::max();

  std::vector<std::vector<std::string>> paths;  // as in levelled_region
  std::vector<scope> models, layers;
  std::vector<kernel> kernels;
  bool has_kernels = true;                       // false: the levels of kernels are not in the result
  std::set<std::uint32_t> unlinked_layers;       // with kernels of unknown submission, which are not in `kernels`
  std::vector<std::uint64_t> complete_until_ns;  // by thread: records that begin later may be missing
};

// A longer sequence is not listed.
constexpr std::size_t max_pass_layers = 10'000;

// Adds stack_result::passes, and texts about its limits to `remarks`. Cost: O(n log n) for n records.
void add_passes(const timed_layers& from, stack_result& to, std::vector<std::string>& remarks);

// The length of the shortest sequence that `values` repeats at least twice; the last repetition may be cut. The size of
// `values`: no sequence repeats.
std::size_t find_period(const std::vector<std::uint32_t>& values);

}  // namespace adaptyst::lib

#endif
