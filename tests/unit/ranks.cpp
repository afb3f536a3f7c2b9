// Many simulated ranks as one profile: the same bytes for any tree and order, and the figures that counting one by one
// gives.
#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "catch.hpp"
#include "merge/rank_merge.hpp"
#include "sanitized.hpp"
#include "simulated_ranks.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::profile;
using adaptyst::rank_place;
namespace lib = adaptyst::lib;

std::string make_message(std::uint32_t rank) {
  return lib::write_message(simulated::make_profile(rank), rank_place{rank, simulated::host_name(rank)},
                            lib::short_histograms);
}

std::string merge_linear(const std::vector<std::uint32_t>& ranks) {
  std::string all = make_message(ranks.front());
  for (std::size_t at = 1; at != ranks.size(); ++at) all = lib::merge_messages(all, make_message(ranks[at]));
  return all;
}

// Split at random places.
std::string merge_random(const std::vector<std::uint32_t>& ranks, std::size_t begin, std::size_t end,
                         std::mt19937& random) {
  if (end - begin == 1) return make_message(ranks[begin]);
  const std::size_t middle = begin + 1 + random() % (end - begin - 1);
  const std::string a = merge_random(ranks, begin, middle, random), b = merge_random(ranks, middle, end, random);
  return random() % 2 == 0 ? lib::merge_messages(a, b) : lib::merge_messages(b, a);
}

struct outcome {
  std::string core;
  profile merged;
  std::size_t longest = 0;
};

// The highest rank first, whose message the others wait for; then the plan from the first rank on.
outcome merge_tree(std::uint32_t size, std::size_t max_bytes = lib::max_sent_bytes,
                   const std::vector<std::uint32_t>& dead = {}) {
  simulated::post_office office;
  outcome made;
  const auto is_dead = [&](std::uint32_t rank) { return std::find(dead.begin(), dead.end(), rank) != dead.end(); };
  const auto place = [](std::uint32_t rank) { return rank_place{rank, simulated::host_name(rank)}; };
  std::vector<lib::absent_ranks> absent(size);
  for (std::uint32_t rank = size; rank-- != 0;) {
    if (is_dead(rank)) continue;
    simulated::post over(office, rank, size);
    const auto core = lib::reduce_core(simulated::make_profile(rank), place(rank), over, absent[rank], max_bytes);
    REQUIRE(core.has_value() == (rank == 0));
    if (core) made.core = *core;
  }
  made.merged = lib::read_message(made.core);
  std::vector<std::optional<std::string>> plans(size);
  for (std::uint32_t rank = 0; rank != size; ++rank) {
    if (is_dead(rank)) continue;
    simulated::post over(office, rank, size);
    plans[rank] =
        lib::broadcast(over, rank == 0 ? lib::make_plan(made.merged, lib::short_histograms).message() : std::string(),
                       absent[rank], max_bytes);
  }
  for (std::uint32_t rank = size; rank-- != 0;) {
    if (!plans[rank]) continue;
    simulated::post over(office, rank, size);
    const auto details = lib::reduce_details(simulated::make_profile(rank), place(rank), lib::read_plan(*plans[rank]),
                                             over, absent[rank], max_bytes);
    if (rank == 0) details->add_to(made.merged);
  }
  made.longest = office.longest;
  return made;
}

