// Profiles add up in any order and grouping to the same result.
#include <adaptyst/profile.hpp>

#include <utility>

#include "catch.hpp"
#include "samples.hpp"
#include "sanitized.hpp"

namespace {

using adaptyst::device_kind;
using adaptyst::loss_reason;
using adaptyst::profile;

profile merged(profile into, const profile& from) {
  adaptyst::merge(into, from);
  return into;
}

// In full, histograms and absent values included; what to_json() leaves out of a region stands next to it.
std::string spelled(const profile& profile) {
  std::string all = adaptyst::to_json(profile);
  for (const adaptyst::region& row : profile.regions) {
    all += std::to_string(row.min_ns) + " " + std::to_string(row.max_ns) + " " + std::to_string(row.total_ns) + " " +
           std::to_string(row.self_ns) + " " + std::to_string(row.durations.count()) + "\n";
  }
  for (const adaptyst::process_info& process : profile.processes)
    all += process.command + process.host + std::to_string(process.pid) + "\n";
  return all;
}

const adaptyst::device_usage* find_device(const profile& in, const adaptyst::region& row) {
  return row.device < in.devices.size() ? &in.devices[row.device] : nullptr;
}

std::uint64_t sum_totals(const profile& in, adaptyst::device_kind kind, std::uint64_t id) {
  std::uint64_t sum = 0;
  for (const adaptyst::region& row : in.regions)
    if (row.id == id && find_device(in, row)->kind == kind) sum += row.total_ns;
  return sum;
}

}  // namespace

TEST_CASE("the date of a profile is the start of its first process") {
  profile made;
  CHECK_FALSE(made.date().has_value());
  made.processes.resize(3);  // the start of the last is unknown
  made.processes[0].started = "2026-02-01T12:00:00Z";
  made.processes[1].started = "2026-01-31T12:00:00Z";
  CHECK(made.date() == "2026-01-31T12:00:00Z");
  std::swap(made.processes[0], made.processes[1]);
  CHECK(made.date() == "2026-01-31T12:00:00Z");
}

TEST_CASE("merge is commutative") {
  for (std::uint64_t seed = 0; seed != random_rounds<std::uint64_t>(300); ++seed) {
    samples::generator random(seed);
    const profile a = random.profile_with_stacks();
    const profile b = random.profile_with_stacks();
    CAPTURE(seed);
    REQUIRE(spelled(merged(a, b)) == spelled(merged(b, a)));
  }
}

TEST_CASE("merge is associative") {
  for (std::uint64_t seed = 1000; seed != 1000 + random_rounds<std::uint64_t>(300); ++seed) {
    samples::generator random(seed);
    const profile a = random.profile_with_stacks();
    const profile b = random.profile_with_stacks();
    const profile c = random.profile_with_stacks();
    CAPTURE(seed);
    REQUIRE(spelled(merged(merged(a, b), c)) == spelled(merged(a, merged(b, c))));
    REQUIRE(spelled(merged(merged(a, b), c)) == spelled(merged(merged(c, a), b)));
  }
}

TEST_CASE("an empty profile changes nothing but the order of rows") {
  for (std::uint64_t seed = 0; seed != 50; ++seed) {
    const profile a = samples::generator(seed).profile_with_stacks();
    const profile canonical = merged(a, {});
    CAPTURE(seed);
    REQUIRE(spelled(merged({}, a)) == spelled(canonical));
    REQUIRE(spelled(merged(canonical, {})) == spelled(canonical));
    REQUIRE(canonical.regions.size() == a.regions.size());
    REQUIRE(canonical.devices.size() == a.devices.size());
  }
}

TEST_CASE("nothing is lost in a merge, and every row keeps its device") {
  for (std::uint64_t seed = 2000; seed != 2000 + random_rounds<std::uint64_t>(100); ++seed) {
    samples::generator random(seed);
    const profile a = random.profile_with_stacks();
    const profile b = random.profile_with_stacks();
    const profile both = merged(a, b);
    CAPTURE(seed);
    using adaptyst::device_kind;
    for (const samples::known_path& path : samples::paths())
      for (const auto kind : {device_kind::cpu, device_kind::gpu, device_kind::fpga, device_kind::accelerator})
        REQUIRE(sum_totals(both, kind, path.id) == sum_totals(a, kind, path.id) + sum_totals(b, kind, path.id));
    REQUIRE(both.accounting.begun == a.accounting.begun + b.accounting.begun);
    std::uint64_t explained = both.accounting.ended + both.accounting.open;
    for (const auto& [reason, count] : both.accounting.lost) explained += count;
    REQUIRE(both.accounting.begun == explained);
    REQUIRE(both.processes.size() == a.processes.size() + b.processes.size());
  }
}

TEST_CASE("the host's CPU is the first device after a merge") {
  for (std::uint64_t seed = 0; seed != 100; ++seed) {
    samples::generator random(seed);
    const profile both = merged(random.profile_with_stacks(), random.profile_with_stacks());
    bool has_cpu = false;
    for (const adaptyst::device_usage& device : both.devices)
      has_cpu = has_cpu || device.kind == adaptyst::device_kind::cpu;
    if (has_cpu) REQUIRE(both.devices.front().kind == adaptyst::device_kind::cpu);
  }
}

