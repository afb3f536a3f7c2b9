// The spans of one block of windows to rows, one for each window and group.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_BLOCK_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_BLOCK_HPP

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "intervals.hpp"
#include "parts.hpp"

namespace adaptyst::lib {

// Of one thread: it keeps the room that a block took.
class block_analysis {
 public:
  // `by_name`: whether windows are told apart by names instead of groups.
  block_analysis(window_grid grid, bool by_name) : grid_(grid), by_name_(by_name) {}

  // The spans of a block, in any order: those that start in it, and the rests of those that began before.
  void add(std::uint64_t block, const std::vector<kept_span>& spans, variability_parts& to);

 private:
  struct one_span {
    std::uint64_t start, end;
    std::uint32_t name, group;
    bool is_rest;
  };
  struct series {
    std::vector<one_span> work, copies;
  };
  // What a name has in the window at hand.
  struct slot {
    name_sums* sums = nullptr;
    std::uint64_t count = 0, sum = 0;
  };
  void add_series(std::uint64_t block, std::uint32_t key, series& all, variability_parts& to);
  void count(std::uint64_t block, const std::vector<one_span>& work, variability_parts& to);
  void close_window(window_row& row, variability_parts& to);
  void cover(std::uint64_t block, series& all);

  window_grid grid_;
  bool by_name_;
  std::map<std::uint32_t, series> series_;  // by group or name
  std::vector<window_row> rows_;
  std::vector<std::uint64_t> durations_;
  std::vector<std::vector<slot>> slots_;  // by group's place, then by name
  std::map<std::uint32_t, std::size_t> places_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> used_;  // group and name, of the window at hand
};

}  // namespace adaptyst::lib

#endif