std::vector<std::uint32_t> first_ranks(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

// By sorting all times.
void check_row(const adaptyst::region& row, std::uint32_t size) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> times;
  for (std::uint32_t rank = 0; rank != size; ++rank)
    if (simulated::has_region(rank, row.id - 100)) times.emplace_back(simulated::time_in(rank, row.id - 100), rank);
  std::sort(times.begin(), times.end());
  REQUIRE(row.across_ranks.has_value());
  const adaptyst::rank_spread& spread = *row.across_ranks;
  REQUIRE(spread.ranks == times.size());
  CHECK(spread.total_ns.min == times.front().first);
  CHECK(spread.total_ns.min_rank == times.front().second);
  CHECK(spread.total_ns.min_host == simulated::host_name(times.front().second));
  CHECK(spread.total_ns.max == times.back().first);
  CHECK(spread.total_ns.max_rank == times.back().second);
  CHECK(spread.total_ns.max_host == simulated::host_name(times.back().second));
  long double sum = 0, squares = 0;
  for (const auto& [time, rank] : times) sum += static_cast<long double>(time);
  const long double mean = sum / static_cast<long double>(times.size());
  for (const auto& [time, rank] : times)
    squares += (static_cast<long double>(time) - mean) * (static_cast<long double>(time) - mean);
  const long double stddev = std::sqrt(squares / static_cast<long double>(times.size()));
  CHECK(*spread.total_ns.mean() == Approx(static_cast<double>(mean)).epsilon(1e-14));
  CHECK(*spread.total_ns.stddev() == Approx(static_cast<double>(stddev)).epsilon(1e-9).margin(1e-6));
  CHECK(*spread.imbalance() == Approx(static_cast<double>(static_cast<long double>(times.back().first) / mean - 1)));
  for (const double q : {0.5, 0.95}) {
    const auto place = static_cast<std::size_t>(std::ceil(q * static_cast<double>(times.size())));
    const auto exact = static_cast<double>(times[std::max<std::size_t>(place, 1) - 1].first);
    CHECK(static_cast<double>(*spread.total_ns.quantile(q)) == Approx(exact).epsilon(0.031));
  }
  CHECK(row.total_ns == static_cast<std::uint64_t>(sum));
}

}  // namespace

TEST_CASE("any number of simulated ranks comes to the same bytes in any tree") {
  std::mt19937 random(5);
  for (const std::uint32_t size : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 16U, 31U, 64U, 100U, random_rounds(1024U)}) {
    CAPTURE(size);
    std::vector<std::uint32_t> ranks = first_ranks(size);
    const std::string linear = merge_linear(ranks);
    REQUIRE(merge_tree(size).core == linear);
    std::reverse(ranks.begin(), ranks.end());
    REQUIRE(merge_linear(ranks) == linear);
    for (int round = 0; round != 1 + random_rounds(8) / 4; ++round) {
      std::shuffle(ranks.begin(), ranks.end(), random);
      REQUIRE(merge_random(ranks, 0, size, random) == linear);
    }
  }
}

TEST_CASE("figures over simulated ranks are those that sorting gives") {
  for (const std::uint32_t size : {1U, 2U, 6U, 17U, 128U, random_rounds(1024U)}) {
    CAPTURE(size);
    const outcome made = merge_tree(size);
    REQUIRE(made.merged.ranks == size);
    for (const adaptyst::region& row : made.merged.regions) check_row(row, size);
    REQUIRE(made.merged.processes.size() == size);
    for (std::uint32_t rank = 0; rank != size; ++rank) CHECK(made.merged.processes[rank].rank == rank);
    CHECK_FALSE(made.merged.unlisted.has_value());
    CHECK(made.merged.about_ranks->count_hosts() == Approx((size + 3) / 4).epsilon(0.2));
    // And they are kept by a file.
    const std::string text = adaptyst::to_json(made.merged);
    CHECK(adaptyst::to_json(adaptyst::from_json(text)) == text);
  }
}

TEST_CASE("ranks that differ in what they run are counted and named") {
  const profile merged = merge_tree(16).merged;
  const adaptyst::rank_account& account = *merged.about_ranks;
  REQUIRE(account.programs.size() == 2);
  CHECK(account.programs[0].program == "/bin/solver");
  CHECK(account.programs[0].ranks.count == 15);
  CHECK(account.programs[1].ranks.first[0].rank == 7);
  CHECK(account.without_regions.count == 1);
  CHECK(account.without_regions.first[0].rank == 5);
  CHECK(account.without_regions.first[0].host == "simulated1");
  CHECK(account.killed.first[0].rank == 9);
  CHECK(account.missing.count == 0);
}

