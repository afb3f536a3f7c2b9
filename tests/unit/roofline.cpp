// Rooflines: by hand, at their edges, and through JSON and back.
#include <adaptyst/profile.hpp>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "analyse/roofline.hpp"
#include "catch.hpp"

namespace {

using adaptyst::flop_precision;
using adaptyst::machine_ceilings;
using adaptyst::profile;
using adaptyst::region;
using adaptyst::region_kind;
using adaptyst::roofline;
using adaptyst::roofline_bound;
using adaptyst::lib::add_rooflines;
using adaptyst::lib::compute_roofline;
using adaptyst::lib::find_ceilings;
using adaptyst::lib::find_host;

// One thread attains 16 GFlop/s and 8 GB/s, all four 48 and 12.
machine_ceilings four_cpus() {
  return {"node1", "a model", "2026-11-25T01:00:00Z", 4, flop_precision::double_precision, 16, 8, 48, 12};
}

region host_region(const char* name, double flops, double bytes, std::uint64_t total_ns, std::uint32_t threads) {
  region made;
  made.path = {name};
  made.id = static_cast<std::uint64_t>(name[0]);
  made.count = 1;
  made.threads = threads;
  made.total_ns = made.self_ns = made.min_ns = made.max_ns = total_ns;
  if (total_ns != 0) made.durations.add(total_ns);
  if (flops != 0) made.attributes["flops"] = {1, flops, flops, flops, 0};
  if (bytes != 0) made.attributes["bytes"] = {1, bytes, bytes, bytes, 0};
  return made;
}

profile on_one_host() {
  profile made;
  made.engine = "inline";
  made.devices.resize(2);
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[1].kind = adaptyst::device_kind::gpu;
  made.processes.push_back({7, "solver", "node1", 1'000'000, {}});
  return made;
}

TEST_CASE("a thread has its own ceiling, or its part of that of all") {
  const auto alone = find_ceilings(four_cpus(), 1);
  REQUIRE(alone);
  CHECK(alone->gflops == 16);
  CHECK(alone->gbytes_per_s == 8);
  const auto two = find_ceilings(four_cpus(), 2);
  REQUIRE(two);
  CHECK(two->gflops == 16);       // 48 / 2 is more than one thread attains
  CHECK(two->gbytes_per_s == 6);  // 12 / 2
  const auto many = find_ceilings(four_cpus(), 400);
  REQUIRE(many);
  CHECK(many->gflops == 12);
  CHECK(many->gbytes_per_s == 3);
  CHECK_FALSE(find_ceilings(four_cpus(), 0));
  CHECK_FALSE(find_ceilings({}, 1));
}

TEST_CASE("a roofline is what was calculated by hand") {
  // A triad of 10^9 elements in 4 s: 2 operations and 24 bytes each.
  const auto triad = compute_roofline(2e9, 24e9, 4e9, four_cpus(), 1);
  REQUIRE(triad);
  CHECK(triad->flops_per_byte == Approx(1.0 / 12));
  CHECK(triad->gflops == Approx(0.5));
  CHECK(triad->gbytes_per_s == Approx(6));
  CHECK(triad->attainable_gflops == Approx(8.0 / 12));
  CHECK(triad->share == Approx(0.75));
  CHECK(triad->bound == roofline_bound::memory);
  CHECK(triad->threads == 1);
  // 10 operations a byte.
  const auto product = compute_roofline(40e9, 4e9, 5e9, four_cpus(), 1);
  REQUIRE(product);
  CHECK(product->flops_per_byte == Approx(10));
  CHECK(product->gflops == Approx(8));
  CHECK(product->attainable_gflops == Approx(16));
  CHECK(product->share == Approx(0.5));
  CHECK(product->bound == roofline_bound::compute);
  // At the ridge, 16 / 8, work is no longer bound by memory.
  const auto ridge = compute_roofline(2e9, 1e9, 1e9, four_cpus(), 1);
  REQUIRE(ridge);
  CHECK(ridge->bound == roofline_bound::compute);
  CHECK(ridge->attainable_gflops == Approx(16));
  const auto below = compute_roofline(1.999e9, 1e9, 1e9, four_cpus(), 1);
  REQUIRE(below);
  CHECK(below->bound == roofline_bound::memory);
  // 8 threads on 4 CPUs: their time adds up, and their ceilings are a quarter of all.
  const auto crowd = compute_roofline(2e9, 24e9, 8e9, four_cpus(), 8);
  REQUIRE(crowd);
  CHECK(crowd->gbytes_per_s == Approx(3));
  CHECK(crowd->share == Approx(1));
  CHECK(crowd->threads == 4);
}

TEST_CASE("what is not known has no roofline") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  CHECK(compute_roofline(1.0, 1.0, 1, four_cpus(), 1));
  CHECK_FALSE(compute_roofline(std::nullopt, 1.0, 1, four_cpus(), 1));
  CHECK_FALSE(compute_roofline(1.0, std::nullopt, 1, four_cpus(), 1));
  for (const double wrong : {0.0, -1.0, nan, infinite}) {
    CHECK_FALSE(compute_roofline(wrong, 1.0, 1, four_cpus(), 1));
    CHECK_FALSE(compute_roofline(1.0, wrong, 1, four_cpus(), 1));
    CHECK_FALSE(compute_roofline(1.0, 1.0, wrong, four_cpus(), 1));
    machine_ceilings machine = four_cpus();
    machine.one_gflops = wrong;
    if (wrong < infinite) CHECK_FALSE(compute_roofline(1.0, 1.0, 1, machine, 1));
    machine = four_cpus();
    machine.all_gbytes_per_s = wrong;
    if (wrong < infinite) CHECK_FALSE(compute_roofline(1.0, 1.0, 1, machine, 1));
  }
  CHECK_FALSE(compute_roofline(1.0, 1.0, 1, four_cpus(), 0));
  CHECK_FALSE(compute_roofline(1e300, 1e-300, 1, four_cpus(), 1));
}

