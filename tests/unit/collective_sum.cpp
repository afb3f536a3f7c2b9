// Who came last in calls that no rank leaves before all have come, and how long the others waited: against sums made by
// hand over simulated ranks; the same whatever the tree.
#include "merge/collective_sum.hpp"

#include <adaptyst/profile/findings.hpp>
#include <algorithm>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::collective_calls;
using adaptyst::finding_kind;
using adaptyst::profile;
using adaptyst::lib::collective_sum;

constexpr std::uint64_t group = 0xfedcba9876543210, region = 0x1234567890abcdef;

std::string host(std::size_t rank) { return "simulated" + std::to_string(rank / 4); }

// What each of the ranks has noted of calls to which it came `late_ns[call][rank]` after the first.
std::vector<collective_calls> simulate(const std::vector<std::vector<std::uint64_t>>& late_ns, std::uint64_t own_ns) {
  std::vector<collective_calls> all(late_ns.front().size());
  for (std::size_t call = 0; call != late_ns.size(); ++call) {
    const std::uint64_t end = *std::max_element(late_ns[call].begin(), late_ns[call].end()) + own_ns;
    for (std::size_t rank = 0; rank != all.size(); ++rank)
      all[rank].calls.push_back(
          {group, call, static_cast<std::uint32_t>(all.size()), region, end - late_ns[call][rank], false});
  }
  return all;
}

std::vector<std::vector<std::uint64_t>> draw(std::size_t calls, std::size_t ranks, std::mt19937_64& random) {
  std::uniform_int_distribution<std::uint64_t> late(0, 1'000'000);
  std::vector<std::vector<std::uint64_t>> all(calls, std::vector<std::uint64_t>(ranks));
  for (auto& call : all)
    for (std::uint64_t& time_ns : call) time_ns = late(random);
  return all;
}

profile make_profile(const collective_sum& sum, std::uint64_t duration_ns = 1'000'000'000) {
  profile made;
  made.devices.resize(1);
  made.regions.resize(1);
  made.regions[0].path = {"MPI_Allreduce"};
  made.regions[0].id = region;
  made.regions[0].count = 1;
  made.processes.resize(1);
  made.processes[0].duration_ns = duration_ns;
  sum.add_to(made);
  if (made.regions[0].collective) made.regions[0].total_ns = made.regions[0].collective->time_ns;
  return made;
}

std::string merged_linearly(const std::vector<collective_calls>& ranks) {
  collective_sum all;
  for (std::size_t rank = 0; rank != ranks.size(); ++rank)
    all.add(ranks[rank], static_cast<std::uint32_t>(rank), host(rank));
  return all.message();
}

// Two at a time, whichever come.
std::string merged_at_random(const std::vector<collective_calls>& ranks, std::mt19937_64& random) {
  std::vector<std::string> messages;
  for (std::size_t rank = 0; rank != ranks.size(); ++rank) {
    collective_sum sum;
    sum.add(ranks[rank], static_cast<std::uint32_t>(rank), host(rank));
    messages.push_back(sum.message());
  }
  while (messages.size() != 1) {
    std::shuffle(messages.begin(), messages.end(), random);
    collective_sum both;
    both.add(messages.back());
    messages.pop_back();
    both.add(messages.back());
    messages.back() = both.message();
  }
  return messages.front();
}

TEST_CASE("waits are those to the last one, and it is named") {
  std::mt19937_64 random(1);
  const auto late_ns = draw(50, 7, random);
  const std::vector<collective_calls> ranks = simulate(late_ns, 3000);
  std::uint64_t waited_ns = 0;
  std::vector<std::uint64_t> for_rank(7), times(7);
  for (const auto& call : late_ns) {
    const auto last = std::max_element(call.begin(), call.end());
    const auto rank = static_cast<std::size_t>(last - call.begin());
    const std::uint64_t all_ns = 7 * *last - std::accumulate(call.begin(), call.end(), std::uint64_t{0});
    waited_ns += all_ns;
    for_rank[rank] += all_ns;
    ++times[rank];
  }
  collective_sum all;
  all.add(merged_linearly(ranks));
  const profile made = make_profile(all);
  REQUIRE(made.regions[0].collective);
  const adaptyst::collective_waits& collective = *made.regions[0].collective;
  const auto worst = static_cast<std::size_t>(std::max_element(for_rank.begin(), for_rank.end()) - for_rank.begin());
  CHECK(collective.calls == 50);
  CHECK(collective.step == 1);
  CHECK(collective.waited_ns == waited_ns);
  CHECK(collective.time_ns == waited_ns + 50 * 7 * 3000);
  CHECK(collective.last_rank == worst);
  CHECK(collective.last_host == host(worst));
  CHECK(collective.last_waited_ns == for_rank[worst]);
  CHECK(collective.last_calls == times[worst]);
}

TEST_CASE("any tree makes the same of them") {
  std::mt19937_64 random(2);
  for (int round = 0; round != 20; ++round) {
    const auto ranks = simulate(draw(1 + random() % 100, 1 + random() % 30, random), 10);
    CHECK(merged_at_random(ranks, random) == merged_linearly(ranks));
  }
}