TEST_CASE("ranks of which nothing comes are named, and the others are merged") {
  const profile merged = merge_tree(16, lib::max_sent_bytes, {6, 12}).merged;
  // What rank 7 has sent to rank 6 is lost as well, and 13 to 15 behind 12.
  CHECK(merged.ranks == 10U);
  CHECK(merged.about_ranks->missing.count == 6);
  std::vector<std::uint32_t> named;
  for (const rank_place& place : merged.about_ranks->missing.first) named.push_back(place.rank);
  CHECK(named == std::vector<std::uint32_t>{6, 7, 12, 13, 14, 15});
  CHECK(merged.processes.size() == 10);
}

TEST_CASE("a message is split where the transport can carry no more") {
  const outcome whole = merge_tree(64), split = merge_tree(64, 1024);
  CHECK(whole.longest > 1024);
  CHECK(split.longest <= 1024);
  CHECK(split.core == whole.core);
  CHECK(adaptyst::to_json(split.merged) == adaptyst::to_json(whole.merged));
}

TEST_CASE("a length that is not kept to is refused") {
  simulated::post_office office;
  simulated::post from(office, 1, 2), to(office, 0, 2);
  from.send(std::string("\x05\0\0\0\0\0\0\0", 8), 0, std::chrono::seconds(1));
  from.send("too long", 0, std::chrono::seconds(1));
  CHECK_FALSE(lib::receive_whole(to, 1, std::chrono::seconds(1)).has_value());
  from.send(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8), 0, std::chrono::seconds(1));
  from.send("some", 0, std::chrono::seconds(1));
  CHECK_FALSE(lib::receive_whole(to, 1, std::chrono::seconds(1)).has_value());
  from.send("odd", 0, std::chrono::seconds(1));
  CHECK_FALSE(lib::receive_whole(to, 1, std::chrono::seconds(1)).has_value());
}

TEST_CASE("the time of the largest rows is known by rank") {
  const profile merged = merge_tree(100).merged;
  REQUIRE(merged.heat.has_value());
  CHECK(merged.heat->ranks == 100);
  CHECK(merged.heat->ranks_per_bin == 1);
  REQUIRE(merged.heat->rows.size() == 4);
  for (const adaptyst::heat_row& row : merged.heat->rows) {
    REQUIRE(row.mean_ns.size() == 100);
    for (std::uint32_t rank = 0; rank != 100; ++rank) {
      REQUIRE(row.mean_ns[rank].has_value() == simulated::has_region(rank, row.region - 100));
      if (row.mean_ns[rank])
        CHECK(static_cast<double>(*row.mean_ns[rank]) ==
              Approx(static_cast<double>(simulated::time_in(rank, row.region - 100))).epsilon(2e-6));
    }
  }
}

TEST_CASE("of more than 1024 ranks, bins and extremes are kept") {
  constexpr std::uint32_t size = 2100;
  const outcome made = merge_tree(size);
  CHECK(made.longest < 64 * 1024);
  const profile& merged = made.merged;
  CHECK(merged.ranks == size);
  CHECK(merged.heat->ranks_per_bin == 3);
  REQUIRE(merged.unlisted.has_value());
  CHECK(merged.unlisted->processes + merged.processes.size() == size);
  for (const adaptyst::region& row : merged.regions) {
    check_row(row, size);
    for (const std::uint32_t rank : {row.across_ranks->total_ns.min_rank, row.across_ranks->total_ns.max_rank})
      CHECK(std::any_of(merged.processes.begin(), merged.processes.end(),
                        [&](const adaptyst::process_info& process) { return process.rank == rank; }));
  }
  const adaptyst::heat_row& row = merged.heat->rows[0];
  REQUIRE(row.mean_ns.size() == 700);
  std::uint64_t least = ~std::uint64_t{0}, greatest = 0, sum = 0;
  for (std::uint32_t rank = 300; rank != 303; ++rank) {
    const std::uint64_t time = simulated::time_in(rank, row.region - 100);
    least = std::min(least, time);
    greatest = std::max(greatest, time);
    sum += time;
  }
  CHECK(static_cast<double>(*row.min_ns[100]) == Approx(static_cast<double>(least)).epsilon(2e-6));
  CHECK(static_cast<double>(*row.max_ns[100]) == Approx(static_cast<double>(greatest)).epsilon(2e-6));
  CHECK(static_cast<double>(*row.mean_ns[100]) == Approx(static_cast<double>(sum) / 3).epsilon(2e-6));
}

