// Whether two profiles differ, and by more than chance: against sums by hand, against all permutations, against samples
// drawn from a known (simulated) truth.
#include <adaptyst/compare.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>

#include "catch.hpp"
#include "samples.hpp"

namespace {

using durations = std::vector<std::uint64_t>;
using verdict = adaptyst::change_verdict;

adaptyst::histogram make_histogram(const durations& all) {
  adaptyst::histogram made;
  for (const std::uint64_t duration : all) made.add(duration);
  return made;
}

adaptyst::rank_test_result tested(const durations& before, const durations& after) {
  const auto found = adaptyst::rank_test(make_histogram(before), make_histogram(after));
  REQUIRE(found.has_value());
  return *found;
}

// Twice the number of pairs in which the second is greater, by looking at every pair.
std::uint64_t twice_u(const durations& before, const durations& after) {
  std::uint64_t sum = 0;
  for (const std::uint64_t b : before)
    for (const std::uint64_t a : after) sum += a > b ? 2 : a == b ? 1 : 0;
  return sum;
}

// How many of all ways to deal the values into two hands of eight are at least as far from the middle.
double exact_p(const durations& before, const durations& after) {
  durations all = before;
  all.insert(all.end(), after.begin(), after.end());
  const auto far = [](std::uint64_t twice) { return twice > 64 ? twice - 64 : 64 - twice; };
  const std::uint64_t seen = far(twice_u(before, after));
  unsigned ways = 0;
  unsigned as_far = 0;
  for (unsigned chosen = 0; chosen != 1U << 16U; ++chosen) {
    if (__builtin_popcount(chosen) != 8) continue;
    durations hands[2];
    for (unsigned at = 0; at != 16; ++at) hands[chosen >> at & 1U].push_back(all[at]);
    ++ways;
    if (far(twice_u(hands[0], hands[1])) >= seen) ++as_far;
  }
  return static_cast<double>(as_far) / ways;
}

adaptyst::region region(std::vector<std::string> path, const durations& all) {
  adaptyst::region made;
  made.path = std::move(path);
  made.kind = adaptyst::region_kind::region;
  made.count = all.size();
  made.total_ns = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  made.durations = make_histogram(all);
  if (!all.empty()) made.min_ns = *std::min_element(all.begin(), all.end());
  if (!all.empty()) made.max_ns = *std::max_element(all.begin(), all.end());
  return made;
}

adaptyst::profile make_profile(std::vector<adaptyst::region> regions) {
  adaptyst::profile made;
  made.engine = "inline";
  made.devices.resize(1);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.processes.push_back({1, "solver", "host", 1'000'000});
  made.regions = std::move(regions);
  return made;
}

durations repeated(std::uint64_t value, std::size_t times) { return durations(times, value); }

// Log-normal around `median_ns`, as durations often are.
durations drawn(std::mt19937_64& random, std::size_t count, double median_ns) {
  std::lognormal_distribution<double> draw(std::log(median_ns), 0.3);
  durations all;
  while (all.size() != count) all.push_back(static_cast<std::uint64_t>(draw(random)));
  return all;
}

}  // namespace

TEST_CASE("the rank test, worked by hand") {
  // Pairs in which the second is greater, ties as a half: 3.5 + 6 + 7.5 + 5 × 8 = 57 of 64. Ties: 2, 3, 6, 7 and 9
  // twice, 5 three times: 5 × 6 + 24 = 54. Variance 64/12 (17 - 54/240) = 89.467; z = (57 - 32 - 0.5)/9.4587 = 2.5902.
  const durations before{1, 2, 2, 3, 4, 5, 5, 6};
  const durations after{3, 5, 6, 7, 7, 8, 9, 9};
  CHECK(tested(before, after).slower == Approx(57.0 / 64).epsilon(1e-12));
  CHECK(tested(before, after).p == Approx(0.009591660).epsilon(1e-6));
  CHECK(tested(after, before).p == Approx(0.009591660).epsilon(1e-6));
  CHECK(tested(after, before).slower == Approx(7.0 / 64).epsilon(1e-12));
}

