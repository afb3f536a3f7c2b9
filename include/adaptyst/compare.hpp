// Did a change make the program faster? Compares profiles of runs before and after it, call path by call path.
//
//   std::vector<adaptyst::profile> before, after;  // of five runs each, taken by turns
//   const adaptyst::comparison all = adaptyst::compare_runs(before, after);
//   for (const adaptyst::compared_region& r : all.regions)
//     if (r.slower_by(0.05)) std::cout << r.path.back() << " takes over 5 % longer\n";
//
// Two runs of one program always differ, by clock rates, memory layout and other programs on the machine. By how much,
// only further runs can show. So a change is compared with the differences between runs of the same side; with a single
// run a side, it must exceed `single_run_floor` as well. docs/comparing.md has the formulas, and what they cannot know.
#ifndef ADAPTYST_COMPARE_HPP
#define ADAPTYST_COMPARE_HPP

#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

struct rank_test_result {
  double p = 1;         // how often chance alone makes a difference as large as this
  double slower = 0.5;  // how often an event of the second takes longer than one of the first; ties count half
};

// Whether events of `after` tend to take longer, or shorter, than those of `before`: the Mann-Whitney U test,
// two-sided. Empty where either has fewer than 8 events, too few for the normal approximation. It works on buckets, so
// that a shift within one, at most 6 %, is invisible to it; and it detects a shift of most events, not of a few very
// long ones.
std::optional<rank_test_result> rank_test(const histogram& before, const histogram& after);

// p below this is called significant. It is the chance of any wrong finding in a whole comparison.
constexpr double significance_level = 0.02;
// By how much means of two single runs may differ without that being called a change: 0.1 is from 1/1.1, which is -9.1 %,
// to +10 %. A single profile does not show how runs differ. On an idle machine few programs drift this far, on a busy one
// many do.
constexpr double single_run_floor = 0.1;

// A region on one side, summed over the source lines that give it the same names, and over runs.
struct compared_side {
  std::size_t runs = 0;  // that contain the region
  std::uint64_t count = 0;
  std::optional<std::uint64_t> total_ns;  // empty: not timed

  std::optional<double> mean_ns() const;
  std::optional<double> total_of_run_ns() const;  // per run that contains the region
};

enum class change_verdict {
  slower,
  faster,
  unclear,   // the difference may be chance, or the drift of a single run
  untested,  // not timed, or in too few runs, or too few events
  appeared,  // only after
  vanished,  // only before
};
const char* to_string(change_verdict what);

// Fractions: 0.1 is 10 % more. With 95 % certainty the change is between them, for this region alone, without a
// correction for the number of regions.
struct change_interval {
  double low = 0, high = 0;
};

struct compared_region {
  std::vector<std::string> path;
  region_kind kind = region_kind::region;
  std::optional<adaptyst::device_kind> device_kind;  // empty for a device that the profiles do not list
  std::uint32_t device_index = 0;
  bool on_host = false;
  std::optional<compared_side> before, after;  // empty: in none of the runs
  // Of the mean duration of an event, as a fraction; of the runs' geometric mean where there are several.
  std::optional<double> change_of_mean;
  std::optional<change_interval> interval;
  // How often chance alone makes a change as large as this anywhere in the comparison. Empty: untested.
  std::optional<double> p;
  std::optional<double> slower;  // of single runs, see rank_test_result
  change_verdict found = change_verdict::untested;

  // after / before - 1, of a run; empty where either is missing or 0.
  std::optional<double> change_of_total() const;
  // It is found to be slower, and its mean duration grew by more than this fraction.
  bool slower_by(double fraction) const;
};

// How it was decided which changes are more than chance.
enum class comparison_method {
  single_runs,   // rank_test() of single events, and the floor
  permutations,  // of runs: compares the greatest Welch's t of all regions, on logarithms of mean durations
  welch,         // the same t by its distribution: too few runs to permute
};
const char* to_string(comparison_method how);

// Which time of a region is compared.
enum class compared_time {
  wall,     // from begin to end
  running,  // on a core, as the kernel's context has it; of single events it is not known, so single runs have no verdict
};
const char* to_string(compared_time which);

enum class setting_kind { engine, option, metadata };
const char* to_string(setting_kind what);

// Something with which the sides were run that is not the same on both, so that it may be what made the difference: the
// engine that observed them, an option, or what the program told by adaptyst::metadata().
struct differing_setting {
  setting_kind kind = setting_kind::engine;
  std::string name;
  std::string before, after;  // all values of a side's runs, ", " between them; empty: none has it
};

struct comparison {
  std::size_t runs_before = 0, runs_after = 0;
  compared_time by = compared_time::wall;
  std::vector<differing_setting> differing;
  // Two single runs whose regions have the same counts, times and distributions.
  bool is_equal = false;
  // The share of the time in which threads could run that they had no core, on average over the runs; empty: not known.
  std::optional<double> no_core_before, no_core_after;
  comparison_method method = comparison_method::single_runs;
  std::vector<compared_region> regions;  // by the absolute change of a run's total, greatest first
  std::size_t ignored = 0;               // regions below the least share on both sides
};

// Matches regions by the names of the path, kind, and kind and index of the device: lines and ids may have moved.
// Regions whose total is below `min_share` of the duration of their processes, on both sides, are ignored.
comparison compare_runs(const std::vector<profile>& before, const std::vector<profile>& after, double min_share = 0,
                        compared_time by = compared_time::wall);
// Single runs.
comparison compare(const profile& before, const profile& after, double min_share = 0,
                   compared_time by = compared_time::wall);

// The comparison as JSON (docs/comparison-schema.json), as a table for people, or as a page for a browser (docs/page.md).
std::string to_json(const comparison& comparison);
std::string to_html(const comparison& comparison);
std::string to_table(const comparison& comparison);

// The regions that got slower by more than this fraction (slower_by), a line each; empty if none.
std::string list_slower(const comparison& comparison, double fraction);

}}  // namespace adaptyst::v1

#endif
