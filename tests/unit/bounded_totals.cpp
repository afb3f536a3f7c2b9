// Compares estimates of sampled regions with the regions around them, which have a known time.
#include <cmath>

#include "catch.hpp"
#include "model/bounded_totals.hpp"

namespace {

using adaptyst::profile;
using adaptyst::region;

constexpr std::uint64_t ms = 1'000'000;

region make_row(std::uint64_t id, std::uint64_t parent, std::uint64_t total_ns, bool is_estimate) {
  region row;
  row.id = id;
  row.parent = parent;
  row.path.assign(parent == 0 ? 1 : 2, "region");
  row.count = 1000;
  row.threads = 1;
  row.total_ns = row.self_ns = total_ns;
  row.durations.add(total_ns / 1000, 1000);
  if (is_estimate) {
    row.timed_events = 10;
    row.total_variance = 1e12;  // 1 ms
  }
  return row;
}

profile make_run(std::vector<region> rows, std::uint64_t duration_ns = 1000 * ms) {
  profile made;
  made.devices.resize(1);
  made.regions = std::move(rows);
  made.processes.resize(1);
  made.processes[0].duration_ns = duration_ns;
  return made;
}

TEST_CASE("an estimate does not exceed the region around it, and says that little is known") {
  profile run = make_run({make_row(1, 0, 100 * ms, false), make_row(2, 1, 680 * ms, true)});
  run.regions[1].total_variance = 1e18;
  adaptyst::lib::bound_estimated_totals(run);
  CHECK(run.regions[0].total_ns == 100 * ms);
  CHECK(run.regions[1].total_ns == Approx(100 * ms));
  CHECK(run.regions[1].self_ns == Approx(100 * ms));
  CHECK(*run.regions[1].total_error_ns() == Approx(100e6 / std::sqrt(12.0)));
}

TEST_CASE("several estimates share what there is, and what is nested in them follows") {
  profile run = make_run({make_row(1, 0, 100 * ms, false), make_row(2, 1, 300 * ms, true),
                          make_row(3, 1, 100 * ms, true), make_row(4, 2, 290 * ms, true)});
  adaptyst::lib::bound_estimated_totals(run);
  CHECK(run.regions[1].total_ns == Approx(75 * ms));
  CHECK(run.regions[2].total_ns == Approx(25 * ms));
  CHECK(run.regions[3].total_ns == Approx(75 * ms));
  CHECK(*run.regions[1].total_error_ns() == Approx(1e6));  // which was smaller
}

TEST_CASE("an estimate outside all regions does not exceed the run") {
  profile run = make_run({make_row(1, 0, 268'000 * ms, true)});
  run.regions[0].threads = 2;
  adaptyst::lib::bound_estimated_totals(run);
  CHECK(run.regions[0].total_ns == Approx(2000 * ms));
}

TEST_CASE("nor does one within another estimate") {
  profile run =
      make_run({make_row(1, 0, 900 * ms, true), make_row(2, 1, 72'000 * ms, true), make_row(3, 1, 20 * ms, true)});
  adaptyst::lib::bound_estimated_totals(run);
  CHECK(run.regions[0].total_ns == 900 * ms);
  CHECK(run.regions[1].total_ns == Approx(1000 * ms));
  CHECK(run.regions[2].total_ns == 20 * ms);
}

TEST_CASE("what is known, what is within reach of chance, and what open events have is left as it is") {
  profile run =
      make_run({make_row(1, 0, 100 * ms, false), make_row(2, 1, 108 * ms, true), make_row(3, 1, 500 * ms, false)});
  adaptyst::lib::bound_estimated_totals(run);
  CHECK(run.regions[1].total_ns == 108 * ms);
  CHECK(run.regions[2].total_ns == 500 * ms);
  run.regions[1].total_ns = 680 * ms;
  run.accounting.open = 1;
  adaptyst::lib::bound_estimated_totals(run);
  CHECK(run.regions[1].total_ns == 680 * ms);
}

}  // namespace
