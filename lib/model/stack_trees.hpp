// Sampled stacks, summed to a tree of frames below each region.
#ifndef ADAPTYST_LIB_MODEL_STACK_TREES_HPP
#define ADAPTYST_LIB_MODEL_STACK_TREES_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "samples.hpp"

namespace adaptyst::lib {

// Represents frames that are too small for the list.
inline constexpr const char* other_frames = "(others)";

class stack_trees {
 public:
  stack_trees();
  ~stack_trees();
  stack_trees(stack_trees&&) noexcept;
  stack_trees& operator=(stack_trees&&) noexcept;

  // `frames`: outermost first. A stack without frames gives no information and is skipped.
  void add(std::uint64_t region, const std::vector<std::string>& frames, thread_state state, std::uint64_t ns);
  void add(const std::vector<region_stacks>& all);
  // The frames with most time, up to `max_frames`; the time of other frames is under "(others)" below their caller.
  std::vector<region_stacks> list(std::size_t max_frames = profile::max_frames) const;

 private:
  struct node;
  struct place;

  std::vector<place> list_places() const;

  std::map<std::uint64_t, std::unique_ptr<node>> roots_;  // by region
};

}  // namespace adaptyst::lib

#endif