TEST_CASE("the rank test agrees with all permutations") {
  samples::generator random(3);
  for (int round = 0; round != 12; ++round) {
    durations before;
    durations after;
    const std::uint64_t spread = 4 + random.below(40);
    for (int i = 0; i != 8; ++i) before.push_back(random.below(spread));
    for (int i = 0; i != 8; ++i) after.push_back(random.below(spread) + static_cast<std::uint64_t>(round));
    const adaptyst::rank_test_result found = tested(before, after);
    CAPTURE(round, before, after);
    CHECK(found.slower == Approx(static_cast<double>(twice_u(before, after)) / 128).epsilon(1e-12));
    CHECK(found.p == Approx(exact_p(before, after)).epsilon(0.1).margin(0.012));
  }
}

TEST_CASE("the rank test has nothing to say of few events, and nothing against equal ones") {
  CHECK_FALSE(adaptyst::rank_test(make_histogram(repeated(5, 7)), make_histogram(repeated(9, 8))).has_value());
  CHECK_FALSE(adaptyst::rank_test(make_histogram(repeated(5, 8)), make_histogram({})).has_value());
  CHECK(tested(repeated(5, 8), repeated(5, 8)).p == 1);
  CHECK(tested(repeated(5, 8), repeated(5, 8)).slower == 0.5);
  CHECK(tested(repeated(5, 8), repeated(6, 8)).slower == 1);
}

TEST_CASE("counts may be as large as they get") {
  adaptyst::histogram before;
  adaptyst::histogram after;
  before.add(10, 1ULL << 62U);
  before.add(20, 1ULL << 62U);
  after.add(10, 1ULL << 62U);
  after.add(20, (1ULL << 62U) + (1ULL << 40U));
  const auto found = adaptyst::rank_test(before, after);
  REQUIRE(found.has_value());
  CHECK(found->p < 1e-6);  // 2^40 more of 2^62 are some 250 standard deviations
  CHECK(found->slower == Approx(0.5));
}

TEST_CASE("where nothing changed (simulated), chance alone decides how often p is small") {
  std::mt19937_64 random(5);
  constexpr int rounds = 4000;
  int below_10 = 0;
  int below_1 = 0;
  for (int round = 0; round != rounds; ++round) {
    const double p = tested(drawn(random, 60, 1e5), drawn(random, 40, 1e5)).p;
    below_10 += p < 0.1 ? 1 : 0;
    below_1 += p < 0.01 ? 1 : 0;
  }
  CHECK(below_10 == Approx(rounds * 0.1).margin(4 * std::sqrt(rounds * 0.09)));
  CHECK(below_1 == Approx(rounds * 0.01).margin(4 * std::sqrt(rounds * 0.0099)));
}

TEST_CASE("a slowdown of 20 % (simulated) is found, and so is its size") {
  std::mt19937_64 random(6);
  int found = 0;
  for (int round = 0; round != 200; ++round) {
    const adaptyst::comparison all =
        compare(make_profile({region({"a"}, drawn(random, 200, 1e5)), region({"b"}, drawn(random, 200, 1e4))}),
                make_profile({region({"a"}, drawn(random, 200, 1.2e5)), region({"b"}, drawn(random, 200, 1e4))}));
    REQUIRE(all.regions.size() == 2);
    CHECK(all.regions[0].path == std::vector<std::string>{"a"});
    CHECK(all.regions[0].change_of_mean.value_or(0) == Approx(0.2).margin(0.16));
    found += all.regions[0].slower_by(0.05) ? 1 : 0;
    CHECK_FALSE(all.regions[0].slower_by(0.5));
    CHECK_FALSE(all.regions[1].slower_by(0.2));
  }
  CHECK(found >= 195);
}

TEST_CASE("what got faster is significant, and not slower") {
  const adaptyst::comparison all =
      compare(make_profile({region({"a"}, repeated(2000, 50))}), make_profile({region({"a"}, repeated(1000, 50))}));
  CHECK(all.regions.at(0).found == verdict::faster);
  CHECK_FALSE(all.regions[0].slower_by(-1));
  CHECK(all.regions[0].change_of_total() == -0.5);
}

TEST_CASE("a mean that grew by one long event is not slower by the test") {
  durations after = repeated(1000, 50);
  after.back() = 1'000'000;
  const adaptyst::comparison all =
      compare(make_profile({region({"a"}, repeated(1000, 50))}), make_profile({region({"a"}, after)}));
  CHECK(all.regions.at(0).change_of_mean.value_or(0) > 1);
  CHECK_FALSE(all.regions[0].slower_by(0.05));
}

