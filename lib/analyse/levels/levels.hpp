// What each level of a program takes, from runs of which each stopped at one level. The method is that of XSP's levelled
// experiments (Li et al., IPDPS 2020, arXiv 1908.06869): the figures of a level come only from runs that looked no deeper,
// so that they never hold what it costs to look deeper. Pure.
#ifndef ADAPTYST_LIB_ANALYSE_LEVELS_LEVELS_HPP
#define ADAPTYST_LIB_ANALYSE_LEVELS_LEVELS_HPP

#include <adaptyst/profile.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "../../support/levels.hpp"
#include "trimmed_mean.hpp"

namespace adaptyst::lib {

struct levelled_run {
  level deepest;
  profile measured;
};

// A call path on one device, as seen by the runs that stopped at its own level, and had it. Times are nanoseconds of a run.
struct levelled_region {
  std::vector<std::string> path;
  level at = level::application;
  std::string device;                 // "host", "gpu0": numbers of devices may differ from run to run
  std::size_t runs = 0, of_runs = 0;  // how many had it, of how many that stopped at its level
  double calls = 0;                   // in such a run, on average over those of which total_ns is the mean
  bool calls_vary = false;            // between these runs, or between them and deeper ones
  estimate total_ns;
  std::optional<estimate> per_call_ns;  // absent: no calls
  // How much longer it took in the runs that looked one level deeper. Absent: there were none, or it was not seen there.
  std::optional<estimate> overhead_ns;
  // Likewise, as payloads and adapters say. Absent: not known of each of these runs.
  std::optional<double> bytes, flops;
  std::uint32_t threads = 0;  // the most that ran it in one of these runs
  // With the time above. Absent: of a device, or flops, bytes or ceilings are not known.
  std::optional<adaptyst::roofline> roofline;

  // By which sums over regions weigh it, so that they are of a run, on average over all.
  double share_of_runs() const { return of_runs != 0 ? static_cast<double>(runs) / static_cast<double>(of_runs) : 1; }
};

struct levelled_summary {
  level which;
  std::size_t runs = 0;
  std::size_t regions = 0;
  double events = 0;  // of that level in a run, on average
  estimate run_ns;    // of the processes: from when they were first looked at to their end, summed
  // Against the runs that stopped one level higher. Absent for the highest.
  std::optional<estimate> overhead_ns;
};

// How it was measured.
struct levels_settings {
  std::vector<std::string> command;
  std::size_t repeat = 0;
  std::string overhead;            // the option
  std::string engine;              // of the runs
  std::vector<std::string> rules;  // of the user
  bool with_stack = false;         // the analyses of stack.hpp as well
};

struct levels_result {
  double trim = 0;
  std::vector<levelled_summary> levels;      // from the highest on
  std::vector<levelled_region> regions;      // parents before children, as in a profile
  std::vector<std::string> remarks;          // what the figures cannot tell
  std::optional<machine_ceilings> ceilings;  // by which regions have a roofline
};

// Of one region of a profile: by its name and kind.
level level_of(const region& region, const detail::level_settings& rules);
// The levels of which a profile has regions, from the highest on.
std::vector<level> list_levels(const profile& profile, const detail::level_settings& rules);

// Runs in any order. `trim`: see trimmed_mean(). `ceilings`: of the machine on which all of them ran, where known.
levels_result compute_levels(const std::vector<levelled_run>& runs, const detail::level_settings& rules, double trim,
                             const std::optional<machine_ceilings>& ceilings = std::nullopt);

}  // namespace adaptyst::lib

#endif
