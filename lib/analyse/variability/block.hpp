// The spans of one block of windows to rows, one for each window and group.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_BLOCK_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_BLOCK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coverage.hpp"
#include "order_statistics.hpp"
#include "parts.hpp"

namespace adaptyst::lib {

// Of one thread: it keeps the room that a block took.
class block_analysis {
 public:
  // `by_name`: whether windows are told apart by names instead of groups. `beyond`: takes the durations of a window that memory
  // has no room for; null: memory takes them all.
  block_analysis(window_grid grid, bool by_name, number_store* beyond = nullptr,
                 std::size_t max_durations = order_statistics::no_limit);

  // The spans of a block, in any order: those that start in it, and the rests of those that began before.
  void add(std::uint64_t block, const std::vector<kept_span>& spans, variability_parts& to);

  // The same, of a block whose spans are not all in memory: each after those that is_before() puts before it.
  void begin(std::uint64_t block, variability_parts& to);
  void take(const kept_span& span);
  void end();

  static std::uint32_t key(const kept_span& of, bool by_name) noexcept { return by_name ? of.name : of.group; }
  static bool is_before(const kept_span& a, const kept_span& b, bool by_name) noexcept {
    const std::uint32_t first = key(a, by_name), second = key(b, by_name);
    return first != second ? first < second : a.start() < b.start();
  }

 private:
  // What a name has in the window at hand.
  struct slot {
    name_sums* sums = nullptr;
    std::uint64_t count = 0, sum = 0;
  };
  std::size_t find_series(std::uint32_t key);
  void begin_series(std::uint32_t key);
  void take_one(const kept_span& span);
  void count(const kept_span& span, std::uint64_t start);
  void end_series();
  void close_window();

  window_grid grid_;
  bool by_name_;

  // Spans put apart by what their windows are told apart by.
  std::unordered_map<std::uint32_t, std::uint32_t> series_;
  struct known_series {
    std::uint32_t key = 0, place = 0;
    bool is_known = false;
  };
  std::array<known_series, 64> known_series_;  // few are at work at a time
  std::vector<std::uint32_t> keys_, places_of_spans_;
  std::vector<std::size_t> counts_;
  std::vector<kept_span> ordered_, room_;  // `room_`: to sort in

  // The series at hand.
  variability_parts* to_ = nullptr;
  std::uint64_t block_ = 0, begin_ns_ = 0;
  bool has_series_ = false;
  std::uint32_t key_ = 0;
  std::vector<window_row> rows_;
  std::size_t window_ = 0;
  std::uint64_t window_end_ = 0;
  coverage busy_, copied_, active_;
  order_statistics durations_;

  std::vector<std::vector<slot>> slots_;  // by group's place, then by name
  std::unordered_map<std::uint32_t, std::size_t> places_;
  std::vector<slot>* slots_at_hand_ = nullptr;
  std::uint32_t group_at_hand_ = 0;
  struct used_slot {
    std::uint32_t group, name;
    std::size_t place;
  };
  std::vector<used_slot> used_;  // of the window at hand
};

}  // namespace adaptyst::lib

#endif