TEST_CASE("profiles one after another make what the tree makes, with full histograms") {
  for (const std::uint32_t size : {2U, 9U, 1100U}) {
    lib::profile_sum sum;
    for (std::uint32_t rank = size; rank-- != 0;) sum.add(simulated::make_profile(rank));
    profile added = sum.result([&](std::size_t number) {
      return std::optional(simulated::make_profile(size - 1 - static_cast<std::uint32_t>(number)));
    });
    CAPTURE(size);
    if (size > 64)  // of many, files have the threads all the same
      for (adaptyst::process_info& process : added.processes) process.thread_list.clear();
    CHECK(adaptyst::to_json(added) == adaptyst::to_json(merge_tree(size).merged));
  }
}

TEST_CASE("machines come along with ranks, and the threads of few processes") {
  for (const std::uint32_t size : {3U, 12U, 300U}) {
    const profile merged = merge_tree(size).merged;
    CAPTURE(size);
    REQUIRE(merged.machines.size() == std::min((size + 3) / 4, 64U));
    CHECK(std::is_sorted(merged.machines.begin(), merged.machines.end(),
                         [](const auto& a, const auto& b) { return a.host < b.host; }));
    const adaptyst::machine& first = merged.machines.front();
    CHECK(first.host == "simulated0");
    CHECK(first.cpus == 16U);  // the description that says most
    CHECK_FALSE(first.cores);
    CHECK(first.nodes.at(0).cpus == "0-3");
    CHECK(first.devices.at(0).id == "10de:2330");
    for (const adaptyst::process_info& process : merged.processes) {
      REQUIRE(process.thread_list.size() == (size <= 64 ? 1 : 0));
      if (size <= 64) CHECK(process.thread_list[0].on_cpu_ns == 2'000'000'000 + *process.rank);
    }
  }
}

TEST_CASE("merge() says how ranks differ, too") {
  profile all;
  for (std::uint32_t rank = 0; rank != 12; ++rank) adaptyst::merge(all, simulated::make_profile(rank));
  const profile tree = merge_tree(12).merged;
  CHECK(all.ranks == 12U);
  for (const adaptyst::region& row : all.regions) check_row(row, 12);
  // Two that are of one rank are that rank's.
  profile same = simulated::make_profile(3);
  adaptyst::merge(same, simulated::make_profile(3));
  CHECK_FALSE(same.ranks.has_value());
  CHECK(same.rank() == 3U);
}

TEST_CASE("of equal times the lowest rank is named, and huge ones do not wrap") {
  adaptyst::rank_totals a, b;
  a.add(7, 5, "x");
  b.add(7, 2, "y");
  for (adaptyst::rank_totals both : {a, b}) {
    both.merge(b);
    both.merge(a);
    CHECK(both.min_rank == 2);
    CHECK(both.max_rank == 2);
    CHECK(both.max_host == "y");
  }
  adaptyst::rank_totals huge;
  constexpr std::uint64_t most = ~std::uint64_t{0};
  huge.add(most, 0, "x");
  CHECK(*huge.stddev() == 0);
  huge.add(most, 1, "x");
  CHECK(*huge.mean() == Approx(static_cast<double>(most)));
  CHECK_FALSE(huge.stddev().has_value());
  // Close to each other, far from zero: no digit is lost.
  adaptyst::rank_totals close;
  for (std::uint32_t rank = 0; rank != 4; ++rank) close.add(1'000'000'000'000'000 + rank, rank, "x");
  CHECK(*close.stddev() == Approx(std::sqrt(1.25)).epsilon(1e-12));
}
