// Figures for each level of a program, from runs that each stopped at one level. The method is that of XSP's levelled
// experiments (Li et al., IPDPS 2020, arXiv 1908.06869): the figures of a level come only from runs without deeper
// levels, so they exclude the overhead of deeper levels. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_LEVELS_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_LEVELS_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../support/levels.hpp"

namespace adaptyst::lib {

// The mean of repeated measurements without the extreme ones, and the standard error.
struct estimate {
  double value = 0;
  std::optional<double> error;  // standard error; absent for one measurement
  std::size_t count = 0;        // number of measurements
};

// The number of values that trimmed_mean() removes at each end.
std::size_t count_trimmed(std::size_t count, double fraction);

// Empty for no values. Fewer than three: the mean. Three: the median. More: the mean without the floor(n * fraction)
// least and greatest values; if none would remain, as for four at 0.2, all are kept. `fraction`: from 0 to below 0.5.
//
// The error is Yuen's (1974), from the winsorised sum of squares; without trimming it is s / sqrt(n). For three values
// it is the error of their mean.
std::optional<estimate> trimmed_mean(std::vector<double> values, double fraction);

// a - b for independent measurements.
estimate difference(const estimate& a, const estimate& b);

struct levelled_run {
  level deepest;
  profile measured;
};

// A call path on one device, from the runs that stopped at its level and contained it. Times are nanoseconds per run.
struct levelled_region {
  std::vector<std::string> path;
  level at = level::application;
  std::string device;                 // "host", "gpu0": device numbers may differ between runs
  std::size_t runs = 0, of_runs = 0;  // runs that contained it, and all runs that stopped at its level
  double calls = 0;                   // per run, the mean over the runs that enter total_ns
  bool calls_vary = false;            // between these runs, or between these and deeper runs
  estimate total_ns;
  std::optional<estimate> per_call_ns;  // absent: no calls
  // The additional time in the runs with the next deeper level. Absent: no such runs, or the region was not recorded
  // there.
  std::optional<estimate> overhead_ns;
  // The same for payloads and adapters. Absent: unknown in at least one of these runs.
  std::optional<double> bytes, flops;
  std::uint32_t threads = 0;  // the highest number of threads in one of these runs
  // From the time above. Absent: a device, or flops, bytes or ceilings are unknown.
  std::optional<adaptyst::roofline> roofline;

  // The weight in sums over regions, so that these are means over all runs.
  double share_of_runs() const { return of_runs != 0 ? static_cast<double>(runs) / static_cast<double>(of_runs) : 1; }
};

struct levelled_summary {
  level which;
  std::size_t runs = 0;
  std::size_t regions = 0;
  double events = 0;  // events of that level in a run, on average
  estimate run_ns;    // the sum over processes of the time from the start of observation to the end
  // Compared with the runs that stopped one level higher. Absent for the highest level.
  std::optional<estimate> overhead_ns;
};

// The settings of the measurement.
struct levels_settings {
  std::vector<std::string> command;
  std::size_t repeat = 0;
  std::string overhead;             // the option
  std::string engine;               // of the runs
  std::vector<std::string> rules;   // of the user
  std::vector<std::string> traces;  // the run, if no command was run

  // Empty for a trace: no run was made with these settings.
  template <class Value>
  std::optional<Value> if_run(const Value& value) const {
    return traces.empty() ? std::optional<Value>(value) : std::nullopt;
  }
};

struct levels_result {
  double trim = 0;
  std::vector<levelled_summary> levels;      // from the highest level down
  std::vector<levelled_region> regions;      // parents before children, as in a profile
  std::vector<std::string> remarks;          // limits of the figures
  std::optional<machine_ceilings> ceilings;  // for the rooflines of regions
};

// The level of a marker or operation. `name`: with the payload's texts in brackets; `own`: its own level.
level level_of(std::string_view name, std::string_view function, region_kind kind, std::optional<level> own,
               const detail::level_settings& rules);
// The level of a region of a profile, by its name and kind.
level level_of(const region& region, const detail::level_settings& rules);
// The levels that occur in a profile, from the highest down.
std::vector<level> list_levels(const profile& profile, const detail::level_settings& rules);

// `runs`: in any order. `trim`: see trimmed_mean(). `ceilings`: of the machine of all runs, if known.
levels_result compute_levels(const std::vector<levelled_run>& runs, const detail::level_settings& rules, double trim,
                             const std::optional<machine_ceilings>& ceilings = std::nullopt);

// The same for a run that recorded all its levels, such as a trace. Overhead is unknown. `deepest`: of the figures.
levels_result compute_levels(const profile& run, level deepest, const detail::level_settings& rules,
                             const std::optional<machine_ceilings>& ceilings = std::nullopt);

}  // namespace adaptyst::lib

#endif
