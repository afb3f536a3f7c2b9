// Figures of some windows, and their merge. All sums are integers, so the order of the parts does not change them.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_PARTS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_PARTS_HPP

#include <adaptyst/detail/histogram.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../../model/copy_direction.hpp"
#include "bucket_counts.hpp"
#include "statistics.hpp"

namespace adaptyst::lib {

// Windows: [origin + k width, origin + (k + 1) width).
struct window_grid {
  std::uint64_t origin_ns = 0, width_ns = 10'000'000;
  // The windows that are analysed together.
  static constexpr std::uint64_t windows_in_block = 64;

  std::uint64_t block_ns() const noexcept { return width_ns * windows_in_block; }
  std::uint64_t block(std::uint64_t time_ns) const noexcept { return (time_ns - origin_ns) / block_ns(); }
  std::uint64_t block_begin(std::uint64_t block) const noexcept { return origin_ns + block * block_ns(); }
};

enum class span_role : std::uint8_t {
  work,
  copy,
  rest_of_work,  // a span that began in an earlier block: covers time, and is not counted again
  rest_of_copy,
};

// A span until the analysis of its block. A trace has millions of them, so the struct is small.
struct kept_span {
  std::uint64_t start_and_role = 0;  // the role in the two highest bits
  std::uint64_t end = 0;
  std::uint32_t name = 0, group = 0;  // `name` of a copy: its bytes

  // A copy of more bytes has rests of no length with the others.
  static constexpr std::uint32_t unknown_bytes = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t most_bytes = unknown_bytes - 1;

  static constexpr unsigned role_at = 62;
  static constexpr std::uint64_t time_bits = (std::uint64_t{1} << role_at) - 1;

  kept_span() = default;
  kept_span(std::uint64_t begin, std::uint64_t end_ns, std::uint32_t named, std::uint32_t grouped, span_role role)
      : start_and_role(begin | static_cast<std::uint64_t>(role) << role_at), end(end_ns), name(named), group(grouped) {}
  std::uint64_t start() const noexcept { return start_and_role & time_bits; }
  span_role role() const noexcept { return static_cast<span_role>(start_and_role >> role_at); }
  bool is_copy() const noexcept { return role() == span_role::copy || role() == span_role::rest_of_copy; }
};

// A longer gap is not attributed to the copy. Launches take 5 to 20 us.
constexpr std::uint64_t max_launch_gap_ns = 50'000;

constexpr std::uint32_t no_name = std::numeric_limits<std::uint32_t>::max();

struct window_row {
  std::uint64_t window = 0;
  std::uint32_t group = 0, name = no_name;  // windows differ by one of the two
  std::uint64_t count = 0;                  // spans that start in the window
  wide_uint sum = 0, squares = 0;
  std::uint64_t min = 0, max = 0;
  double p50 = 0, p95 = 0;
  std::int64_t log_sum = 0;
  // Time within the window that is covered by work, by copies, by copies without work, and by either.
  std::uint64_t busy_ns = 0, copy_ns = 0, stall_ns = 0, active_ns = 0;
  std::uint64_t copied_bytes = 0;  // by copies that start in the window
  bool has_unknown_bytes = false;
};

// One name in one window: the basis of its slowness, and its name for the report.
struct window_entry {
  std::uint64_t window = 0;
  std::uint32_t group = 0, name = 0;
  std::uint64_t count = 0, sum = 0;
};

// Kernels that followed a copy, as sums over windows: of the means of a window, and of their logarithms (fixed_log2).
struct wait_sums {
  std::uint64_t windows = 0, count = 0;
  std::uint64_t later =
      0;  // kernels that started on an idle device after a copy, but more than max_launch_gap_ns later
  wide_uint copy_ns = 0, delay_ns = 0;
  wide_uint copy_logs = 0, delay_logs = 0, copy_squares = 0, delay_squares = 0, products = 0;

  void add_window(std::uint64_t kernels, std::uint64_t all_copies_ns, std::uint64_t all_delays_ns);
  void add(const wait_sums& more);
};

struct name_sums {
  std::uint64_t count = 0;
  wide_uint sum = 0, squares = 0;
  std::uint64_t min = std::numeric_limits<std::uint64_t>::max(), max = 0;
  std::int64_t log_sum = 0;
  wide_uint log_squares = 0;
  bucket_counts buckets;
  wait_sums waits;

  void add(std::uint64_t duration_ns, std::int64_t log) {
    ++count;
    sum += duration_ns;
    squares += static_cast<wide_uint>(duration_ns) * duration_ns;
    min = duration_ns < min ? duration_ns : min;
    max = duration_ns > max ? duration_ns : max;
    log_sum += log;
    log_squares += static_cast<wide_uint>(log * log);
    buckets.add(adaptyst_histogram_bucket(duration_ns), 1);
  }
  void add(const name_sums& more);
};

struct copy_sums {
  std::uint64_t count = 0;
  wide_uint time_ns = 0, bytes = 0;
  bool has_unknown_bytes = false;

  void add(const copy_sums& more) {
    count += more.count;
    time_ns += more.time_ns;
    bytes += more.bytes;
    has_unknown_bytes = has_unknown_bytes || more.has_unknown_bytes;
  }
};
// By group and direction.
using copy_totals = std::map<std::pair<std::uint32_t, std::optional<copy_direction>>, copy_sums>;

struct variability_parts {
  std::vector<window_row> windows;
  std::vector<window_entry> entries;
  std::unordered_map<std::uint64_t, std::unique_ptr<name_sums>> names;  // by group and name
  copy_totals copies;
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;

  static std::uint64_t key(std::uint32_t group, std::uint32_t name) { return std::uint64_t{group} << 32U | name; }
  name_sums& find(std::uint32_t group, std::uint32_t name);
  // Adds other windows, with the same numbers for names.
  void add(variability_parts&& more);
};

}  // namespace adaptyst::lib

#endif