TEST_CASE("regions of the host have rooflines, and devices none; a file keeps them, and a sum does not") {
  profile made = on_one_host();
  made.regions = {host_region("triad", 2e9, 24e9, 4'000'000'000, 1), host_region("copy", 0, 1e9, 1'000'000'000, 1),
                  host_region("kernel", 2e9, 24e9, 4'000'000'000, 1), host_region("untimed", 2e9, 24e9, 0, 1)};
  made.regions[2].device = 1;
  made.regions[2].kind = region_kind::kernel;
  add_rooflines(made, four_cpus());
  REQUIRE(made.regions[0].roofline);
  CHECK_FALSE(made.regions[1].roofline);
  CHECK_FALSE(made.regions[2].roofline);
  CHECK_FALSE(made.regions[3].roofline);
  REQUIRE(made.ceilings);

  const std::string text = to_json(made);
  const auto written = nlohmann::json::parse(text);
  CHECK(written["ceilings"]["host"] == "node1");
  CHECK(written["ceilings"]["precision"] == "double");
  CHECK(written["regions"][0]["roofline"]["bound"] == "memory");
  CHECK(written["regions"][0]["roofline"]["share"] == Approx(0.75));
  CHECK_FALSE(written["regions"][1].contains("roofline"));
  const profile again = adaptyst::from_json(text);
  REQUIRE(again.regions[0].roofline);
  CHECK(again.regions[0].roofline->flops_per_byte == made.regions[0].roofline->flops_per_byte);
  CHECK(to_json(again) == text);

  profile sum;
  merge(sum, made);
  CHECK(sum.ceilings);
  profile other = on_one_host();
  other.regions = {host_region("zero", 0, 0, 1, 1)};
  merge(sum, other);
  CHECK_FALSE(sum.ceilings);
  for (const region& row : sum.regions) CHECK_FALSE(row.roofline);

  made.regions.erase(made.regions.begin());
  add_rooflines(made, four_cpus());
  CHECK_FALSE(made.ceilings);
}

TEST_CASE("a profile has a host if all its processes ran there") {
  profile profile = on_one_host();
  CHECK(find_host(profile) == "node1");
  profile.processes.push_back({8, "solver", "node2", 1, {}});
  CHECK(find_host(profile).empty());
  profile.processes.pop_back();
  profile.unlisted.emplace();
  CHECK(find_host(profile).empty());
  CHECK(find_host({}).empty());
}

}  // namespace