TEST_CASE("of single runs, a drift of less than the floor is no change, however certain the events are of it") {
  const auto found = [](std::uint64_t after) {
    return compare(make_profile({region({"a"}, repeated(1000, 5000))}),
                   make_profile({region({"a"}, repeated(after, 5000))}))
        .regions.at(0)
        .found;
  };
  CHECK(found(1090) == verdict::unclear);
  CHECK(found(1110) == verdict::slower);
  CHECK(found(920) == verdict::unclear);
  CHECK(found(900) == verdict::faster);
}

TEST_CASE("the error of an estimate widens the floor") {
  adaptyst::region before = region({"a"}, repeated(1000, 500));
  const adaptyst::region after = region({"a"}, repeated(1200, 500));
  CHECK(compare(make_profile({before}), make_profile({after})).regions.at(0).slower_by(0.05));
  before.timed_events = 10;
  before.total_variance = 0.06 * 500'000 * 0.06 * 500'000;
  const adaptyst::comparison all = compare(make_profile({before}), make_profile({after}));
  CHECK(all.regions.at(0).found == verdict::unclear);
  CHECK(all.regions.at(0).interval->high == Approx(1.2 * 1.1 * std::exp(1.96 * 0.06) - 1));
}

TEST_CASE("p is corrected for the number of regions, by hand") {
  // p of a alone is 0.00959: of three tested, 3 × 0.00959; b and c have p = 1.
  const durations same = repeated(5, 8);
  const auto with = [&](const durations& a) {
    return make_profile({region({"a"}, a), region({"b"}, same), region({"c"}, same)});
  };
  const adaptyst::comparison all = compare(with({1, 2, 2, 3, 4, 5, 5, 6}), with({3, 5, 6, 7, 7, 8, 9, 9}));
  REQUIRE(all.regions.size() == 3);
  REQUIRE(all.regions[0].p.has_value());
  CHECK(*all.regions[0].p == Approx(3 * 0.009591660).epsilon(1e-6));
  CHECK(all.regions[0].found == verdict::unclear);
  CHECK(all.regions[1].p == 1.0);
}

TEST_CASE("regions are matched by names, kind and device, wherever their lines, ids and places are") {
  adaptyst::profile before =
      make_profile({region({"a", "b"}, repeated(100, 10)), region({"a", "b"}, repeated(300, 10))});
  before.regions[0].id = 1;
  before.regions[0].site.line = 10;
  before.regions[1].id = 2;
  before.devices.resize(3);  // the host stays the first
  before.devices[1].kind = adaptyst::device_kind::gpu;
  before.devices[1].index = 3;
  before.devices[1].name = "old driver's name";
  before.regions.push_back(region({"a", "b"}, repeated(50, 10)));
  before.regions[2].device = 1;
  adaptyst::profile after = before;
  after.regions[0].id = 7;
  after.regions[0].site.line = 70;
  std::swap(after.devices[1], after.devices[2]);
  after.devices[2].name = "new driver's name";
  after.regions[2].device = 2;
  const adaptyst::comparison all = compare(before, after);
  REQUIRE(all.regions.size() == 2);
  for (const adaptyst::compared_region& region : all.regions) {
    CHECK(region.change_of_total() == 0.0);
    REQUIRE(region.before.has_value());
    CHECK(region.before->count == (region.device_kind == adaptyst::device_kind::cpu ? 20 : 10));
    CHECK(region.before->total_ns == (region.device_kind == adaptyst::device_kind::cpu ? 4000U : 500U));
  }
}

TEST_CASE("new and vanished regions have one side only, and sort by what they take") {
  const adaptyst::comparison all =
      compare(make_profile({region({"same"}, repeated(100, 10)), region({"old"}, repeated(500, 10))}),
              make_profile({region({"same"}, repeated(110, 10)), region({"new"}, repeated(300, 10))}));
  REQUIRE(all.regions.size() == 3);
  CHECK(all.regions[0].path.back() == "old");
  CHECK_FALSE(all.regions[0].after.has_value());
  CHECK_FALSE(all.regions[0].change_of_total().has_value());
  CHECK_FALSE(all.regions[0].slower_by(0));
  CHECK(all.regions[1].path.back() == "new");
  CHECK_FALSE(all.regions[1].before.has_value());
  CHECK(all.regions[2].path.back() == "same");
}

