// Slow ranks and slow nodes among simulated ranks: planted ones are found, chance names none.
#include <adaptyst/profile/findings.hpp>

#include <algorithm>
#include <random>

#include "analyse/findings/stragglers.hpp"
#include "catch.hpp"

namespace {

using adaptyst::finding;
using adaptyst::finding_kind;
using adaptyst::profile;
using adaptyst::lib::find_stragglers;
using adaptyst::lib::straggler;
using times = std::vector<std::optional<std::uint64_t>>;

constexpr double second = 1e9;

template <class Distribution>
times draw(std::size_t ranks, Distribution distribution, std::mt19937_64& random) {
  times all;
  for (std::size_t rank = 0; rank != ranks; ++rank)
    all.emplace_back(static_cast<std::uint64_t>(std::max(0.0, second * distribution(random))));
  return all;
}

std::vector<std::string> host_names(std::size_t ranks, std::size_t per_host) {
  std::vector<std::string> all;
  for (std::size_t rank = 0; rank != ranks; ++rank) all.push_back("simulated" + std::to_string(rank / per_host));
  return all;
}

// How many of the draws name a rank.
template <class Distribution>
int count_named(std::size_t ranks, Distribution distribution, int draws) {
  std::mt19937_64 random(ranks);
  int named = 0;
  for (int draw_number = 0; draw_number != draws; ++draw_number)
    if (!find_stragglers(draw(ranks, distribution, random), host_names(ranks, 4)).empty()) ++named;
  return named;
}

// Ranks whose "flux" took these times, in a run that is somewhat longer.
profile make_profile(const times& all, std::size_t per_host) {
  profile made;
  made.devices.resize(1);
  made.ranks = all.size();
  adaptyst::region row;
  row.path = {"step", "flux"};
  row.id = 7;
  row.count = 1;
  row.durations.add(1000);
  row.across_ranks.emplace();
  made.heat.emplace();
  made.heat->ranks = all.size();
  made.heat->rows.push_back({7, 0, all, {}, {}});
  const std::vector<std::string> hosts = host_names(all.size(), per_host);
  for (std::uint32_t rank = 0; rank != all.size(); ++rank) {
    adaptyst::process_info process;
    process.rank = rank;
    process.host = hosts[rank];
    process.duration_ns = 3'000'000'000;
    made.processes.push_back(process);
    if (!all[rank]) continue;
    row.total_ns += *all[rank];
    row.across_ranks->ranks += 1;
    row.across_ranks->total_ns.add(*all[rank], rank, hosts[rank]);
  }
  made.regions.push_back(row);
  return made;
}

}  // namespace

TEST_CASE("chance names a rank in less than one of a thousand regions", "[coverage]") {
  for (const std::size_t ranks : {8U, 9U, 12U, 16U, 64U}) {
    CAPTURE(ranks);
    constexpr int draws = 20000;
    CHECK(count_named(ranks, std::normal_distribution<double>(1, 0.1), draws) <= draws / 1000);
    CHECK(count_named(ranks, std::normal_distribution<double>(1, 0.3), draws) <= draws / 1000);
    CHECK(count_named(ranks, std::uniform_real_distribution<double>(0.5, 1.5), draws) <= draws / 1000);
  }
  CHECK(count_named(1024, std::normal_distribution<double>(1, 0.2), 1000) <= 1);
  CHECK(count_named(1024, std::uniform_real_distribution<double>(0, 2), 1000) <= 1);
}

TEST_CASE("one slow rank is named") {
  std::mt19937_64 random(1);
  for (const std::size_t ranks : {8U, 16U, 256U}) {
    times all = draw(ranks, std::normal_distribution<double>(1, 0.02), random);
    all[5] = 2'000'000'000;
    const std::vector<straggler> found = find_stragglers(all, host_names(ranks, 4));
    CAPTURE(ranks);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rank == 5U);
    CHECK(found[0].host == "simulated1");
    CHECK(found[0].median_ns == Approx(second).epsilon(0.05));
  }
}

TEST_CASE("sixteen slow ranks in a row name their node") {
  std::mt19937_64 random(2);
  for (const std::size_t ranks : {64U, 256U, 1024U}) {
    times all = draw(ranks, std::normal_distribution<double>(1, 0.05), random);
    for (std::size_t rank = 32; rank != 48; ++rank) all[rank] = 4 * *all[rank];
    const std::vector<straggler> found = find_stragglers(all, host_names(ranks, 16));
    CAPTURE(ranks);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].rank.has_value());
    CHECK(found[0].host == "simulated2");
    CHECK(found[0].ranks == 16);
    // Where it is not known which rank ran where, they are named one by one.
    CHECK(find_stragglers(all, {}).size() == 16);
  }
}

