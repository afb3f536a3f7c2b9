// Profiles add up in any order and grouping to the same result.
#include <adaptyst/profile.hpp>

#include "catch.hpp"
#include "samples.hpp"

namespace {

using adaptyst::profile;

profile merged(profile into, const profile& from) {
  adaptyst::merge(into, from);
  return into;
}

// In full, histograms and absent values included; what to_json() leaves out of a region stands beside it.
std::string spelled(const profile& of) {
  std::string all = adaptyst::to_json(of);
  for (const adaptyst::region& row : of.regions) {
    all += std::to_string(row.min_ns) + " " + std::to_string(row.max_ns) + " " + std::to_string(row.total_ns) + " " +
           std::to_string(row.self_ns) + " " + std::to_string(row.durations.count()) + "\n";
  }
  for (const adaptyst::process_info& one : of.processes) all += one.command + one.host + std::to_string(one.pid) + "\n";
  return all;
}

const adaptyst::device_usage* device_of(const profile& in, const adaptyst::region& row) {
  return row.device < in.devices.size() ? &in.devices[row.device] : nullptr;
}

std::uint64_t sum_of_totals(const profile& in, adaptyst::device_kind kind, std::uint64_t id) {
  std::uint64_t sum = 0;
  for (const adaptyst::region& row : in.regions)
    if (row.id == id && device_of(in, row)->kind == kind) sum += row.total_ns;
  return sum;
}

}  // namespace

TEST_CASE("merge is commutative") {
  for (std::uint64_t seed = 0; seed != 300; ++seed) {
    samples::generator random(seed);
    const profile a = random.profile();
    const profile b = random.profile();
    CAPTURE(seed);
    REQUIRE(spelled(merged(a, b)) == spelled(merged(b, a)));
  }
}

TEST_CASE("merge is associative") {
  for (std::uint64_t seed = 1000; seed != 1300; ++seed) {
    samples::generator random(seed);
    const profile a = random.profile();
    const profile b = random.profile();
    const profile c = random.profile();
    CAPTURE(seed);
    REQUIRE(spelled(merged(merged(a, b), c)) == spelled(merged(a, merged(b, c))));
    REQUIRE(spelled(merged(merged(a, b), c)) == spelled(merged(merged(c, a), b)));
  }
}

TEST_CASE("an empty profile changes nothing but the order of rows") {
  for (std::uint64_t seed = 0; seed != 50; ++seed) {
    const profile a = samples::generator(seed).profile();
    const profile canonical = merged(a, {});
    CAPTURE(seed);
    REQUIRE(spelled(merged({}, a)) == spelled(canonical));
    REQUIRE(spelled(merged(canonical, {})) == spelled(canonical));
    REQUIRE(canonical.regions.size() == a.regions.size());
    REQUIRE(canonical.devices.size() == a.devices.size());
  }
}

TEST_CASE("nothing is lost in a merge, and every row keeps its device") {
  for (std::uint64_t seed = 2000; seed != 2100; ++seed) {
    samples::generator random(seed);
    const profile a = random.profile();
    const profile b = random.profile();
    const profile both = merged(a, b);
    CAPTURE(seed);
    using adaptyst::device_kind;
    for (const samples::known_path& path : samples::paths())
      for (const auto kind : {device_kind::cpu, device_kind::gpu, device_kind::fpga, device_kind::accelerator})
        REQUIRE(sum_of_totals(both, kind, path.id) ==
                sum_of_totals(a, kind, path.id) + sum_of_totals(b, kind, path.id));
    REQUIRE(both.accounting.begun == a.accounting.begun + b.accounting.begun);
    std::uint64_t known = both.accounting.ended + both.accounting.open;
    for (const auto& [reason, count] : both.accounting.lost) known += count;
    REQUIRE(both.accounting.begun == known);
    REQUIRE(both.processes.size() == a.processes.size() + b.processes.size());
  }
}

TEST_CASE("the host's CPU is the first device after a merge") {
  for (std::uint64_t seed = 0; seed != 100; ++seed) {
    samples::generator random(seed);
    const profile both = merged(random.profile(), random.profile());
    bool has_cpu = false;
    for (const adaptyst::device_usage& device : both.devices)
      has_cpu = has_cpu || device.kind == adaptyst::device_kind::cpu;
    if (has_cpu) REQUIRE(both.devices.front().kind == adaptyst::device_kind::cpu);
  }
}

TEST_CASE("parents come before children after a merge") {
  samples::generator random(7);
  profile all;
  for (int i = 0; i != 5; ++i) adaptyst::merge(all, random.profile());
  for (std::size_t at = 1; at < all.regions.size(); ++at) REQUIRE(all.regions[at - 1].path <= all.regions[at].path);
}

TEST_CASE("an absent quantity stays absent until somebody has it") {
  profile a;
  a.devices.resize(1);
  a.devices[0].kind = adaptyst::device_kind::cpu;
  profile b = a;
  CHECK_FALSE(merged(a, b).devices[0].busy_ns.has_value());
  CHECK_FALSE(merged(a, b).accounting.overhead_ns.has_value());
  b.devices[0].busy_ns = 5;
  b.accounting.overhead_ns = 2.0;
  CHECK(merged(a, b).devices[0].busy_ns == 5U);
  CHECK(merged(b, a).devices[0].busy_ns == 5U);
  CHECK(merged(b, b).accounting.overhead_ns == 4.0);
}

TEST_CASE("the least and the greatest are those of all, and an empty row has neither") {
  adaptyst::region row;
  row.path = {"a"};
  row.id = 1;
  profile none;
  none.regions.push_back(row);  // holds a metric only: it never ended
  row.count = 2;
  row.min_ns = 10;
  row.max_ns = 30;
  profile some;
  some.regions.push_back(row);
  for (const profile& both : {merged(none, some), merged(some, none)}) {
    REQUIRE(both.regions.size() == 1);
    CHECK(both.regions[0].min_ns == 10);
    CHECK(both.regions[0].max_ns == 30);
  }
}

TEST_CASE("a profile may be merged with itself") {
  samples::generator random(11);
  for (int i = 0; i != 20; ++i) {
    const profile once = random.profile();
    profile twice = once;
    adaptyst::merge(twice, twice);
    REQUIRE(spelled(twice) == spelled(merged(once, once)));
  }
}
