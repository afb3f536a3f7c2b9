// Makes rows from the spans of one block of windows: one row for each window and group.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_BLOCK_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_BLOCK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "coverage.hpp"
#include "order_statistics.hpp"
#include "parts.hpp"

namespace adaptyst::lib {

// For one thread; reuses its memory for the next block.
class block_analysis {
 public:
  // `by_name`: windows differ by name instead of group. `beyond`: takes durations of a window that exceed the memory;
  // null: memory takes all.
  block_analysis(window_grid grid, bool by_name, number_store* beyond = nullptr,
                 std::size_t max_durations = order_statistics::no_limit);

  // The spans of a block in any order: spans that start in it, and the rests of spans that started earlier.
  void add(std::uint64_t block, const std::vector<kept_span>& spans, variability_parts& to);

  // The same for a block that exceeds the memory: spans must come in the order of is_before().
  void begin(std::uint64_t block, variability_parts& to);
  void take(const kept_span& span);
  void end();

  static std::uint32_t key(const kept_span& of, bool by_name) noexcept { return by_name ? of.name : of.group; }
  static bool is_before(const kept_span& a, const kept_span& b, bool by_name) noexcept {
    const std::uint32_t first = key(a, by_name), second = key(b, by_name);
    return first != second ? first < second : a.start() < b.start();
  }

 private:
  // The spans of a name in the current window.
  struct slot {
    name_sums* sums = nullptr;
    std::uint64_t count = 0, sum = 0;
    std::uint64_t waits = 0, copies_ns = 0, delays_ns = 0;  // of kernels that followed a copy
  };
  // The copy before a kernel, and the time from the end of the work before it to its start.
  struct wait {
    std::uint64_t copy_ns = 0, delay_ns = 0;
    bool is_late = false;  // the kernel did not follow the copy
  };
  void note_copy(const kept_span& copy, std::uint64_t start);
  std::optional<wait> take_wait(std::uint64_t start);
  std::size_t find_series(std::uint32_t key);
  void begin_series(std::uint32_t key);
  void take_one(const kept_span& span);
  void count(const kept_span& span, std::uint64_t start, const std::optional<wait>& waited);
  void count_bytes(const kept_span& copy, std::uint64_t start);
  window_row& find_window(std::uint64_t start);
  void end_series();
  void close_window();

  window_grid grid_;
  bool by_name_;

  // Spans sorted by the group or name of their windows.
  std::unordered_map<std::uint32_t, std::uint32_t> series_;
  struct known_series {
    std::uint32_t key = 0, place = 0;
    bool is_known = false;
  };
  std::array<known_series, 64> known_series_;  // few series are active at a time
  std::vector<std::uint32_t> keys_, places_of_spans_;
  std::vector<std::size_t> counts_;
  std::vector<kept_span> ordered_, room_;  // `room_`: memory for sorting

  // The current series.
  variability_parts* to_ = nullptr;
  std::uint64_t block_ = 0, begin_ns_ = 0;
  bool has_series_ = false;
  std::uint32_t key_ = 0;
  std::vector<window_row> rows_;
  std::size_t window_ = 0;
  std::uint64_t window_end_ = 0;
  coverage busy_, copied_, active_;
  std::uint64_t work_end_ = 0;  // of all work so far; 0: none
  std::uint64_t last_copy_end_ = 0,
                last_copy_ns_ = 0;  // of the copy that ends last; no length: none, or its begin is unknown
  order_statistics durations_;

  std::vector<std::vector<slot>> slots_;  // by place of the group, then by name
  std::unordered_map<std::uint32_t, std::size_t> places_;
  std::vector<slot>* slots_at_hand_ = nullptr;
  std::uint32_t group_at_hand_ = 0;
  struct used_slot {
    std::uint32_t group, name;
    std::size_t place;
  };
  std::vector<used_slot> used_;  // in the current window
};

}  // namespace adaptyst::lib

#endif