TEST_CASE("what was never timed has neither total nor change") {
  adaptyst::region mark;
  mark.path = {"mark"};
  mark.kind = adaptyst::region_kind::instant_event;
  mark.count = 5;
  const adaptyst::comparison all = compare(make_profile({mark}), make_profile({mark}));
  REQUIRE(all.regions.size() == 1);
  CHECK(all.regions[0].before->count == 5);
  CHECK_FALSE(all.regions[0].before->total_ns.has_value());
  CHECK_FALSE(all.regions[0].change_of_total().has_value());
  CHECK(all.regions[0].found == verdict::untested);
}

TEST_CASE("regions below the least share of both runs are ignored, and not counted among the tests") {
  const auto with = [](std::uint64_t large, std::uint64_t small) {  // of 1,000,000 ns
    return make_profile({region({"large"}, repeated(large, 10)), region({"small"}, repeated(small, 10))});
  };
  CHECK(compare(with(50000, 900), with(60000, 999), 0.01).regions.size() == 1);
  CHECK(compare(with(50000, 900), with(60000, 999), 0.01).ignored == 1);
  CHECK(compare(with(50000, 900), with(60000, 1000), 0.01).regions.size() == 2);
  CHECK(compare(with(50000, 1000), with(60000, 1), 0.01).regions.size() == 2);
  CHECK(compare(with(50000, 0), with(60000, 0)).regions.size() == 2);
}

TEST_CASE("a table of any profiles is at most 100 columns wide, and names what is new and gone") {
  const auto check = [](const adaptyst::comparison& comparison) {
    const std::string table = to_table(comparison);
    for (std::size_t at = 0; at < table.size();) {
      const std::size_t end = table.find('\n', at);
      REQUIRE(end != std::string::npos);
      const samples::spelling line = samples::spell(table.substr(at, end - at));
      CHECK(line.broken == 0);
      CHECK(line.points <= 100);
      at = end + 1;
    }
    for (const char c : table) REQUIRE((c == '\n' || static_cast<unsigned char>(c) >= 0x20));
  };
  check(adaptyst::compare({}, {}));
  check(compare(samples::nasty_profile(), samples::nasty_profile()));
  check(compare(samples::nasty_profile(), {}));
  check(adaptyst::compare({}, samples::nasty_profile()));
  for (std::uint64_t seed = 0; seed != 50; ++seed) {
    samples::generator random(seed);
    const adaptyst::profile before = random.profile();
    check(compare(before, random.profile()));
  }
}

TEST_CASE("a row of the table, by hand") {
  const std::string table = to_table(compare(make_profile({region({"step", "flux"}, repeated(1000, 50))}),
                                             make_profile({region({"step", "flux"}, repeated(1250, 60))})));
  CAPTURE(table);
  CHECK(table.find("REGION       ON     N   TOTAL     NOW    MEAN CHANGE     INTERVAL  VERDICT\n") !=
        std::string::npos);
  CHECK(table.find("step > flux  host 1+1 50.0 us 75.0 us 1.00 us +25.0% +13.6…+37.5%  slower\n") != std::string::npos);
}

TEST_CASE("a table of many runs keeps its columns") {
  const std::vector<adaptyst::profile> runs(120, make_profile({region({"step"}, repeated(1000, 50))}));
  const std::string table = to_table(adaptyst::compare_runs(runs, runs));
  CAPTURE(table);
  CHECK(table.find("\nstep         host 120+120 50.0 us") != std::string::npos);
  CHECK(table.find("\nREGION       ON         N   TOTAL") != std::string::npos);
}

TEST_CASE("what the sides were run with is told where it is not the same") {
  adaptyst::profile before = make_profile({region({"step"}, repeated(1000, 50))});
  before.engine = "inline";
  before.metadata = {{"mesh", "64^3"}, {"solver", "cg"}};
  before.options = {{"output", "old.json"}};
  adaptyst::profile after = before;
  CHECK(adaptyst::compare(before, after).differing.empty());
  CHECK(to_table(adaptyst::compare(before, after)).find("run differently") == std::string::npos);
  after.engine = "ebpf";
  after.metadata["solver"] = "mg";
  after.options = {{"output", "new.json"}, {"overhead", "none"}};
  const adaptyst::comparison found = adaptyst::compare(before, after);
  CHECK(to_table(found).find(
            "\nthe sides were run differently: engine inline, now ebpf; overhead= —, now none; solver cg, now mg\n") !=
        std::string::npos);
  CHECK(nlohmann::json::parse(to_json(found))["differing"].at(1) ==
        nlohmann::json({{"kind", "option"}, {"name", "overhead"}, {"before", ""}, {"after", "none"}}));
}

