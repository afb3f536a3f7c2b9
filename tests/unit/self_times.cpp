// Self times where functions without markers nest in markers, and these in them: by hand.
#include "catch.hpp"
#include "model/measurements.hpp"

namespace {

using adaptyst::lib::measurements;
using adaptyst::lib::settle_self_times;

// A row for each pair of path and parent, all of the time given; its self time knows of no nested one.
void add(measurements& sum, std::uint64_t path, std::uint64_t parent, std::uint32_t kind, std::uint64_t total_ns) {
  sum.sites[kind].kind = kind;
  sum.paths[path] = {parent, kind, 0};
  sum.rows[path].count = 1;
  sum.rows[path].total_ns = sum.rows[path].self_ns = total_ns;
}

}  // namespace

TEST_CASE("what markers take in a function is not the function's own: regions, offloads and waits") {
  for (const std::uint32_t kind : {ADAPTYST_SITE_REGION, ADAPTYST_SITE_OFFLOAD, ADAPTYST_SITE_WAIT}) {
    measurements all;
    add(all, 1, 0, ADAPTYST_SITE_FUNCTION, 1000);
    add(all, 2, 1, kind, 300);
    add(all, 3, 1, kind, 50);
    settle_self_times(all);
    CAPTURE(kind);
    CHECK(all.rows[1].self_ns == 650);
    CHECK(all.rows[2].self_ns == 300);
    CHECK(all.rows[1].total_ns == 1000);
  }
}

TEST_CASE("what functions take in a region is not the region's own, in addition to what its regions take") {
  measurements all;
  add(all, 1, 0, ADAPTYST_SITE_REGION, 1000);
  add(all, 2, 1, ADAPTYST_SITE_FUNCTION, 300);
  add(all, 3, 1, ADAPTYST_SITE_REGION, 200);
  add(all, 4, 3, ADAPTYST_SITE_REGION, 150);
  settle_self_times(all);
  CHECK(all.rows[1].self_ns == 500);
  CHECK(all.rows[3].self_ns == 200);  // markers among themselves: the engine that counted them knows
}

TEST_CASE("functions among themselves are left as they were counted") {
  measurements all;
  add(all, 1, 0, ADAPTYST_SITE_FUNCTION, 1000);
  add(all, 2, 1, ADAPTYST_SITE_FUNCTION, 300);
  all.rows[1].self_ns = 700;
  settle_self_times(all);
  CHECK(all.rows[1].self_ns == 700);
}

TEST_CASE("operations of a device and instants take nothing of the thread's time") {
  measurements all;
  add(all, 1, 0, ADAPTYST_SITE_FUNCTION, 1000);
  add(all, 2, 1, ADAPTYST_SITE_KERNEL, 300);
  add(all, 3, 1, ADAPTYST_SITE_MARK, 300);
  add(all, 4, 1, ADAPTYST_SITE_REGION, 100);
  settle_self_times(all);
  CHECK(all.rows[1].self_ns == 900);
}

TEST_CASE("nested time that was read later, and is more, leaves none") {
  measurements all;
  add(all, 1, 0, ADAPTYST_SITE_FUNCTION, 1000);
  add(all, 2, 1, ADAPTYST_SITE_REGION, 1001);
  settle_self_times(all);
  CHECK(all.rows[1].self_ns == 0);
}
