// What an engine has counted: rows by the ids of their paths, and the paths and markers themselves.
#ifndef ADAPTYST_LIB_MODEL_MEASURED_HPP
#define ADAPTYST_LIB_MODEL_MEASURED_HPP

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
  std::uint32_t level = 0;  // enum adaptyst_level, or whatever a process has written there
};

struct measured_path {
  std::uint64_t parent = 0;
  std::uint64_t site = 0;
  std::uint32_t device = 0;
  std::uint64_t marker = 0;  // from the kernel: the id by which the program knows it, if that is another
};

struct measured_row {
  std::uint64_t count = 0;
  std::uint64_t total_ns = 0, self_ns = 0;
  std::uint64_t min_ns = ~std::uint64_t{0}, max_ns = 0;
  std::uint32_t threads = 0;
  histogram durations;
  std::vector<attribute> attributes;  // as the site names them
  // Of a row on which an overhead budget has left events out: how many; the variances of count and total.
  std::uint64_t left_out = 0;
  double count_variance = 0, total_variance = 0;
  std::uint64_t without_trap = 0;  // how many of the timed events the program has recorded, not the kernel
  std::uint64_t excess_ns =
      0;  // nested, and not yet taken off self_ns: more than the row's own time, in one part of it

  std::uint64_t timed() const { return count - left_out; }
  std::optional<kernel_context> context, self_context;
  std::optional<std::uint64_t> samples;
  std::optional<thread_spread> per_thread;
};

// 4096 regions may be open on a thread, and one event lies above them.
constexpr std::size_t max_path_names = 4097;

using path_set = std::unordered_set<std::uint64_t>;  // by their ids

struct measured {
  std::unordered_map<std::uint64_t, measured_site> sites;
  std::unordered_map<std::uint64_t, measured_path> paths;
  std::unordered_map<std::uint64_t, measured_row> rows;
  account accounting;
};

// What one event costs the program.
struct event_costs {
  double engine_ns = 0;           // on the engine's own way
  double recorder_ns = 0;         // in the program's own recorder, for the sake of a budget
  double thinned_ns = 0;          // the same for one event of many: code and data are cold then
  double left_out_ns = 0;         // an event that is not recorded
  double left_out_around_ns = 0;  // the same for a region around others, whose end must be noticed
  double callback_ns = 0;         // in addition, for a region between callbacks, whose name comes with each event
  double floor_ns = 0;            // what a region that holds nothing lasts; 0: not measured
  // How long an empty event of a thinned marker lasts, by which timed events are shortened, and the error of that.
  double thinned_floor_ns = 0, thinned_floor_error_ns = 0;

  double on(std::uint32_t step) const;
};

// A marker of a stretch of its thread's time, which others may be nested in.
constexpr bool is_scope(std::uint32_t kind) {
  return kind == ADAPTYST_SITE_REGION || kind == ADAPTYST_SITE_OFFLOAD || kind == ADAPTYST_SITE_WAIT ||
         kind == ADAPTYST_SITE_CALLBACK;
}

constexpr bool is_instant(std::uint32_t kind) { return kind == ADAPTYST_SITE_METRIC || kind == ADAPTYST_SITE_MARK; }

// Of a marker, by its number in the ABI. A region that is ended by hand is one, and so is what a later ABI may have.
region_kind to_region_kind(std::uint32_t kind);

// Adds the rows' numbers, whatever order they come in.
void add(measured_row& sum, const measured_row& from);
void add(account& sum, const account& from);
// One event of each program is assumed to be lost.
void add_refused(account& sum, const refused_programs& more);
void add(measured& sum, const measured& from);

// Functions without markers and markers are timed separately: sets the self times where they are nested in each other.
void settle_self_times(measured& in);

// Each timed event of a thinned row was shortened by a length that is known to this error alone, the same for all: adds
// what this makes of the totals.
void add_floor_error(profile& in, double error_ns);

// States what the observing has cost the program: `in` was made from `from`. What a function without marker costs
// depends on its first instruction, and is not known.
void set_overhead(profile& in, const measured& from, const event_costs& costs);

}  // namespace adaptyst::lib

#endif
