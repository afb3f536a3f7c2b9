// Sampled stacks, added up to a tree of frames below each region.
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

// What stands for frames that are too small to be listed.
inline constexpr const char* other_frames = "(others)";

class stack_trees {
 public:
  stack_trees();
  ~stack_trees();
  stack_trees(stack_trees&&) noexcept;
  stack_trees& operator=(stack_trees&&) noexcept;

  // `frames`: outermost first. A stack without frames tells nothing of a region, and is left out.
  void add(std::uint64_t region, const std::vector<std::string>& frames, thread_state state, std::uint64_t ns);
  void add(const std::vector<region_stacks>& all);
  // The frames with most time, up to so many of them; the time of the others is booked on "(others)" below what called them.
  std::vector<region_stacks> list(std::size_t max_frames = profile::max_frames) const;

 private:
  struct node;
  struct place;

  std::vector<place> list_places() const;

  std::map<std::uint64_t, std::unique_ptr<node>> roots_;  // by region
};

}  // namespace adaptyst::lib

#endif