TEST_CASE("of too many calls the same ones stay on all ranks, and they stand for the rest") {
  std::mt19937_64 random(3);
  auto ranks = simulate(draw(3 * collective_sum::max_calls, 3, random), 10);
  // One of them had less room.
  ranks[1].step = 2;
  auto& calls = ranks[1].calls;
  calls.erase(
      std::remove_if(calls.begin(), calls.end(),
                     [](const auto& call) { return collective_calls::is_left_out(call.group, call.number, 2); }),
      calls.end());
  const std::string all = merged_linearly(ranks);
  CHECK(merged_at_random(ranks, random) == all);
  collective_sum sum;
  sum.add(all);
  const auto collective = make_profile(sum).regions[0].collective;
  REQUIRE(collective);
  CHECK(collective->step == 4);
  CHECK(collective->calls == Approx(3 * collective_sum::max_calls / 4.0).epsilon(0.05));
  CHECK(all.size() < collective_sum::max_calls * 22);
}

TEST_CASE("calls of very many communicators are sampled as well, each the first of its own") {
  collective_calls own;
  constexpr std::uint64_t communicators = 10 * collective_sum::max_calls;
  for (std::uint64_t communicator = 1; communicator <= communicators; ++communicator)
    own.calls.push_back({communicator << 32U, 0, 2, region, 10 * communicator, false});
  collective_sum all;
  all.add(own, 0, "n0");
  all.add(own, 1, "n1");
  const auto collective = make_profile(all).regions[0].collective;
  REQUIRE(collective);
  CHECK(collective->step == 16);
  CHECK(collective->calls == Approx(communicators / 16.0).epsilon(0.05));
}

TEST_CASE("a call that ranks with nothing to send may leave early says nothing of who was late") {
  std::mt19937_64 random(7);
  auto ranks = simulate(draw(6, 3, random), 10);
  ranks[1].calls[2].is_loose = true;
  CHECK(merged_at_random(ranks, random) == merged_linearly(ranks));
  collective_sum all;
  all.add(merged_linearly(ranks));
  CHECK(make_profile(all).regions[0].collective->calls == 5);
}

TEST_CASE("a call in which a rank was not seen says nothing") {
  std::mt19937_64 random(4);
  auto ranks = simulate(draw(5, 4, random), 10);
  ranks[2].calls.resize(3);
  collective_sum all;
  all.add(merged_linearly(ranks));
  CHECK(make_profile(all).regions[0].collective->calls == 3);
  collective_sum alone;
  alone.add(simulate(draw(5, 1, random), 10)[0], 0, "n0");
  CHECK(!make_profile(alone).regions[0].collective);
  CHECK(!make_profile(collective_sum()).regions[0].collective);
}

TEST_CASE("a damaged message is refused, or is another one") {
  std::mt19937_64 random(5);
  const std::string good = merged_linearly(simulate(draw(20, 3, random), 10));
  for (std::size_t bytes = 0; bytes != good.size(); ++bytes)
    CHECK_THROWS_AS(collective_sum().add(std::string_view(good).substr(0, bytes)), adaptyst::lib::error);
  for (int round = 0; round != 2000; ++round) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    try {
      collective_sum all;
      all.add(bad);
      make_profile(all);
    } catch (const adaptyst::lib::error&) {}
  }
}

TEST_CASE("a late rank is found, and where it was; ranks that all come in time are not") {
  std::mt19937_64 random(6);
  auto late_ns = draw(10, 8, random);
  for (auto& call : late_ns) call[5] += 20'000'000;
  collective_sum sum;
  sum.add(merged_linearly(simulate(late_ns, 3000)));
  profile made = make_profile(sum);
  for (const auto& [name, longest_ns] : {std::pair("step", 230'000'000), std::pair("flux", 220'000'000)}) {
    adaptyst::region& row = made.regions.emplace_back();
    row.path =
        std::string(name) == "flux" ? std::vector<std::string>{"step", "flux"} : std::vector<std::string>{"step"};
    row.count = 1;
    row.across_ranks.emplace().ranks = 8;
    for (std::uint32_t rank = 0; rank != 8; ++rank)
      row.across_ranks->total_ns.add(rank == 5 ? static_cast<std::uint64_t>(longest_ns) : 20'000'000, rank,
                                     "simulated");
  }
  auto found = adaptyst::analyse(made);
  const auto late = std::find_if(found.begin(), found.end(),
                                 [](const auto& finding) { return finding.kind == finding_kind::late_rank; });
  REQUIRE(late != found.end());
  CHECK(late->rank == 5U);
  CHECK(late->late_in == std::vector<std::string>{"step", "flux"});
  CHECK(late->count == 10);

  collective_sum in_time;
  in_time.add(merged_linearly(simulate(draw(10, 8, random), 10'000'000)));
  CHECK(adaptyst::analyse(make_profile(in_time)).empty());
}

TEST_CASE("where another rank is late each time, none is named") {
  std::mt19937_64 random(7);
  auto late_ns = draw(64, 8, random);
  for (std::size_t call = 0; call != late_ns.size(); ++call) late_ns[call][call % 8] += 20'000'000;
  collective_sum sum;
  sum.add(merged_linearly(simulate(late_ns, 3000)));
  const auto found = adaptyst::analyse(make_profile(sum));
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == finding_kind::late_rank);
  CHECK(!found[0].rank);
}

}  // namespace
