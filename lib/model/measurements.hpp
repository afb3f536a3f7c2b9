// The counts of an engine: rows by path id, with their paths and markers.
#ifndef ADAPTYST_LIB_MODEL_MEASUREMENTS_HPP
#define ADAPTYST_LIB_MODEL_MEASUREMENTS_HPP

#include <adaptyst/detail/histogram.h>
#include <adaptyst/probe_abi.h>

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace adaptyst::lib {

struct measured_site {
  std::string name, file, function, label;
  std::uint32_t line = 0;
  std::uint32_t kind = ADAPTYST_SITE_REGION;
  std::vector<std::string> attributes;
  std::uint32_t level = 0;  // enum adaptyst_level, or any value that a process has written
};

struct measured_path {
  std::uint64_t parent = 0;
  std::uint64_t site = 0;
  std::uint32_t device = 0;
  std::uint64_t marker = 0;  // from the kernel: the program's id of the marker, if different
};

struct measured_row {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0, self_ns = 0;
  std::uint64_t min_ns = ~std::uint64_t{0}, max_ns = 0;
  std::uint32_t threads = 0;
  histogram durations;
  std::vector<attribute> attributes;  // as named by the call site
  // For a row with sampled events: the number of skipped events; the variances of count and total.
  std::uint64_t left_out = 0;
  double count_variance = 0, total_variance = 0;
  std::uint64_t without_trap = 0;  // recorded events that the program recorded instead of the kernel
  std::uint64_t excess_ns =
      0;  // nested time that is not yet subtracted from self_ns, because it exceeds the row's own time in one part

  std::uint64_t timed() const { return count - left_out; }
  std::optional<os_context> context, self_context;
  std::optional<std::uint64_t> samples;
  std::optional<thread_spread> per_thread;
};

// A thread may have 4096 open regions, and one event above them.
constexpr std::size_t max_path_names = 4097;

using path_set = std::unordered_set<std::uint64_t>;  // by path id

struct measurements {
  std::unordered_map<std::uint64_t, measured_site> sites;
  std::unordered_map<std::uint64_t, measured_path> paths;
  std::unordered_map<std::uint64_t, measured_row> rows;
  account accounting;
};

// The cost of one event for the program.
struct event_costs {
  double engine_ns = 0;           // with the engine's method
  double recorder_ns = 0;         // in the program's recorder, because of a budget
  double sampled_ns = 0;          // the same for a sampled event: code and data are then cold
  double left_out_ns = 0;         // for a skipped event
  double left_out_around_ns = 0;  // the same for a region around others: its end must be detected
  double callback_ns = 0;         // additional cost of a region between callbacks, which has a name for each event
  double floor_ns = 0;            // duration of an empty region; 0: not measured
  // The duration of an empty event of a sampled marker, which is subtracted from recorded events, and its error.
  double sampled_floor_ns = 0, sampled_floor_error_ns = 0;

  double on(std::uint32_t step) const;
};

// Whether a marker is a stretch of its thread's time in which others may be nested.
constexpr bool is_scope(std::uint32_t kind) {
  return kind == ADAPTYST_SITE_REGION || kind == ADAPTYST_SITE_OFFLOAD || kind == ADAPTYST_SITE_WAIT ||
         kind == ADAPTYST_SITE_CALLBACK;
}

// Whether the numbers of a marker belong to the region that was open; outside all regions, they are a row.
constexpr bool is_of_enclosing(std::uint32_t kind) {
  return kind == ADAPTYST_SITE_METRIC || kind == ADAPTYST_SITE_HEAP;
}

constexpr bool is_instant(std::uint32_t kind) { return is_of_enclosing(kind) || kind == ADAPTYST_SITE_MARK; }

// The kind for an ABI number. Regions that a handle ends, and kinds of a later ABI, become regions.
region_kind to_region_kind(std::uint32_t kind);

// Adds the numbers of the rows, in any order.
void add(measured_row& sum, const measured_row& from);
void add(account& sum, const account& from);
// Assumes one lost event for each program.
void add_refused(account& sum, const refused_programs& more);
void add(measurements& sum, const measurements& from);

// Functions without markers and markers are timed separately; sets the self times where they are nested in each other.
void settle_self_times(measurements& in);

// Each recorded event of a row with sampled events was shortened by a length with this error, the same for all. Adds
// the effect on the totals.
void add_floor_error(profile& in, double error_ns);

// Sets the overhead of `in`, which was made from `from`. The cost of a function without a marker depends on its first
// instruction and is unknown.
void set_overhead(profile& in, const measurements& from, const event_costs& costs);

}  // namespace adaptyst::lib

#endif
