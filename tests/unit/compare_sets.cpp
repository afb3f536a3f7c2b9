// Sets of runs against each other: by hand, and how often a (simulated) drift of runs is taken for a change, and a
// change for drift.
#include <adaptyst/compare.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "catch.hpp"
#include "model/set_test.hpp"

namespace {

using verdict = adaptyst::change_verdict;
namespace lib = adaptyst::lib;

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

adaptyst::profile make_run(std::vector<std::pair<const char*, std::uint64_t>> means_ns, std::uint64_t count = 10) {
  adaptyst::profile made;
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.processes.push_back({1, "solver", "host", 1'000'000'000});
  for (const auto& [name, mean_ns] : means_ns) {
    adaptyst::region row;
    row.path = {name};
    row.count = count;
    row.total_ns = mean_ns * count;
    row.min_ns = row.max_ns = mean_ns;
    row.durations.add(mean_ns, count);
    made.regions.push_back(row);
  }
  return made;
}

std::vector<adaptyst::profile> make_runs(const std::vector<std::uint64_t>& means_ns) {
  std::vector<adaptyst::profile> made;
  for (const std::uint64_t mean_ns : means_ns) made.push_back(make_run({{"a", mean_ns}}));
  return made;
}

// Simulated runs of one program, taken by turns: what all regions have in common, as the clock rate, wanders from run
// to run and jumps; and each has noise of its own. Both have heavy tails (Student's t of 3 degrees), as of a machine
// that now and then does something else.
class simulated_runs {
 public:
  simulated_runs(std::uint64_t seed, double common, double own) : random_(seed), common_(common), own_(own) {}

  // Logarithms of mean durations, first those of before; the first region takes longer after.
  std::vector<lib::run_values> draw(std::size_t regions, std::size_t a_side, double longer) {
    std::vector<lib::run_values> all(regions, lib::run_values(2 * a_side));
    double wandered = 0;
    for (std::size_t turn = 0; turn != 2 * a_side; ++turn) {
      const bool is_after = turn % 2 == 1;
      const std::size_t run = turn / 2 + (is_after ? a_side : 0);
      wandered += common_ / 4 * normal_(random_);
      const double of_run = wandered + common_ * heavy();
      for (std::size_t at = 0; at != regions; ++at)
        all[at][run] = std::log(1000.0 * static_cast<double>(at + 1)) + of_run + own_ * heavy();
      if (is_after) all.front()[run] += std::log1p(longer);
    }
    return all;
  }

 private:
  double heavy() { return student_(random_) / std::sqrt(3.0); }  // of deviation 1

  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{3};
  double common_, own_;
};

std::vector<double> p_value(const std::vector<lib::run_values>& regions, std::size_t before, bool permuted) {
  std::vector<double> made;
  if (permuted) {
    for (const std::optional<double>& p : lib::permuted_p(regions, before)) made.push_back(p.value());
    return made;
  }
  for (const lib::run_values& values : regions) made.push_back(lib::compare_means(values, before)->p());
  std::vector<double*> tests;
  for (double& p : made) tests.push_back(&p);
  lib::correct_for_number(tests);
  return made;
}

// In how many of the comparisons any region is raised although nothing changed.
int false_alarms(int comparisons, std::size_t a_side, bool permuted, double common, double own) {
  simulated_runs runs(11, common, own);
  int raised = 0;
  for (int round = 0; round != comparisons; ++round) {
    const std::vector<double> all = p_value(runs.draw(8, a_side, 0), a_side, permuted);
    if (*std::min_element(all.begin(), all.end()) < adaptyst::significance_level) ++raised;
  }
  return raised;
}

}  // namespace

TEST_CASE("Welch's t, worked by hand") {
  // Means 2 and 5, variances 1 and 4 of 3 runs each: t = 3 / sqrt(1/3 + 4/3) = 2.3238; degrees (5/3)² / ((1/9 + 16/9) /
  // 2) = 2.9412.
  const std::optional<lib::welch> found = lib::compare_means({1, 2, 3, 3, 5, 7}, 3);
  REQUIRE(found.has_value());
  CHECK(found->difference == Approx(3));
  CHECK(found->t() == Approx(2.32379).epsilon(1e-5));
  CHECK(found->degrees == Approx(2.94118).epsilon(1e-5));
  // Of Student's distribution in closed form: 1 degree: 1 - 2/π atan t; 2: 1 - t/sqrt(2 + t²).
  CHECK(lib::welch{3, 1, 1}.p() == Approx(1 - 2 / std::acos(-1.0) * std::atan(3.0)).epsilon(1e-9));
  CHECK(lib::welch{3, 1, 2}.p() == Approx(1 - 3 / std::sqrt(11.0)).epsilon(1e-9));
  CHECK(lib::welch{0, 1, 5}.p() == Approx(1));
  CHECK(lib::welch{1, 2, 2}.reach() == Approx(2 * 4.302653).epsilon(1e-6));  // tabulated
  CHECK(lib::welch{1, 2, 8}.reach() == Approx(2 * 2.306004).epsilon(1e-6));
  CHECK_FALSE(lib::compare_means({1, 2, 3, 4}, 1).has_value());
  CHECK_FALSE(lib::compare_means({1, 2, absent, 3, 4}, 3)->difference < 0);
  CHECK_FALSE(lib::compare_means({1, absent, absent, 3, 4}, 3).has_value());
}

TEST_CASE("permutations of runs, worked by hand") {
  // Of 20 ways to deal 6 runs, only the one that happened and its mirror have a t this large.
  CHECK(lib::permuted_p({{1, 2, 3, 11, 12, 13}}, 3).at(0) == Approx(2.0 / 20));
  CHECK(lib::min_permuted_p(3, 3) == Approx(2.0 / 20));
  CHECK(lib::min_permuted_p(4, 5) == Approx(1.0 / 126));
  CHECK(lib::permuted_p({{1, 2, 3, 1, 2, 3}}, 3).at(0) == 1.0);
  // What others do decides as well: the second reaches as large a t in the way in which it is dealt apart.
  const auto both = lib::permuted_p({{1, 2, 3, 11, 12, 13}, {1, 11, 12, 2, 3, 13}}, 3);
  CHECK(both.at(0) == Approx(4.0 / 20));
  CHECK(both.at(1).value() > 0.5);
  CHECK_FALSE(lib::permuted_p({{1, absent, absent, 11, 12, 13}, {1, 2, 3, 4, 5, 6}}, 3).at(0).has_value());
  // More ways than are tried: drawn, and the same each time.
  lib::run_values many(24);
  for (std::size_t at = 0; at != many.size(); ++at) many[at] = static_cast<double>(at % 5) + (at < 12 ? 0 : 20);
  CHECK(lib::permuted_p({many}, 12).at(0) == Approx(1.0 / 20'000));
}

TEST_CASE("of 10,000 pairs of sets in which nothing changed (simulated), at most 2.5 % raise any region",
          "[coverage]") {
  constexpr int comparisons = 10'000;
  constexpr int most = comparisons * 25 / 1000;
  CHECK(false_alarms(comparisons, 5, true, 0.03, 0.01) <= most);
  CHECK(false_alarms(comparisons / 4, 5, true, 0, 0.02) <= most / 4);
  CHECK(false_alarms(comparisons, 3, false, 0.03, 0.01) <= most);
  CHECK(false_alarms(comparisons, 3, false, 0, 0.02) <= most);
}

TEST_CASE("10 % in one of 8 regions is found in five runs a side, taken by turns, that drift by 2 % (simulated)") {
  simulated_runs runs(12, 0.02, 0.01);
  constexpr int rounds = 400;
  int found = 0;
  int others = 0;
  for (int round = 0; round != rounds; ++round) {
    const std::vector<lib::run_values> all = runs.draw(8, 5, 0.1);
    const std::vector<double> p = p_value(all, 5, true);
    const double change = std::expm1(lib::compare_means(all.front(), 5)->difference);
    if (p.front() < adaptyst::significance_level && change > 0.05) ++found;
    if (*std::min_element(p.begin() + 1, p.end()) < adaptyst::significance_level) ++others;
  }
  CAPTURE(found, others);
  CHECK(found >= rounds * 9 / 10);
  CHECK(others <= rounds * 25 / 1000 + 4);
}

TEST_CASE("sets of runs: the change is that of geometric means, and a limit counts next to the verdict") {
  const adaptyst::comparison all =
      compare_runs(make_runs({1000, 1010, 990, 1005, 995}), make_runs({1200, 1210, 1190, 1205, 1195}));
  CHECK(all.method == adaptyst::comparison_method::permutations);
  CHECK(all.runs_before == 5);
  const adaptyst::compared_region& region = all.regions.at(0);
  CHECK(region.before->runs == 5);
  CHECK(region.before->total_of_run_ns() == 10'000.0);
  CHECK(region.change_of_mean.value() == Approx(0.2).epsilon(0.001));
  CHECK(region.interval->low < 0.2);
  CHECK(region.interval->low > 0.18);
  CHECK(region.p.value() == Approx(2.0 / 252));
  CHECK(region.slower_by(0.19));
  CHECK_FALSE(region.slower_by(0.21));
  CHECK(compare_runs(make_runs({1200, 1210, 1190, 1205, 1195}), make_runs({1000, 1010, 990, 1005, 995}))
            .regions.at(0)
            .found == verdict::faster);
  // One run that took long is not a slower program.
  CHECK(compare_runs(make_runs({1000, 1010, 990, 1005, 995}), make_runs({1000, 1010, 990, 1005, 5000}))
            .regions.at(0)
            .found == verdict::unclear);
}

TEST_CASE("few runs are distinguished by the distribution of t") {
  const adaptyst::comparison all = compare_runs(make_runs({1000, 1010, 990}), make_runs({1500, 1510, 1490}));
  CHECK(all.method == adaptyst::comparison_method::welch);
  CHECK(all.regions.at(0).found == verdict::slower);
  CHECK(compare_runs(make_runs({1000, 1010, 990}), make_runs({1010, 1020, 1000})).regions.at(0).found ==
        verdict::unclear);
}

TEST_CASE("a region that is in one run only is untested, and one that is in none of a side is new or gone") {
  std::vector<adaptyst::profile> before = make_runs({100, 101, 99});
  std::vector<adaptyst::profile> after = make_runs({100, 101, 99});
  before[0] = make_run({{"a", 100}, {"seldom", 10}, {"old", 10}});
  after[1] = make_run({{"a", 100}, {"seldom", 90}, {"later", 10}});
  for (const adaptyst::compared_region& region : compare_runs(before, after).regions) {
    const std::string& name = region.path.front();
    CAPTURE(name);
    CHECK(region.found == (name == "a"        ? verdict::unclear
                           : name == "seldom" ? verdict::untested
                           : name == "old"    ? verdict::vanished
                                              : verdict::appeared));
    CHECK_FALSE(region.slower_by(0));
  }
}

TEST_CASE("as JSON and as a table, sets tell how many runs there were") {
  const adaptyst::comparison all =
      compare_runs(make_runs({1000, 1010, 990, 1005, 995}), make_runs({1200, 1210, 1190, 1205, 1195}));
  const auto json = nlohmann::json::parse(to_json(all));
  CHECK(json["runs"] == nlohmann::json({{"before", 5}, {"after", 5}}));
  CHECK(json["method"] == "permutations");
  CHECK(json["floor"].is_null());
  CHECK(json["regions"].at(0)["verdict"] == "slower");
  CHECK(json["regions"].at(0)["slower"].is_null());
  const std::string table = to_table(all);
  CAPTURE(table);
  CHECK(table.find(" 5+5 10.0 us 12.0 us 1.00 us +20.0% +18.7…+21.3%  slower\n") != std::string::npos);
}

TEST_CASE("regions of few runs do not hide what changed in all runs") {
  std::vector<lib::run_values> regions{{0.00, 0.02, 0.01, 0.03, 0.015, 0.12, 0.14, 0.13, 0.11, 0.125}};
  // Where the two numbers of each side happen to be close, t is about 40, though p is above 0.0001.
  for (std::size_t region = 0; region != 40; ++region) {
    lib::run_values few(10, absent);
    const double values[] = {0, 0.03, 1, 1.03};
    for (std::size_t run = 0; run != 4; ++run) few[(region + run * (1 + region % 2 * 2)) % 10] = values[run];
    regions.push_back(few);
  }
  CHECK(lib::permuted_p(regions, 5).at(0).value() < 0.02);
}