TEST_CASE("a comparison as JSON holds what was found, and null for what was not") {
  const auto all = nlohmann::json::parse(
      to_json(compare(make_profile({region({"a"}, repeated(100, 10))}),
                      make_profile({region({"a"}, repeated(200, 20)), region({"b\xff"}, repeated(1, 1))}))));
  CHECK(all["comparison"] == 1);
  const nlohmann::json& row = all["regions"].at(0);
  CHECK(row["path"] == nlohmann::json({"a"}));
  CHECK(row["device"] == nlohmann::json({{"kind", "cpu"}, {"index", 0}}));
  CHECK(row["before"] == nlohmann::json({{"runs", 1}, {"count", 10}, {"total_ns", 1000}, {"mean_ns", 100.0}}));
  CHECK(row["change_of_total"] == 3.0);
  CHECK(row["change_of_mean"] == 1.0);
  CHECK(row["slower"] == 1.0);
  CHECK(row["verdict"] == "slower");
  CHECK(row["interval"].at(0).get<double>() == Approx(2 / 1.1 - 1));
  CHECK(all["regions"].at(1)["before"].is_null());
  CHECK(all["regions"].at(1)["p"].is_null());
}

TEST_CASE("Holm's correction: each p by how many are not smaller, and never below a smaller one's") {
  const durations a_before{1, 2, 2, 3, 4, 5, 5, 6};
  const durations a_after{3, 5, 6, 7, 7, 8, 9, 9};
  const durations b_after{1, 3, 3, 4, 5, 6, 6, 7};
  const double p_a = tested(a_before, a_after).p;
  const double p_b = tested(a_before, b_after).p;
  REQUIRE(p_b > 3 * p_a);
  REQUIRE(p_b < 0.5);
  const auto of = [](const durations& a, const durations& b, const durations& c) {
    return make_profile({region({"a"}, a), region({"b"}, b), region({"c"}, c)});
  };
  const auto p_value = [](const adaptyst::comparison& all, const char* name) {
    for (const adaptyst::compared_region& region : all.regions)
      if (region.path.front() == name) return region.p.value_or(-1);
    return -1.0;
  };
  const adaptyst::comparison all = compare(of(a_before, a_before, a_before), of(a_after, b_after, a_before));
  CHECK(p_value(all, "a") == Approx(3 * p_a));
  CHECK(p_value(all, "b") == Approx(2 * p_b));
  CHECK(p_value(all, "c") == 1);
  const adaptyst::comparison twice = compare(of(a_before, a_before, a_before), of(a_after, a_after, a_before));
  CHECK(p_value(twice, "a") == Approx(3 * p_a));
  CHECK(p_value(twice, "b") == Approx(3 * p_a));
}

TEST_CASE("what is new, what is gone, and what is slower by more than chance, in words") {
  const durations few{1, 2, 2, 3, 4, 5, 5, 6};
  const durations few_later{2, 3, 3, 4, 5, 6, 6, 9};
  const adaptyst::comparison all =
      compare(make_profile({region({"slow"}, repeated(1000, 50)), region({"fast"}, repeated(1000, 50)),
                            region({"by chance"}, few), region({"old"}, repeated(100, 1))}),
              make_profile({region({"slow"}, repeated(1300, 50)), region({"fast"}, repeated(500, 50)),
                            region({"by chance"}, few_later), region({"later"}, repeated(100, 1))}));
  CHECK(list_slower(all, 0.1) == "slow on host: mean 1.00 us, now 1.30 us (+30.0%)");
  CHECK(list_slower(all, 0.31).empty());
  std::string gone;
  std::string is_new;
  const std::string table = to_table(all);
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
    const std::string line = table.substr(at, table.find('\n', at) - at);
    if (line.rfind("old ", 0) == 0) gone = line;
    if (line.rfind("later ", 0) == 0) is_new = line;
  }
  CHECK(gone.find(" gone") != std::string::npos);
  CHECK(is_new.find(" new") != std::string::npos);
}

