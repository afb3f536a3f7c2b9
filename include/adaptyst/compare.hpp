// Two profiles held against each other, call path by call path: what takes longer now, and is that more than chance?
//
//   const adaptyst::comparison all = adaptyst::compare(adaptyst::read_profile("old.json"),
//                                                      adaptyst::read_profile("new.json"));
//   for (const adaptyst::compared_region& r : all.regions)
//     if (r.slower_by(0.05)) std::cout << r.path.back() << " takes over 5 % longer\n";
//
// What the test of significance cannot know: two runs may differ as wholes (another machine, clock rate, memory layout),
// and events of one run resemble each other. Both make it see differences that another pair of runs would not show;
// merge several runs into each side. It works on the buckets of histograms, so that a shift within one, at most 6 %, is
// invisible to it; and it asks for a shift of most events, not of a few very long ones.
#ifndef ADAPTYST_COMPARE_HPP
#define ADAPTYST_COMPARE_HPP

#include "profile.hpp"

namespace adaptyst { inline namespace v1 {

struct rank_test_result {
  double p = 1;         // how often chance alone makes a difference as large as this
  double slower = 0.5;  // how often an event of the second takes longer than one of the first; ties count half
};

// Whether events of `after` tend to take longer, or shorter, than those of `before`: the Mann-Whitney U test, two-sided.
// Empty where either has fewer than 8 events, too few for the normal approximation.
std::optional<rank_test_result> rank_test(const histogram& before, const histogram& after);

// p below this is called significant.
constexpr double significance_level = 0.01;

// A region in one of the profiles, summed over the source lines that give it the same names.
struct compared_side {
  std::uint64_t count = 0;
  std::optional<std::uint64_t> total_ns;  // empty: not timed

  std::optional<double> mean_ns() const;
};

struct compared_region {
  std::vector<std::string> path;
  region_kind kind = region_kind::region;
  std::optional<adaptyst::device_kind> device_kind;  // empty for a device that the profile does not list
  std::uint32_t device_index = 0;
  std::optional<compared_side> before, after;  // empty: not in that profile
  // Of the durations of single events. Its p is corrected for the number of regions that were tested (Holm).
  std::optional<rank_test_result> test;

  // after / before - 1; empty where either is missing or 0.
  std::optional<double> change_of_total() const;
  std::optional<double> change_of_mean() const;
  bool significant() const;
  // The mean duration grew by more than this fraction, and the test says that events take longer now.
  bool slower_by(double fraction) const;
};

struct comparison {
  std::vector<compared_region> regions;  // by the absolute change of the total, greatest first
  std::size_t ignored = 0;               // regions below the least share in both profiles
};

// Matches regions by the names of the path, kind, and kind and index of the device: lines and ids may have moved.
// Regions whose total is below `least_share` of the duration of their processes, in both profiles, are ignored.
comparison compare(const profile& before, const profile& after, double least_share = 0);

// The comparison as JSON (docs/comparison-schema.json), or as a table for people.
std::string to_json(const comparison& of);
std::string to_table(const comparison& of);

// The regions that got slower by more than this fraction (slower_by), a line each; empty if none.
std::string list_slower(const comparison& of, double fraction);

}}  // namespace adaptyst::v1

#endif
