// POP's efficiencies of MPI over simulated ranks: by hand, their identities, and that no tree changes them.
#include "model/mpi_usage.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "merge/rank_merge.hpp"
#include "report/parts.hpp"
#include "sanitized.hpp"

namespace {

using adaptyst::mpi_usage;
using adaptyst::process_info;
using adaptyst::profile;
using adaptyst::region;
using adaptyst::lib::profile_sum;

constexpr std::uint64_t ms = 1'000'000;

void add_row(profile& profile, std::vector<std::string> path, std::uint64_t total_ns, std::uint32_t threads = 1) {
  region& row = profile.regions.emplace_back();
  row.id = profile.regions.size();
  row.path = std::move(path);
  row.count = 1;
  row.threads = threads;
  row.total_ns = row.self_ns = row.min_ns = row.max_ns = total_ns;
  row.durations.add(total_ns);
}

// A rank that ran for `run_ns` behind an MPI_Init of 50 ms, of which `inside_ns` in MPI.
profile make_rank(std::uint32_t rank, const std::string& host, std::uint64_t run_ns, std::uint64_t inside_ns) {
  profile made;
  made.devices.resize(1);
  process_info& process = made.processes.emplace_back();
  process.rank = rank;
  process.host = host;
  process.pid = 100 + rank;
  process.duration_ns = run_ns + 50 * ms;
  add_row(made, {"MPI_Init"}, 50 * ms);
  add_row(made, {"step"}, run_ns);
  add_row(made, {"step", "MPI_Allreduce"}, inside_ns);
  add_row(made, {"step", "MPI_Allreduce", "MPI_Send"}, inside_ns / 2);  // it is in the one around it
  return made;
}

profile merge_all(const std::vector<profile>& ranks) {
  profile_sum all;
  for (const profile& rank : ranks) all.add(rank);
  return all.result([&](std::size_t number) { return std::optional(ranks[number]); });
}

TEST_CASE("efficiencies are those of a calculation by hand") {
  // Outside MPI: 900 and 500 ms on one node, 600 and 400 ms on the other; the longest run takes 1000 ms.
  const profile all =
      merge_all({make_rank(0, "simulated0", 1000 * ms, 100 * ms), make_rank(1, "simulated0", 1000 * ms, 500 * ms),
                 make_rank(2, "simulated1", 900 * ms, 300 * ms), make_rank(3, "simulated1", 900 * ms, 500 * ms)});
  REQUIRE(all.mpi);
  const mpi_usage& usage = *all.mpi;
  CHECK(usage.longest_ns == 1000 * ms);
  CHECK(usage.outside.ranks == 4);
  CHECK(usage.outside.total_ns.max_rank == 0);
  CHECK(usage.outside.total_ns.max_host == "simulated0");
  REQUIRE(usage.busiest);
  CHECK(usage.busiest->host == "simulated0");
  CHECK(usage.parallel_efficiency().value() == Approx(0.6));
  CHECK(usage.communication_efficiency().value() == Approx(0.9));
  CHECK(usage.load_balance().value() == Approx(600.0 / 900));
  CHECK(usage.load_balance_in().value() == Approx(700.0 / 900));
  CHECK(usage.load_balance_out().value() == Approx(600.0 / 700));
  CHECK(adaptyst::lib::efficiency_text(all) ==
        "MPI: parallel efficiency 60.0% = load balance 66.7% (within nodes 77.8%, between nodes 85.7%) x communication "
        "90.0%");
}

TEST_CASE("efficiencies are shares whose products are right, and come back from a file") {
  std::mt19937_64 random(1);
  for (int round = 0; round != random_rounds(200); ++round) {
    std::vector<profile> ranks;
    const std::uint32_t count = 2 + static_cast<std::uint32_t>(random() % 20);
    for (std::uint32_t rank = 0; rank != count; ++rank) {
      const std::uint64_t run_ns = ms + random() % (1000 * ms);
      ranks.push_back(make_rank(rank, "simulated" + std::to_string(rank / 4), run_ns, random() % run_ns));
    }
    profile all = merge_all(ranks);
    const mpi_usage& usage = *all.mpi;
    const double parallel = usage.parallel_efficiency().value(),
                 communication = usage.communication_efficiency().value();
    CHECK(std::abs(parallel - usage.load_balance().value() * communication) < 1e-12);
    CHECK(std::abs(parallel - usage.load_balance_in().value() * usage.load_balance_out().value() * communication) <
          1e-12);
    for (const std::optional<double>& efficiency :
         {usage.parallel_efficiency(), usage.load_balance(), usage.load_balance_in(), usage.load_balance_out(),
          usage.communication_efficiency()}) {
      CHECK(*efficiency >= 0);
      CHECK(*efficiency <= 1);
    }
    const std::string text = adaptyst::to_json(all);
    CHECK(adaptyst::to_json(adaptyst::from_json(text)) == text);
    std::shuffle(ranks.begin(), ranks.end(), random);
    CHECK(adaptyst::to_json(merge_all(ranks)) == text);
  }
}

TEST_CASE("efficiencies of sampled calls have standard errors, and are absent if the error is larger") {
  const auto add_sampling_error = [](profile rank, std::uint64_t error_ns) {
    region& call = rank.regions[2];
    call.timed_events = 1;
    call.count_variance = 1;
    call.total_variance = static_cast<double>(error_ns) * static_cast<double>(error_ns);
    return rank;
  };
  std::vector<profile> ranks = {add_sampling_error(make_rank(0, "simulated0", 1000 * ms, 100 * ms), 90 * ms),
                                add_sampling_error(make_rank(1, "simulated0", 1000 * ms, 500 * ms), 120 * ms)};
  const profile all = merge_all(ranks);
  REQUIRE(all.mpi);
  const mpi_usage& usage = *all.mpi;
  REQUIRE(usage.outside_errors);
  CHECK(usage.outside_errors->greatest_ns == 120 * ms);
  CHECK(usage.parallel_efficiency().value() == Approx(0.7));
  CHECK(usage.parallel_error().value() == Approx(0.075));  // the root of 90² + 120², of two ranks, of 1000 ms
  CHECK(usage.communication_error().value() == Approx(0.12));
  CHECK(usage.load_balance_error().value() == Approx(std::hypot(75.0, 700.0 / 900 * 120) / 900));
  CHECK(adaptyst::lib::efficiency_text(all) ==
        "MPI: parallel efficiency ~70.0% ± 15.0% (95 %) = load balance ~77.8% x communication ~90.0%");
  const std::string text = adaptyst::to_json(all);
  CHECK(adaptyst::to_json(adaptyst::from_json(text)) == text);
  std::swap(ranks[0], ranks[1]);
  CHECK(adaptyst::to_json(merge_all(ranks)) == text);

  const profile noise = merge_all({ranks[1], add_sampling_error(ranks[0], 2000 * ms)});
  CHECK_FALSE(noise.mpi->parallel_efficiency().has_value());
  CHECK_FALSE(noise.mpi->parallel_error().has_value());
  CHECK(adaptyst::lib::efficiency_text(noise).find("parallel efficiency — (unknown") != std::string::npos);
  const profile exact = merge_all({make_rank(0, "simulated0", 1000 * ms, 0), make_rank(1, "simulated0", 1000 * ms, 0)});
  CHECK_FALSE(exact.mpi->outside_errors.has_value());
  CHECK_FALSE(exact.mpi->parallel_error().has_value());
}

TEST_CASE("ranks that do not call MPI are counted, and change no figure") {
  profile silent = make_rank(1, "simulated0", 5000 * ms, 0);
  silent.regions.resize(2);
  silent.regions[0].path = {"setup"};
  const profile all = merge_all({make_rank(0, "simulated0", 1000 * ms, 100 * ms), silent});
  REQUIRE(all.mpi);
  CHECK(all.mpi->ranks_without == 1);
  CHECK(all.mpi->longest_ns == 1000 * ms);
  CHECK(all.mpi->parallel_efficiency().value() == Approx(0.9));
  profile other = silent;
  other.processes[0].rank = 2;
  CHECK(!merge_all({silent, other}).mpi);
  CHECK(adaptyst::lib::efficiency_text(merge_all({silent, other})).empty());
}

TEST_CASE("of calls on several threads it is the mean, and no rank is outside MPI for less than no time") {
  profile threaded = make_rank(0, "simulated0", 1000 * ms, 0);
  threaded.regions.resize(2);
  add_row(threaded, {"MPI_Recv"}, 1600 * ms, 4);
  CHECK(adaptyst::lib::find_mpi_usage(threaded, {0, "simulated0"}).outside.total_ns.max == 600 * ms);
  threaded.regions.back().threads = 1;
  CHECK(adaptyst::lib::find_mpi_usage(threaded, {0, "simulated0"}).outside.total_ns.max == 0);
}

TEST_CASE("merged ranks that are merged again keep what does not depend on nodes") {
  const profile first =
      merge_all({make_rank(0, "simulated0", 1000 * ms, 100 * ms), make_rank(1, "simulated1", 1000 * ms, 200 * ms)});
  const profile both = merge_all({first, first});
  REQUIRE(both.mpi);
  CHECK(both.mpi->parallel_efficiency() == first.mpi->parallel_efficiency());
  CHECK(!both.mpi->load_balance_in());
}

}  // namespace