namespace {

// Its threads waited for a core for a part of `wall_ns`.
adaptyst::profile with_core_waits(std::uint64_t wall_ns, std::uint64_t waited_ns) {
  adaptyst::region row = region({"step"}, durations(100, wall_ns / 100));
  row.context.emplace();
  row.context->wall_ns = row.total_ns;
  row.context->runnable_ns = waited_ns;
  adaptyst::profile made = make_profile({row, region({"alone"}, repeated(10, 100))});
  made.devices[0].context.emplace();
  made.devices[0].context->runnable_ns = waited_ns;
  made.processes[0].cpu_ns = wall_ns - waited_ns;
  return made;
}

}  // namespace

TEST_CASE("times on a core are equal where only the waits for one differ") {
  std::vector<adaptyst::profile> before, after;
  for (const std::uint64_t more : {0U, 100U, 200U, 300U, 400U}) {
    before.push_back(with_core_waits(100'000 + more, 0));
    after.push_back(with_core_waits(150'000 + more, 50'000));
  }
  const adaptyst::comparison wall = adaptyst::compare_runs(before, after);
  CHECK(wall.regions[0].found == verdict::slower);
  CHECK(wall.no_core_before == 0.0);
  CHECK(*wall.no_core_after == Approx(50.0 / 150).epsilon(0.01));
  CHECK(adaptyst::to_table(wall).find("--by running") != std::string::npos);
  const adaptyst::comparison running = adaptyst::compare_runs(before, after, 0, adaptyst::compared_time::running);
  REQUIRE(running.regions.size() == 2);
  const adaptyst::compared_region& step = running.regions[running.regions[0].path.front() == "step" ? 0 : 1];
  CHECK(step.found == verdict::unclear);
  CHECK(step.before->total_ns == 501'000U);
  CHECK(step.after->total_ns == 501'000U);
  const adaptyst::compared_region& alone = running.regions[&step == &running.regions[0] ? 1 : 0];
  CHECK_FALSE(alone.before->total_ns);  // not known, and not 0
  CHECK(alone.found == verdict::untested);
  CHECK(nlohmann::json::parse(adaptyst::to_json(running))["by"] == "running");
}

TEST_CASE("time on a core that is known of a part of the events is not known") {
  std::vector<adaptyst::profile> runs(2, with_core_waits(100'000, 0));
  runs[0].regions[0].context->wall_ns /= 2;  // of half of the ranks
  const adaptyst::comparison found = adaptyst::compare_runs({runs[0]}, {runs[1]}, 0, adaptyst::compared_time::running);
  for (const adaptyst::compared_region& row : found.regions) CHECK_FALSE(row.before->total_ns);
  CHECK(adaptyst::to_table(found).find("several runs a side") != std::string::npos);
}

TEST_CASE("equal profiles are one line, and profiles that differ in one call are not") {
  const adaptyst::profile profile = with_core_waits(100'000, 0);
  const adaptyst::comparison same = adaptyst::compare(profile, profile);
  CHECK(same.is_equal);
  CHECK(adaptyst::to_table(same) == "the profiles are equal: 2 regions with the same calls and times\n");
  adaptyst::profile other = profile;
  other.regions[1].durations.add(11);
  CHECK_FALSE(adaptyst::compare(profile, other).is_equal);
  other = profile;
  other.regions.pop_back();
  CHECK_FALSE(adaptyst::compare(profile, other).is_equal);
  CHECK_FALSE(adaptyst::compare_runs({profile, profile}, {profile, profile}).is_equal);
}

TEST_CASE("waits for a core are a line where they are large, or differ") {
  const adaptyst::profile idle = with_core_waits(100'000, 1'000), busy = with_core_waits(110'000, 13'000),
                          between = with_core_waits(120'000, 8'400);
  const auto has_line = [](const adaptyst::profile& before, const adaptyst::profile& after) {
    std::istringstream words(adaptyst::to_table(adaptyst::compare(before, after)));
    std::string text;
    for (std::string word; words >> word;) text += word + ' ';
    return text.find("threads had no core") != std::string::npos;
  };
  CHECK(has_line(busy, between));
  CHECK(has_line(idle, between));
  CHECK_FALSE(has_line(idle, with_core_waits(90'000, 2'000)));
  adaptyst::profile unknown = with_core_waits(110'000, 9'000);
  unknown.processes[0].cpu_ns.reset();
  CHECK_FALSE(has_line(idle, unknown));
  CHECK_FALSE(adaptyst::compare(idle, unknown).no_core_after);
}
