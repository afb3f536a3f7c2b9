// Compares profiles of runs before and after a change, call path by call path.
//
//   std::vector<adaptyst::profile> before, after;  // of five runs each, taken alternately
//   const adaptyst::comparison all = adaptyst::compare_runs(before, after);
//   for (const adaptyst::compared_region& r : all.regions)
//     if (r.slower_by(0.05)) std::cout << r.path.back() << " takes over 5 % longer\n";
//
// Two runs of a program always differ, by clock rates, memory layout and other programs. A change is therefore compared
// with the differences between runs of the same side. With one run per side, it must exceed `single_run_floor` as well.
// docs/comparing.md has the formulas and their limits.
#ifndef ADAPTYST_COMPARE_HPP
#define ADAPTYST_COMPARE_HPP

#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

struct rank_test_result {
  double p = 1;  // probability of a difference at least this large by chance
  // Probability that an event of `after` takes longer than an event of `before`; ties count half.
  double slower = 0.5;
};

// Two-sided Mann-Whitney U test: do events of `after` tend to take longer or shorter than events of `before`? Empty
// below 8 events per side, too few for the normal approximation. It works on buckets: shifts within a bucket (at most 6
// %) are invisible. It detects a shift of most events, not of a few very long ones.
std::optional<rank_test_result> rank_test(const histogram& before, const histogram& after);

// A smaller p is significant. This is the probability of any wrong verdict in a whole comparison.
constexpr double significance_level = 0.02;
// Means of two single runs may differ by this without a verdict: 0.1 is from 1/1.1 (-9.1 %) to +10 %. Few programs
// drift this far on an idle machine, many on a busy machine.
constexpr double single_run_floor = 0.1;

// A region on one side, summed over runs, and over source lines that give it the same names.
struct compared_side {
  std::size_t runs = 0;  // runs that contain the region
  std::uint64_t count = 0;
  std::optional<std::uint64_t> total_ns;  // empty if not timed

  std::optional<double> mean_ns() const;
  std::optional<double> total_of_run_ns() const;  // per run that contains the region
};

enum class change_verdict {
  slower,
  faster,
  unclear,   // the difference may be chance, or drift of a single run
  untested,  // not timed, or too few runs or events
  appeared,  // only in `after`
  vanished,  // only in `before`
};
const char* to_string(change_verdict what);

// Fractions: 0.1 is 10 % more. 95 % confidence interval of this region alone, without correction for the number of
// regions.
struct change_interval {
  double low = 0, high = 0;
};

struct compared_region {
  std::vector<std::string> path;
  region_kind kind = region_kind::region;
  std::optional<adaptyst::device_kind> device_kind;  // empty if the profiles do not list the device
  std::uint32_t device_index = 0;
  bool on_host = false;
  std::optional<compared_side> before, after;  // empty: in no run
  // Change of the mean duration of an event, as a fraction. With several runs, of their geometric mean.
  std::optional<double> change_of_mean;
  std::optional<change_interval> interval;
  // Probability that chance makes a change this large anywhere in the comparison. Empty if untested.
  std::optional<double> p;
  std::optional<double> slower;  // single runs only, see rank_test_result
  change_verdict found = change_verdict::untested;

  // after / before - 1, per run; empty if either is missing or 0.
  std::optional<double> change_of_total() const;
  // True if the verdict is slower and the mean duration grew by more than this fraction.
  bool slower_by(double fraction) const;
};

// The test that separates changes from chance.
enum class comparison_method {
  single_runs,   // rank_test() of single events, and the floor
  permutations,  // of runs: greatest Welch's t of all regions, on logarithms of mean durations
  welch,         // the distribution of the same t: too few runs to permute
};
const char* to_string(comparison_method how);

// The compared time of a region.
enum class compared_time {
  wall,  // from begin to end
  // On a core, from the kernel's context. It is unknown for single events, and single runs have no verdict.
  running,
};
const char* to_string(compared_time which);

enum class setting_kind { engine, option, metadata };
const char* to_string(setting_kind what);

// A difference in how the two sides were run, which may explain a change: the engine, an option, or
// adaptyst::metadata().
struct differing_setting {
  setting_kind kind = setting_kind::engine;
  std::string name;
  std::string before, after;  // all values of a side's runs, joined by ", "; empty if no run has it
};

struct comparison {
  std::size_t runs_before = 0, runs_after = 0;
  compared_time by = compared_time::wall;
  std::vector<differing_setting> differing;
  // Two single runs with the same counts, times and distributions of all regions.
  bool is_equal = false;
  // Share of runnable time without a core, mean over the runs; empty if unknown.
  std::optional<double> no_core_before, no_core_after;
  comparison_method method = comparison_method::single_runs;
  std::vector<compared_region> regions;  // by absolute change of a run's total, greatest first
  std::size_t ignored = 0;               // regions below min_share on both sides
};

// Matches regions by names of the path, kind, and kind and index of the device, because lines and ids may change.
// Ignores regions with totals below `min_share` of their processes' duration on both sides.
comparison compare_runs(const std::vector<profile>& before, const std::vector<profile>& after, double min_share = 0,
                        compared_time by = compared_time::wall);
// Compares two single runs.
comparison compare(const profile& before, const profile& after, double min_share = 0,
                   compared_time by = compared_time::wall);

// The comparison as JSON (docs/comparison-schema.json), as an HTML report (docs/page.md), or as a table.
std::string to_json(const comparison& comparison);
std::string to_html(const comparison& comparison);
std::string to_table(const comparison& comparison);

// Regions for which slower_by(fraction) is true, one line each; empty if none.
std::string list_slower(const comparison& comparison, double fraction);

}}  // namespace adaptyst::v1

#endif
