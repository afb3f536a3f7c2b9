// Messages of profiles: what is merged as bytes is what merge() makes of the profiles, in any order and grouping; what
// is no message is refused.
#include <adaptyst/profile.hpp>
#include <algorithm>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "merge/exact_sum.hpp"
#include "merge/message.hpp"
#include "merge/wire.hpp"
#include "samples.hpp"
#include "sanitized.hpp"
#include "simulated_ranks.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::profile;
using adaptyst::lib::merge_messages;
using adaptyst::lib::read_message;
using adaptyst::lib::write_message;

std::string message(const profile& profile) { return write_message(profile, std::nullopt); }

// What a message does not list.
profile without_processes(profile profile) {
  for (const adaptyst::process_info& process : profile.processes) {
    if (!profile.unlisted) profile.unlisted.emplace();
    ++profile.unlisted->processes;
    profile.unlisted->duration_ns += process.duration_ns;
  }
  profile.processes.clear();
  return profile;
}

std::string spelled(const profile& profile) { return adaptyst::to_json(without_processes(profile)); }

}  // namespace

TEST_CASE("a profile comes out of a message as it went in") {
  for (std::uint64_t seed = 0; seed != random_rounds<std::uint64_t>(300); ++seed) {
    const profile sent = samples::generator(seed).profile();
    CAPTURE(seed);
    profile expected;
    adaptyst::merge(expected, sent);
    REQUIRE(spelled(read_message(message(sent))) == spelled(expected));
  }
  REQUIRE(spelled(read_message(message({}))) == spelled({}));
  const std::string nasty = message(samples::nasty_profile());
  CHECK(message(read_message(nasty)) == nasty);
}

TEST_CASE("two messages make what two profiles make") {
  for (std::uint64_t seed = 0; seed != random_rounds<std::uint64_t>(300); ++seed) {
    samples::generator random(seed);
    const profile a = random.profile(), b = random.profile();
    profile both = a;
    adaptyst::merge(both, b);
    CAPTURE(seed);
    const std::string merged = merge_messages(message(a), message(b));
    REQUIRE(spelled(read_message(merged)) == spelled(both));
    REQUIRE(merged == merge_messages(message(b), message(a)));
    REQUIRE(message(read_message(merged)) == merged);
  }
}

TEST_CASE("three messages make the same bytes in any grouping") {
  for (std::uint64_t seed = 0; seed != 100; ++seed) {
    samples::generator random(seed);
    const std::string a = message(random.profile()), b = message(random.profile()), c = message(random.profile());
    CAPTURE(seed);
    REQUIRE(merge_messages(merge_messages(a, b), c) == merge_messages(a, merge_messages(b, c)));
    REQUIRE(merge_messages(merge_messages(c, a), b) == merge_messages(a, merge_messages(b, c)));
  }
}

TEST_CASE("sums of doubles do not depend on their order") {
  profile profile;
  profile.regions.resize(1);
  profile.regions[0].path = {"a"};
  profile.regions[0].count = 1;
  adaptyst::attribute& special = profile.regions[0].attributes["x"];
  std::vector<std::string> all;
  const double values[] = {1e300, 0.1, -1e300, 5e-324, 0.2, -0.3, 1e16, 1, -1e16, 3.5, 1e308, 1e308, -1e308};
  for (const double value : values) {
    special = {1, value, value, value, 0};
    all.push_back(message(profile));
  }
  std::mt19937 random(1);
  std::string expected;
  for (int round = 0; round != 20; ++round) {
    std::string sum = all[0];
    for (std::size_t at = 1; at != all.size(); ++at) sum = merge_messages(sum, all[at]);
    if (round == 0) expected = sum;
    REQUIRE(sum == expected);
    std::shuffle(all.begin(), all.end(), random);
  }
  // 1e308 + 0.1 + 0.2 - 0.3 + 1 + 3.5, of which only the first is left in a double
  CHECK(read_message(expected).regions[0].attributes["x"].sum == 1e308);
  CHECK(read_message(expected).regions[0].attributes["x"].min == -1e308);
  // In the middle between two doubles but for the smallest bit, which decides.
  const double half = 9007199254740992, bit = 0x1p-60;  // 2^53
  adaptyst::lib::exact_sum sum(half);
  sum.add(adaptyst::lib::exact_sum(1));
  CHECK(sum.value() == half);
  sum.add(adaptyst::lib::exact_sum(bit));
  CHECK(sum.value() == half + 2);
  sum.add(adaptyst::lib::exact_sum(-2 * half));
  CHECK(sum.value() == 1 - half);
  special.sum = std::nan("");
  expected = merge_messages(expected, message(profile));
  CHECK(std::isnan(read_message(expected).regions[0].attributes["x"].sum));
}

TEST_CASE("a short histogram has the lowest level at which it is short, and keeps every count") {
  std::mt19937_64 random(3);
  for (int round = 0; round != 50; ++round) {
    std::vector<std::string> parts;
    adaptyst::histogram all;
    profile profile;
    profile.regions.resize(1);
    profile.regions[0].path = {"a"};
    profile.regions[0].count = 1;
    std::lognormal_distribution<double> durations(10, 0.05 * (round % 20));
    for (int part = 0; part != 8; ++part) {
      adaptyst::histogram& own = profile.regions[0].durations = {};
      for (int event = 0; event != 50; ++event) own.add(static_cast<std::uint64_t>(durations(random)));
      all.merge(own);
      parts.push_back(write_message(profile, std::nullopt, adaptyst::lib::short_histograms));
    }
    std::string linear = parts[0];
    for (std::size_t at = 1; at != parts.size(); ++at) linear = merge_messages(linear, parts[at]);
    std::string pairs = merge_messages(merge_messages(parts[7], parts[6]), merge_messages(parts[5], parts[4]));
    pairs =
        merge_messages(pairs, merge_messages(merge_messages(parts[3], parts[2]), merge_messages(parts[1], parts[0])));
    REQUIRE(pairs == linear);
    const adaptyst::histogram got = read_message(linear).regions[0].durations;
    REQUIRE(got.count() == all.count());
    REQUIRE(std::count_if(got.buckets().begin(), got.buckets().end(), [](auto count) { return count != 0; }) <= 14);
    const auto exact = static_cast<double>(*all.quantile(0.5)), found = static_cast<double>(*got.quantile(0.5));
    REQUIRE(found == Approx(exact).epsilon(0.4));
  }
}

TEST_CASE("every message that is cut short or bent is refused or read, and does no harm") {
  const std::string whole = write_message(simulated::make_profile(3), adaptyst::rank_place{3, "n0"});
  const auto try_one = [&](const std::string& bytes) {
    try {
      read_message(bytes);
      merge_messages(bytes, whole);
      return true;
    } catch (const adaptyst::error& wrong) {
      CHECK(std::string(wrong.what()).find("cannot merge") != std::string::npos);
      return false;
    }
  };
  REQUIRE(try_one(whole));
  for (std::size_t length = 0; length < whole.size(); length += 7) CHECK_FALSE(try_one(whole.substr(0, length)));
  CHECK_FALSE(try_one(whole + "x"));
  std::mt19937 random(7);
  for (int round = 0; round != random_rounds(2000); ++round) {
    std::string bent = whole;
    for (int hits = 0; hits != 1 + round % 3; ++hits) bent[random() % bent.size()] = static_cast<char>(random());
    try_one(bent);
  }
}

TEST_CASE("messages with other limits are not merged") {
  CHECK_THROWS_AS(merge_messages(message({}), write_message({}, std::nullopt, adaptyst::lib::short_histograms)),
                  adaptyst::error);
}