TEST_CASE("parents come before children after a merge") {
  samples::generator random(7);
  profile all;
  for (int i = 0; i != 5; ++i) adaptyst::merge(all, random.profile_with_stacks());
  for (std::size_t at = 1; at < all.regions.size(); ++at) REQUIRE(all.regions[at - 1].path <= all.regions[at].path);
}

TEST_CASE("a sum with an unknown part is unknown, and what has counted nothing is no part") {
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
  b.devices[0].observed_ns = 10;
  a.devices[0].observed_ns = 20;  // of which it is unknown how long it was busy
  b.accounting.begun = b.accounting.ended = 1;
  a.accounting.begun = a.accounting.ended = 2;
  for (const profile& both : {merged(a, b), merged(b, a), merged(merged(b, a), b)}) {
    CHECK_FALSE(both.devices[0].busy_ns.has_value());
    CHECK_FALSE(both.devices[0].utilisation().has_value());
    CHECK_FALSE(both.accounting.overhead_ns.has_value());
  }
}

TEST_CASE("page faults and counters of threads are unknown where those of some threads are") {
  adaptyst::os_context a, b, sum;
  a.wall_ns = b.wall_ns = 10;
  a.minor_faults = 3;
  a.cycles = 30;
  sum.merge(a);
  CHECK(sum.minor_faults == 3U);
  sum.merge(a);
  CHECK(sum.cycles == 60U);
  sum.merge(b);
  CHECK_FALSE(sum.minor_faults.has_value());
  CHECK_FALSE(sum.cycles.has_value());
  sum.merge(a);
  CHECK_FALSE(sum.cycles.has_value());
}

TEST_CASE("programs that were not read to their end are counted, with the longest time of all") {
  profile a;
  a.accounting.unread = {2, 30};
  profile b;
  CHECK_FALSE(merged(b, b).accounting.unread.has_value());
  for (const profile& both : {merged(a, b), merged(b, a)}) {
    CHECK(both.accounting.unread->programs == 2);
    CHECK(both.accounting.unread->up_to_ns == 30);
  }
  b.accounting.unread = {1, 50};
  CHECK(merged(a, b).accounting.unread->programs == 3);
  CHECK(merged(a, b).accounting.unread->up_to_ns == 50);
}

TEST_CASE("programs whose memory was refused are counted, with all reasons") {
  profile a;
  a.accounting.refused = {2, "no rights"};
  profile b;
  CHECK_FALSE(merged(b, b).accounting.refused.has_value());
  b.accounting.refused = {1, "no descriptors"};
  for (const profile& both : {merged(a, b), merged(b, a)}) {
    CHECK(both.accounting.refused->programs == 3);
    CHECK(both.accounting.refused->why == "no descriptors | no rights");
  }
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
    const profile once = random.profile_with_stacks();
    profile twice = once;
    adaptyst::merge(twice, twice);
    REQUIRE(spelled(twice) == spelled(merged(once, once)));
  }
}