TEST_CASE("too few ranks, too many slow ones, and equal times name no rank") {
  times few(7, 1'000'000'000);
  few[0] = 9'000'000'000;
  CHECK(find_stragglers(few, {}).empty());
  times halves(16, 1'000'000'000);
  for (std::size_t rank = 0; rank != 8; ++rank) halves[rank] = 3'000'000'000;
  CHECK(find_stragglers(halves, {}).empty());
  CHECK(find_stragglers(times(100, 1'000'000'000), {}).empty());
  CHECK(find_stragglers(times(100, std::nullopt), {}).empty());
  times near(100, 1'000'000'000);
  near[3] = 1'150'000'000;  // less than a fifth
  CHECK(find_stragglers(near, {}).empty());
}

TEST_CASE("a finding names the slow rank, the slow node, or the imbalance") {
  std::mt19937_64 random(3);
  times all = draw(64, std::normal_distribution<double>(1, 0.02), random);
  CHECK(adaptyst::analyse(make_profile(all, 16)).empty());
  times slow = all;
  slow[17] = 2'000'000'000;
  std::vector<finding> found = adaptyst::analyse(make_profile(slow, 16));
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == finding_kind::slow_rank);
  CHECK(found[0].rank == 17U);
  CHECK(found[0].host == "simulated1");
  CHECK(found[0].path == std::vector<std::string>{"step", "flux"});
  CHECK(adaptyst::to_table(make_profile(slow, 16)).find("rank 17 on simulated1 took 2.00 s") != std::string::npos);
  for (std::size_t rank = 16; rank != 32; ++rank) slow[rank] = 2 * *all[rank];
  found = adaptyst::analyse(make_profile(slow, 16));
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == finding_kind::slow_node);
  CHECK(found[0].host == "simulated1");
  CHECK(found[0].count == 16);
  CHECK_FALSE(found[0].rank.has_value());
  times slope;
  for (std::uint64_t rank = 0; rank != 64; ++rank) slope.emplace_back(500'000'000 + rank * 20'000'000);
  found = adaptyst::analyse(make_profile(slope, 16));
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == finding_kind::rank_imbalance);
  CHECK(found[0].rank == 63U);
  CHECK(found[0].host == "simulated3");
  CHECK(found[0].value == Approx(1.76 * second));
  CHECK(found[0].against == Approx(1.13 * second));
  CHECK(found[0].time_ns == Approx(64 * 0.63 * second));
}

TEST_CASE("ranks of a sampled region differ only where that is more than the error of their times") {
  times slope;
  for (std::uint64_t rank = 0; rank != 64; ++rank) slope.emplace_back(500'000'000 + rank * 20'000'000);
  profile made = make_profile(slope, 16);
  const auto add_sampling_error = [&](double error_ns) {
    made.regions[0].timed_events = made.regions[0].count;
    made.regions[0].total_variance = 64 * error_ns * error_ns;
  };
  add_sampling_error(0.5 * second);
  CHECK(adaptyst::analyse(made).empty());
  add_sampling_error(0.01 * second);
  const std::vector<finding> found = adaptyst::analyse(made);
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == finding_kind::rank_imbalance);
  CHECK(found[0].error_ns.value() == Approx(64 * 0.01 * second));

  std::mt19937_64 random(4);
  times all = draw(64, std::normal_distribution<double>(1, 0.02), random);
  all[17] = 2'000'000'000;
  made = make_profile(all, 16);
  add_sampling_error(0.5 * second);
  CHECK(adaptyst::analyse(made).empty());
  add_sampling_error(0.01 * second);
  CHECK(adaptyst::analyse(made).size() == 1);
}

TEST_CASE("where ranks differ by their waits in MPI, it is not their work that is uneven") {
  times slope;
  for (std::uint64_t rank = 0; rank != 64; ++rank) slope.emplace_back(500'000'000 + rank * 20'000'000);
  profile made = make_profile(slope, 16);
  adaptyst::region inner = made.regions[0];
  inner.path.emplace_back("MPI_Waitall");
  inner.id = 8;
  made.regions.push_back(inner);
  CHECK(adaptyst::analyse(made).empty());
}
