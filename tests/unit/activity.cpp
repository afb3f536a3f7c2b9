// Rates out of sums: against figures by hand, and what is shown of them.
#include <sstream>

#include "catch.hpp"
#include "model/activity.hpp"
#include "report/activity_table.hpp"
#include "samples.hpp"

namespace {

using namespace adaptyst;

constexpr double second = 1e9;

histogram make_durations(std::uint64_t count, std::uint64_t each_ns) {
  histogram made;
  made.add(each_ns, count);
  return made;
}

region row(std::string name, std::uint64_t id, std::uint64_t count, std::uint64_t each_ns) {
  region made;
  made.path = {"main", std::move(name)};
  made.id = id;
  made.kind = adaptyst::region_kind::region;
  made.count = count;
  made.total_ns = count * each_ns;
  made.self_ns = made.total_ns / 2;
  made.min_ns = made.max_ns = each_ns;
  made.durations = make_durations(count, each_ns);
  return made;
}

device_usage processor(adaptyst::device_kind kind, std::optional<std::uint64_t> busy_ns) {
  device_usage made;
  made.kind = kind;
  made.name = std::string("a ") + to_string(kind);
  made.busy_ns = busy_ns;
  return made;
}

profile at(std::uint64_t ended, std::vector<region> regions) {
  profile made;
  made.engine = "inline";
  made.devices = {processor(adaptyst::device_kind::cpu, 0)};
  made.regions = std::move(regions);
  made.accounting.begun = made.accounting.ended = ended;
  return made;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("what was before the first look does not count") {
  activity_meter meter;
  const activity first = meter.next(at(10, {row("a", 1, 10, 1000)}), 5 * second);
  CHECK(first.wall_ns == 0);
  CHECK_FALSE(first.events_per_second.has_value());
  const activity idle = meter.next(at(10, {row("a", 1, 10, 1000)}), second);
  CHECK(idle.regions.empty());
  CHECK(idle.events_per_second == 0.0);
  CHECK(idle.events_so_far == 10);
}

TEST_CASE("figures are those of the interval") {
  activity_meter meter;
  meter.next(at(10, {row("a", 1, 10, 1'000'000)}), 0);
  region later = row("a", 1, 10, 1'000'000);
  // Thirty more, 2 ms each, in two seconds.
  later.count = 40;
  later.total_ns += 60'000'000;
  later.self_ns += 20'000'000;
  later.durations.add(2'000'000, 30);
  later.max_ns = 2'000'000;
  const activity now = meter.next(at(40, {later}), 2 * second);
  REQUIRE(now.regions.size() == 1);
  const active_region& found = now.regions[0];
  CHECK(found.count == 30);
  CHECK(*found.per_second == Approx(15));
  CHECK(*found.total_share == Approx(0.03));
  CHECK(*found.self_share == Approx(0.01));
  CHECK(*found.mean_ns == Approx(2e6));
  CHECK(static_cast<double>(*found.p99_ns) == Approx(2e6).epsilon(0.03));
  CHECK(found.count_so_far == 40);
  CHECK(found.total_so_far_ns == 70'000'000);
  CHECK(*now.events_per_second == Approx(15));
}

TEST_CASE("regions that are not reported have not changed") {
  activity_meter meter;
  meter.next(at(3, {row("a", 1, 2, 10), row("b", 2, 1, 10)}), 0);
  CHECK(meter.next(at(3, {}), second).regions.empty());
  const activity now = meter.next(at(5, {row("a", 1, 4, 10)}), second);
  REQUIRE(now.regions.size() == 1);
  CHECK(now.regions[0].count == 2);
}

TEST_CASE("a region that is new has begun in the interval") {
  activity_meter meter;
  meter.next(at(0, {}), 0);
  CHECK(meter.next(at(7, {row("a", 1, 7, 10)}), second).regions.at(0).count == 7);
}

TEST_CASE("the hottest is the first") {
  activity_meter meter;
  meter.next(at(0, {}), 0);
  const activity now = meter.next(at(12, {row("a", 1, 1, 10), row("b", 2, 1, 30), row("c", 3, 10, 1)}), second);
  REQUIRE(now.regions.size() == 3);
  CHECK(now.regions[0].path.back() == "b");
  CHECK(now.regions[1].path.back() == "c");  // as long as a, but more often
  CHECK(now.regions[2].path.back() == "a");
}

TEST_CASE("marks have a rate and no time") {
  region mark = row("here", 1, 5, 0);
  mark.kind = adaptyst::region_kind::instant_event;
  mark.durations = {};
  activity_meter meter;
  meter.next(at(0, {}), 0);
  const active_region found = meter.next(at(5, {mark}), second).regions.at(0);
  CHECK(*found.per_second == Approx(5));
  CHECK_FALSE((found.self_share || found.total_share || found.mean_ns || found.p99_ns));
}

TEST_CASE("devices: what was used in the interval, and since the first look") {
  activity_meter meter;
  profile now = at(0, {});
  now.devices = {processor(adaptyst::device_kind::cpu, 500'000'000),
                 processor(adaptyst::device_kind::gpu, std::nullopt)};
  meter.next(now, 0);
  now.devices[0].busy_ns = 1'250'000'000;
  const activity first = meter.next(now, second);
  CHECK(*first.devices.at(0).utilisation == Approx(0.75));
  CHECK_FALSE(first.devices.at(1).utilisation.has_value());
  now.devices[1].busy_ns = 400'000'000;  // it came later: all of it is new
  const activity second_reading = meter.next(now, second);
  CHECK(*second_reading.devices.at(0).utilisation == 0);
  CHECK(*second_reading.devices.at(0).utilisation_so_far == Approx(0.375));
  CHECK(*second_reading.devices.at(1).utilisation == Approx(0.4));
  CHECK(*second_reading.devices.at(1).utilisation_so_far == Approx(0.2));
  now.devices[1].busy_ns = 9'000'000'000;  // an operation is booked when it has ended
  CHECK(*meter.next(now, second).devices.at(1).utilisation == 1);
}

TEST_CASE("sums that shrink are no progress") {
  activity_meter meter;
  profile now = at(10, {row("a", 1, 10, 100)});
  now.accounting.lost[adaptyst::loss_reason::not_delivered] = 5;
  meter.next(now, 0);
  now = at(8, {row("a", 1, 8, 100)});
  now.accounting.lost[adaptyst::loss_reason::not_delivered] = 3;
  const activity found = meter.next(now, second);
  CHECK(found.regions.empty());
  CHECK(found.events == 0);
  CHECK(found.lost.empty());
  CHECK(found.lost_so_far.at(adaptyst::loss_reason::not_delivered) == 3);
}

TEST_CASE("what observing costs, and what it loses") {
  activity_meter meter;
  profile now = at(100, {});
  CHECK_FALSE(meter.next(now, 0).overhead.has_value());
  now.accounting.overhead_ns = 1'000'000;
  meter.next(now, second);
  now.accounting.overhead_ns = 3'000'000;
  now.accounting.lost = {{adaptyst::loss_reason::rows_full, 4}};
  const activity found = meter.next(now, 0.5 * second);
  CHECK(*found.overhead == Approx(0.004));
  CHECK(found.lost.at(adaptyst::loss_reason::rows_full) == 4);
  const std::string table = to_table(found);
  CHECK(table.find("observing costs 0.4% of a thread") != std::string::npos);
  CHECK(table.find("4 events lost now; so far 4 rows_full") != std::string::npos);
}

TEST_CASE("what is shown fits, and does no harm") {
  std::vector<region> many;
  for (std::uint64_t id = 1; id != 50; ++id) many.push_back(row("\033[2J region\n" + std::to_string(id), id, id, 1000));
  profile all = at(1225, many);
  all.processes.push_back({4711, "/bin/a\033", "host", 1});
  activity_meter meter;
  meter.next(at(0, {}), 0);
  const activity found = meter.next(all, second);
  for (const std::size_t columns : {40U, 80U, 200U}) {
    for (const std::size_t lines : {12U, 24U, 100U}) {
      activity_view how;
      how.columns = columns;
      how.lines = lines;
      how.regions = 1000;
      how.observer_cpu = 0.01;
      const std::string text = to_table(found, how);
      CHECK(text.find('\033') == std::string::npos);
      const std::vector<std::string> shown = split_lines(text);
      CHECK(shown.size() <= lines);
      for (const std::string& line : shown) CHECK(samples::spell(line).points <= columns);
    }
  }
  activity_view few;
  few.regions = 3;
  const std::string text = to_table(found, few);
  CHECK(text.find("… and 46 more") != std::string::npos);
  CHECK(text.find("region?49") < text.find("region?48"));
  CHECK(text.find("region?46") == std::string::npos);
}

TEST_CASE("a region that took longer than the interval has a share of all of it, and no more") {
  activity_meter meter;
  meter.next(at(0, {}), 0);
  const activity now = meter.next(
      at(4, {row("day", 1, 1, 86'400'000'000'000), row("two", 2, 2, 3'000'000'000), row("short", 3, 1, 250'000'000)}),
      second);
  REQUIRE(now.regions.size() == 3);
  CHECK(*now.regions[0].total_share == Approx(1));
  CHECK(*now.regions[0].self_share == Approx(0.5));
  CHECK(*now.regions[0].mean_ns == Approx(86.4e12));
  CHECK(*now.regions[1].total_share == Approx(2));
  CHECK(*now.regions[2].total_share == Approx(0.25));
  CHECK(to_table(now).find(">9999") == std::string::npos);
}

TEST_CASE("rows stay in sight when nothing is counted") {
  activity_meter meter;
  meter.next(at(0, {}), 0);
  const activity first = meter.next(at(3, {row("a", 1, 2, 1000), row("b", 2, 1, 1000)}), second);
  activity now = meter.next(at(5, {row("b", 2, 3, 1000)}), second);
  add_idle(now, first);
  REQUIRE(now.regions.size() == 2);
  CHECK(now.regions[0].path.back() == "b");
  const active_region& idle = now.regions[1];
  CHECK(idle.path.back() == "a");
  CHECK(idle.per_second == 0.0);
  CHECK(idle.total_share == 0.0);
  CHECK_FALSE((idle.mean_ns || idle.p99_ns));
  CHECK(idle.total_so_far_ns == 2000);
  CHECK(to_table(now).find("main > a") != std::string::npos);
  activity last = meter.next(at(5, {}), second);
  add_idle(last, now, 1);
  REQUIRE(last.regions.size() == 1);
  CHECK(last.regions[0].path.back() == "b");
}

TEST_CASE("rows say whose they are, and are listed by what is asked for") {
  activity_meter meter;
  meter.next(at(0, {}), 0);
  activity now = meter.next(at(31, {row("long", 1, 1, 10'000), row("often", 2, 30, 100)}), second);
  now.regions[0].processes = {4711};
  now.regions[1].processes = {4711, 4712, 4713};
  activity_view how;
  std::string text = to_table(now, how);
  CHECK(text.find("main > long") < text.find("main > often"));
  CHECK(text.find(" 4711 +2 ") > text.find("main > often"));
  how.order = activity_order::rate;
  text = to_table(now, how);
  CHECK(text.find("main > often") < text.find("main > long"));
}