TEST_CASE("two profiles of known numbers") {
  profile a;
  a.engine = "inline";
  a.devices.resize(2);
  a.devices[0].kind = device_kind::cpu;
  a.devices[1].kind = device_kind::fpga;
  adaptyst::device_usage& fpga = a.devices[1];
  fpga.observed_ns = 100;
  fpga.busy_ns = 50;
  fpga.kernel_ns = 30;
  fpga.copy_ns = 25;
  fpga.exposed_copy_ns = 15;
  fpga.launch_idle_ns = 12;
  fpga.host_waiting_ns = 11;
  fpga.work_ns = 60;
  fpga.operations = 5;
  fpga.queues = 3;
  fpga.late = 1;
  fpga.skipped = 2;
  fpga.to_device = {1000, 10};
  fpga.clock = {adaptyst::clock_id::realtime, 4, -7, 0.5, 90};
  a.offload = {100, 20, 50};
  adaptyst::region row;
  row.path = {"solve"};
  row.id = 9;
  row.device = 1;
  row.threads = 2;
  row.count = 4;
  row.total_ns = 100;
  row.self_ns = 80;
  row.min_ns = 10;
  row.max_ns = 40;
  row.durations.add(25, 4);
  row.attributes["cells"] = {4, 20, 2, 8};
  row.measured_on[{false, 1}] = 70;
  row.overhead_ns = 160;
  a.regions = {row};
  a.accounting = {6, 4, 1, {{loss_reason::rows_full, 1}}, 2, 3, 160.0, std::nullopt, std::nullopt};
  a.samples = adaptyst::sample_usage{10, 1000, {{loss_reason::truncated, 1}}};
  a.timeline = adaptyst::timeline_usage{8, 2, 0};
  a.options = {{"overhead", "5%"}, {"report", "none"}};
  a.processes = {{1, "a", "x", 100}};

  // The other process has seen another device before.
  profile b = a;
  b.devices.emplace(b.devices.begin() + 1);
  b.devices[1].kind = device_kind::gpu;
  b.devices[2].queues = 5;
  b.devices[2].clock->residual_ns = 30;
  b.regions[0].device = 2;
  b.regions[0].count = 6;
  b.regions[0].min_ns = 5;
  b.regions[0].max_ns = 35;
  b.regions[0].timed_events = 3;
  b.regions[0].count_variance = 12;
  b.regions[0].attributes["cells"] = {6, 30, 1, 7};
  b.accounting.lost[loss_reason::too_deep] = 4;
  b.options = {{"overhead", "none"}, {"engine", "inline"}};

  for (const profile& both : {merged(a, b), merged(b, a)}) {
    CHECK(both.engine == "inline");
    REQUIRE(both.devices.size() == 3);
    CHECK(both.devices[1].kind == device_kind::gpu);
    const adaptyst::device_usage& device = both.devices[2];
    CHECK(device.kind == device_kind::fpga);
    CHECK(device.observed_ns == 200);
    CHECK(device.busy_ns == 100U);
    CHECK(device.kernel_ns == 60U);
    CHECK(device.copy_ns == 50U);
    CHECK(device.exposed_copy_ns == 30U);
    CHECK(device.launch_idle_ns == 24U);
    CHECK(device.host_waiting_ns == 22U);
    CHECK(device.work_ns == 120U);
    CHECK(device.operations == 10);
    CHECK(device.queues == 5);  // of one process; it is not known whether they are the same
    CHECK(device.late == 2);
    CHECK(device.skipped == 4);
    CHECK(device.to_device->sum == 2000);
    CHECK(device.to_device->time_ns == 20);
    CHECK(device.clock->residual_ns == 90);  // the worse one
    CHECK(both.offload.observed_ns == 200);
    CHECK(both.offload.waited_ns == 40U);
    CHECK(both.offload.busy_ns == 100U);
    REQUIRE(both.regions.size() == 1);
    const adaptyst::region& sum = both.regions[0];
    CHECK(sum.device == 2);
    CHECK(sum.threads == 4);
    CHECK(sum.count == 10);
    CHECK(sum.total_ns == 200);
    CHECK(sum.self_ns == 160);
    CHECK(sum.min_ns == 5);
    CHECK(sum.max_ns == 40);
    CHECK(sum.durations.count() == 8);
    CHECK(sum.timed_events == 7U);  // all four of the one that was not
    CHECK(sum.count_variance == 12.0);
    CHECK(sum.attributes.at("cells").count == 10);
    CHECK(sum.attributes.at("cells").sum == 50);
    CHECK(sum.attributes.at("cells").min == 1);
    CHECK(sum.attributes.at("cells").max == 8);
    CHECK(sum.measured_on.at({false, 1}) == 140);
    CHECK(sum.overhead_ns == 320.0);
    CHECK(both.accounting.begun == 12);
    CHECK(both.accounting.ended == 8);
    CHECK(both.accounting.open == 2);
    CHECK(both.accounting.lost == adaptyst::losses{{loss_reason::rows_full, 2}, {loss_reason::too_deep, 4}});
    CHECK(both.accounting.unmatched == 4);
    CHECK(both.accounting.unnamed == 6);
    CHECK(both.accounting.overhead_ns == 320.0);
    CHECK(both.samples->samples == 20);
    CHECK(both.samples->observed_ns == 2000);
    CHECK(both.samples->lost.at(loss_reason::truncated) == 2);
    CHECK(both.options ==
          std::map<std::string, std::string>{{"engine", "inline"}, {"overhead", "5% | none"}, {"report", "none"}});
    CHECK(both.timeline->events == 16);
    CHECK(both.timeline->lost == 4);
    CHECK(both.processes.size() == 2);
  }
}

TEST_CASE("of several engines and reasons each is named once, in order") {
  profile a;
  a.engine = "inline";
  a.reason = "asked for";
  profile b;
  b.engine = "ebpf";
  b.reason = "asked for";
  const profile both = merged(merged(a, b), merged(b, a));
  CHECK(both.engine == "ebpf | inline");
  CHECK(both.reason == "asked for");
}

TEST_CASE("what an empty region lasts is the longest of all profiles, in either order") {
  profile shorter;
  shorter.timer_floor_ns = 12;
  shorter.sampled_floor_ns = 5;
  shorter.sampled_floor_error_ns = 1;
  profile longer = shorter;
  longer.timer_floor_ns = 20;
  longer.sampled_floor_ns = 4;
  for (const profile& both : {merged(shorter, longer), merged(longer, shorter)}) {
    CHECK(both.timer_floor_ns == 20.0);
    CHECK(both.sampled_floor_ns == 5.0);
    CHECK(both.sampled_floor_error_ns == 1.0);
  }
  for (const profile& both : {merged(shorter, profile()), merged(profile(), shorter)})
    CHECK(both.timer_floor_ns == 12.0);
}
