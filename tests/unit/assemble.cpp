// From rows by the id of their path to the regions of a profile.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>

#include "catch.hpp"
#include "model/heap_usage.hpp"
#include "model/region_list.hpp"

namespace {

using namespace adaptyst;
using lib::measurements;

constexpr std::uint64_t solve = 11, sweep = 12, residual = 13, restart = 14, upload = 15, labelled = 16;

// Sites by number; the paths are for each test to say.
measurements with_sites() {
  measurements made;
  const auto add = [&](std::uint64_t id, const char* name, std::uint32_t kind, std::vector<std::string> attributes = {},
                       const char* label = "") {
    made.sites[id] = {name, std::string(name) + ".cpp", std::string(name) + "()", label, static_cast<std::uint32_t>(id),
                      kind, std::move(attributes)};
  };
  add(solve, "solve", ADAPTYST_SITE_REGION);
  add(sweep, "sweep", ADAPTYST_SITE_OFFLOAD, {"bytes", "cells"});
  add(residual, "residual", ADAPTYST_SITE_METRIC);
  add(restart, "restart", ADAPTYST_SITE_MARK);
  add(upload, "upload", ADAPTYST_SITE_COPY_TO);
  add(labelled, "pick", ADAPTYST_SITE_REGION, {}, "scheme=weno");
  return made;
}

lib::measured_row row(std::uint64_t count, std::uint64_t each_ns, std::vector<attribute> attributes = {}) {
  lib::measured_row made;
  made.count = count;
  made.total_ns = count * each_ns;
  made.self_ns = made.total_ns / 2;
  made.min_ns = made.max_ns = each_ns;
  made.threads = 2;
  made.durations.add(each_ns, count);
  made.attributes = std::move(attributes);
  return made;
}

const region& find(const std::vector<region>& in, const std::vector<std::string>& path) {
  const region* found = nullptr;
  for (const region& row : in)
    if (row.path == path) {
      REQUIRE(found == nullptr);
      found = &row;
    }
  REQUIRE(found != nullptr);
  return *found;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("nothing measured, nothing assembled") {
  CHECK(lib::assemble({}, {}).empty());
  CHECK(lib::assemble(with_sites(), {0}).empty());
}

TEST_CASE("how threads differ is known of regions, and not of what another thread may end") {
  measurements in = with_sites();
  in.paths = {{1, {0, solve, 0}}, {2, {1, upload, 0}}};
  in.rows[1] = in.rows[2] = row(4, 100);
  in.rows[1].per_thread = in.rows[2].per_thread = {2, 200, 90, 110};
  std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all[0].per_thread.has_value());
  CHECK(all[0].per_thread->max_ns == 110);
  CHECK_FALSE(all[1].per_thread.has_value());
  in.sites[solve].kind = ADAPTYST_SITE_HANDLE;
  CHECK_FALSE(lib::assemble(in, {0})[0].per_thread.has_value());
}

TEST_CASE("rows are in the order of their paths, and of their ids where these are equal") {
  const unsigned seed = std::random_device()();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  measurements in = with_sites();
  in.sites[17] = in.sites[sweep];  // another marker with its name
  constexpr std::uint64_t paths = 2000;
  for (std::uint64_t path = 1; path <= paths; ++path) {
    // Half are deep, in order of their depth; their ids are not.
    const std::uint64_t parent = path % 2 != 0 || path < 3 ? random() % path : path - 2;
    const std::uint64_t sites[] = {solve, sweep, 17};
    const auto numbered = [](std::uint64_t number) { return number == 0 ? 0 : number * 7919 % 100'003; };
    in.paths[numbered(path)] = {numbered(parent), sites[random() % 3], 0};
    in.rows[numbered(path)] = row(1, 10);
  }
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == paths);
  CHECK(std::is_sorted(all.begin(), all.end(), [](const region& a, const region& b) {
    return a.path != b.path ? a.path < b.path : a.id < b.id;
  }));
  std::set<std::uint64_t> ids;
  for (const region& each : all) {
    ids.insert(each.id);
    CHECK(each.path.size() == lib::list_path_names(in, each.id).size());
  }
  CHECK(ids.size() == paths);
}

TEST_CASE("paths are spelled from the root, with all that is known of their marker") {
  measurements in = with_sites();
  in.paths = {{1, {0, solve, 0}}, {2, {1, sweep, 1}}, {3, {2, solve, 0}}};
  in.rows[1] = row(1, 1000);
  in.rows[2] = row(4, 100, {{4, 64, 8, 32}, {4, 10, 1, 4}});
  in.rows[3] = row(7, 10);
  const std::vector<region> all = lib::assemble(in, {0, 5});
  REQUIRE(all.size() == 3);
  CHECK(all[0].path == names{"solve"});
  CHECK(all[1].path == names{"solve", "sweep"});
  CHECK(all[2].path == names{"solve", "sweep", "solve"});
  const region& row = all[1];
  CHECK(row.id == 2);
  CHECK(row.parent == 1);
  CHECK(row.kind == adaptyst::region_kind::offload);
  CHECK(row.device == 5);
  CHECK(row.threads == 2);
  CHECK(row.count == 4);
  CHECK(row.total_ns == 400);
  CHECK(row.self_ns == 200);
  CHECK(row.min_ns == 100);
  CHECK(row.max_ns == 100);
  CHECK(row.durations.count() == 4);
  CHECK(row.site.file == "sweep.cpp");
  CHECK(row.site.function == "sweep()");
  CHECK(row.site.line == sweep);
  CHECK_FALSE(row.overhead_ns.has_value());
  REQUIRE(row.attributes.size() == 2);
  CHECK(row.attributes.at("bytes").sum == 64);
  CHECK(row.attributes.at("bytes").max == 32);
  CHECK(row.attributes.at("cells").min == 1);
  CHECK(all[0].parent == 0);
}

TEST_CASE("every kind of marker has its own") {
  using kind = adaptyst::region_kind;
  const std::pair<std::uint32_t, kind> kinds[] = {
      {ADAPTYST_SITE_REGION, kind::region},       {ADAPTYST_SITE_OFFLOAD, kind::offload},
      {ADAPTYST_SITE_MARK, kind::instant_event},  {ADAPTYST_SITE_FUNCTION, kind::function},
      {ADAPTYST_SITE_KERNEL, kind::kernel},       {ADAPTYST_SITE_COPY_TO, kind::copy_to},
      {ADAPTYST_SITE_COPY_FROM, kind::copy_from}, {ADAPTYST_SITE_FILL, kind::fill},
      {ADAPTYST_SITE_OTHER, kind::other}};
  for (const auto& [site, as] : kinds) {
    measurements in;
    in.sites[1].name = "x";
    in.sites[1].kind = site;
    in.paths[9] = {0, 1, 0};
    in.rows[9] = row(1, 1);
    CHECK(lib::assemble(in, {0}).at(0).kind == as);
  }
}

TEST_CASE("a label stands in brackets behind the name") {
  measurements in = with_sites();
  in.paths = {{1, {0, labelled, 0}}, {2, {1, solve, 0}}};
  in.rows[2] = row(1, 1);
  CHECK(lib::assemble(in, {0}).at(0).path == names{"pick [scheme=weno]", "solve"});
}

TEST_CASE("metrics are folded into the region above them, from all their sites") {
  measurements in = with_sites();
  in.sites[23] = in.sites[residual];  // the same metric on another line
  in.sites[24] = in.sites[residual];
  in.sites[24].name = "iterations";
  in.paths = {{1, {0, solve, 0}}, {2, {1, residual, 0}}, {3, {1, 23, 0}}, {4, {1, 24, 0}}};
  in.rows[1] = row(1, 1000);
  in.rows[2] = row(2, 0, {{2, 3, 1, 2}});
  in.rows[3] = row(3, 0, {{3, 30, -5, 20}});
  in.rows[4] = row(1, 0, {{1, 8, 8, 8}});
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 1);
  CHECK(all[0].count == 1);
  CHECK(all[0].total_ns == 1000);
  REQUIRE(all[0].attributes.size() == 2);
  const attribute& both = all[0].attributes.at("residual");
  CHECK(both.count == 5);
  CHECK(both.sum == 33);
  CHECK(both.min == -5);
  CHECK(both.max == 20);
  CHECK(both.metrics == 5);
}

TEST_CASE("a metric holds its region's place while that is open, and stands for itself outside any") {
  measurements in = with_sites();
  in.paths = {{1, {0, solve, 0}}, {2, {1, residual, 0}}, {3, {0, residual, 0}}};
  in.rows[2] = row(2, 0, {{2, 3, 1, 2}});
  in.rows[3] = row(1, 0, {{1, 7, 7, 7}});
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 2);
  const region& open = find(all, {"solve"});
  CHECK(open.count == 0);
  CHECK(open.durations.count() == 0);
  CHECK(open.attributes.at("residual").sum == 3);
  CHECK(find(all, {"residual"}).attributes.at("residual").sum == 7);
}

TEST_CASE("a mark counts, and has no duration") {
  measurements in = with_sites();
  in.paths = {{1, {0, solve, 0}}, {2, {1, restart, 0}}};
  in.rows[2] = row(3, 50);
  const region mark = lib::assemble(in, {0}).at(0);
  CHECK(mark.path == names{"solve", "restart"});
  CHECK(mark.kind == adaptyst::region_kind::instant_event);
  CHECK(mark.count == 3);
  CHECK(mark.total_ns == 0);
  CHECK(mark.durations.count() == 0);
  CHECK_FALSE(mark.quantile_ns(0.5).has_value());
}

TEST_CASE("what was never named is counted all the same") {
  measurements in = with_sites();
  in.rows[77] = row(3, 10);      // no path
  in.paths[2] = {99, solve, 0};  // no parent
  in.rows[2] = row(1, 1);
  in.paths[3] = {0, 4444, 0};  // no site
  in.rows[3] = row(2, 1);
  in.paths[4] = {98, residual, 0};  // a number below nothing known
  in.rows[4] = row(1, 0, {{1, 5, 5, 5}});
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 4);
  CHECK(find(all, {"(unknown)", "solve"}).count == 1);
  CHECK(find(all, {"(name unreadable)"}).count == 2);
  std::uint64_t nameless = 0;
  for (const region& row : all)
    if (row.path == names{"(unknown)"}) nameless += row.id == 77 ? row.count : 100 * row.attributes.size();
  CHECK(nameless == 103);
}

namespace {

// What goes round in circles shall fail for want of memory, and not take the machine's.
class memory_limit {
 public:
  memory_limit() {
    unsigned long pages = 0;
    std::FILE* const sizes = std::fopen("/proc/self/statm", "r");
    const bool has_pages = sizes != nullptr && std::fscanf(sizes, "%lu", &pages) == 1;
    if (sizes != nullptr) std::fclose(sizes);
    REQUIRE(has_pages);
    REQUIRE(getrlimit(RLIMIT_AS, &before_) == 0);
    const rlimit_t more = pages * static_cast<rlimit_t>(sysconf(_SC_PAGESIZE)) + (rlimit_t{1} << 30);
    const rlimit tight{more, before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  }
  ~memory_limit() { setrlimit(RLIMIT_AS, &before_); }
  memory_limit(const memory_limit&) = delete;
  memory_limit& operator=(const memory_limit&) = delete;

 private:
  using rlimit_t = decltype(rlimit::rlim_cur);
  rlimit before_{};
};

}  // namespace

TEST_CASE("paths that lead to themselves end") {
  const memory_limit limit;
  measurements in = with_sites();
  in.paths = {{1, {2, solve, 0}}, {2, {1, sweep, 0}}, {3, {3, solve, 0}}};
  in.rows[1] = row(1, 1);
  in.rows[3] = row(1, 1);
  CHECK(lib::assemble(in, {0}).size() == 2);
}

TEST_CASE("a path that is longer than a thread can nest begins with what is not known") {
  measurements in = with_sites();
  for (std::uint64_t id = 1; id != 6000; ++id) in.paths[id] = {id - 1, solve, 0};
  in.rows[4097] = row(1, 1);
  in.rows[4098] = row(1, 1);
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 2);
  for (const region& row : all) {
    CHECK(row.path.size() == 4097);
    CHECK(row.path.front() == (row.id == 4097 ? "solve" : "(unknown)"));
  }
}

TEST_CASE("rows without events, and attributes that never came, leave no trace") {
  measurements in = with_sites();
  in.paths = {{1, {0, sweep, 0}}, {2, {0, solve, 0}}, {3, {2, residual, 0}}};
  in.rows[1] = row(4, 100, {{4, 64, 8, 32}});  // the second attribute was never seen
  in.rows[2] = row(0, 0);
  in.rows[3] = row(0, 0, {{0, 0, 0, 0}});
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 1);
  CHECK(all[0].attributes.size() == 1);
}

TEST_CASE("the same names from different lines stay apart, parents come before children") {
  measurements in = with_sites();
  in.sites[21] = in.sites[solve];
  in.paths = {{5, {0, solve, 0}}, {6, {0, 21, 0}}, {7, {5, sweep, 0}}, {8, {6, sweep, 0}}};
  for (const std::uint64_t id : {5U, 6U, 7U, 8U}) in.rows[id] = row(id, 1);
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 4);
  for (std::size_t at = 1; at != all.size(); ++at) CHECK(all[at - 1].path <= all[at].path);
  for (const region& row : all)
    for (const region& other : all)
      if (other.id == row.parent) CHECK(&other < &row);
}

TEST_CASE("rows of one path add up, whichever process wrote them") {
  lib::measured_row a = row(3, 10, {{3, 6, 1, 3}});
  const lib::measured_row b = row(1, 50, {{0, 0, 0, 0}, {1, -4, -4, -4}});
  lib::add(a, b);
  CHECK(a.count == 4);
  CHECK(a.total_ns == 80);
  CHECK(a.self_ns == 40);
  CHECK(a.min_ns == 10);
  CHECK(a.max_ns == 50);
  CHECK(a.threads == 4);
  CHECK(a.durations.count() == 4);
  REQUIRE(a.attributes.size() == 2);
  CHECK(a.attributes[0].sum == 6);
  CHECK(a.attributes[0].min == 1);
  CHECK(a.attributes[1].max == -4);
  lib::measured_row nothing;
  lib::add(nothing, a);
  CHECK(nothing.min_ns == 10);
}

TEST_CASE("a list that is kept up to date is the list made anew") {
  measurements in = with_sites();
  in.paths[1] = {0, solve, 0};
  in.paths[2] = {1, sweep, 1};
  in.paths[3] = {1, residual, 0};
  in.rows[1] = row(1, 100);
  lib::region_list kept;
  const auto check = [&](const lib::path_set& changed, const std::vector<std::uint32_t>& devices) {
    kept.update(in, devices, changed);
    const std::vector<region> anew = lib::assemble(in, devices);
    REQUIRE(kept.regions().size() == anew.size());
    for (std::size_t at = 0; at != anew.size(); ++at) {
      const region& row = kept.regions()[at];
      CHECK(row.path == anew[at].path);
      CHECK(row.count == anew[at].count);
      CHECK(row.total_ns == anew[at].total_ns);
      CHECK(row.device == anew[at].device);
      CHECK(row.attributes.size() == anew[at].attributes.size());
    }
  };
  check({1}, {0, 1});
  in.rows[2] = row(2, 50);
  in.rows[1] = row(3, 100);
  check({1, 2}, {0, 1});
  in.rows[3] = row(1, 0, {{1, 7, 7, 7}});  // a metric: it goes into the region above
  check({3}, {0, 1});
  CHECK(kept.regions().at(0).attributes.at("residual").sum == 7);
  check({}, {0, 2});  // a device has come between
  in.rows.erase(2);
  check({2}, {0, 2});
}

TEST_CASE("an estimate says of how many events it is made, and time nested in excess is the region's no more") {
  measurements in = with_sites();
  in.paths = {{1, {0, solve, 0}}, {2, {0, sweep, 0}}};
  in.rows[1] = row(100, 10);  // 500 ns by itself
  in.rows[1].left_out = 60;
  in.rows[1].count_variance = 9;
  in.rows[1].total_variance = 16;
  in.rows[1].excess_ns = 120;
  in.rows[2] = row(1, 10);
  in.rows[2].excess_ns = 6;  // and 5 by itself
  const std::vector<region> all = lib::assemble(in, {0});
  const region& estimated = find(all, {"solve"});
  CHECK(estimated.count == 100);
  CHECK(estimated.timed_events == 40U);
  CHECK(estimated.count_error() == 3.0);
  CHECK(estimated.total_error_ns() == 4.0);
  CHECK(estimated.self_ns == 380);
  CHECK_FALSE(find(all, {"sweep"}).timed_events.has_value());
  CHECK(find(all, {"sweep"}).self_ns == 0);
}

TEST_CASE("rows that are distinguished by their ids alone become one, with what is below them") {
  const auto made = [](std::uint64_t id, std::uint64_t parent, std::vector<std::string> path, std::uint32_t line) {
    adaptyst::region region;
    region.id = id;
    region.parent = parent;
    region.path = std::move(path);
    region.site = {"grid.cpp", line, "sweep"};
    region.count = region.threads = 2;
    region.total_ns = region.self_ns = 10;
    region.min_ns = id;
    region.max_ns = 2 * id;
    region.per_thread = {2, 10, 4, 6};
    return region;
  };
  std::vector<adaptyst::region> rows = {made(1, 0, {"a"}, 7),      made(2, 0, {"a"}, 7),
                                        made(3, 0, {"a"}, 8),      made(4, 1, {"a", "b"}, 9),
                                        made(5, 2, {"a", "b"}, 9), made(6, 3, {"a", "b"}, 9)};
  lib::join_same_rows(rows);
  REQUIRE(rows.size() == 4);
  for (const adaptyst::region& region : rows) {
    const bool is_joined = region.id == 1 || region.id == 4;
    CHECK(region.count == (is_joined ? 4 : 2));
    CHECK(region.total_ns == (is_joined ? 20 : 10));
    CHECK(region.threads == 2);
    CHECK(region.per_thread.has_value() != is_joined);  // a thread may have run both
    CHECK(region.min_ns == region.id);
    if (region.id == 4) {
      CHECK(region.parent == 1);
      CHECK(region.max_ns == 10);
    }
  }
  const std::vector<adaptyst::region> before = {made(1, 0, {"a"}, 7), made(2, 0, {"b"}, 7)};
  std::vector<adaptyst::region> other = before;
  lib::join_same_rows(other);
  REQUIRE(other.size() == 2);
  CHECK(other[1].path == before[1].path);
}

TEST_CASE("events of the heap are figures of the region around them") {
  constexpr std::uint64_t allocated = 21, freed = 22, released = 23;
  measurements in = with_sites();
  in.sites[allocated] = {
      "heap",
      "",
      "",
      "",
      0,
      ADAPTYST_SITE_HEAP,
      {"allocated_bytes", "allocations", "high_water_bytes", "bytes_variance", "sampling_interval_bytes"}};
  in.sites[freed] = {"heap", "", "", "", 0, ADAPTYST_SITE_HEAP, {"freed_bytes", "frees"}};
  in.sites[released] = {"heap", "", "", "", 0, ADAPTYST_SITE_HEAP, {"released_bytes", "releases", "released_variance"}};
  in.paths = {{1, {0, solve, 0}},    {2, {1, allocated, 0}}, {3, {1, freed, 0}},
              {4, {1, released, 0}}, {5, {0, allocated, 0}}, {6, {0, freed, 0}}};
  in.rows[1] = row(2, 1000);
  in.rows[2] = row(3, 0, {{3, 300, 0, 200}, {3, 3, 1, 1}, {3, 500, 0, 280}, {3, 16, 0, 16}, {3, 192, 64, 64}});
  in.rows[3] = row(2, 0, {{2, 250, 0, 200}, {2, 2, 1, 1}});
  in.rows[4] = row(1, 0, {{1, 200, 200, 200}, {1, 1, 1, 1}, {1, 15, 15, 15}});
  in.rows[5] = row(1, 0, {{1, 7, 7, 7}, {1, 1, 1, 1}, {1, 290, 290, 290}, {1, 0, 0, 0}});
  in.rows[6] = row(1, 0, {{1, 1e300, 7, 7}, {1, -1, -1, -1}});  // damaged
  const std::vector<region> all = lib::assemble(in, {0});
  REQUIRE(all.size() == 2);
  const region& around = find(all, {"solve"});
  CHECK(around.attributes.empty());
  REQUIRE(around.heap);
  CHECK(around.heap->allocated_bytes == 300);
  CHECK(around.heap->allocations == 3);
  CHECK(around.heap->freed_bytes == 250);
  CHECK(around.heap->frees == 2);
  CHECK(around.heap->live_bytes == 100);
  CHECK(around.heap->live_blocks == 2);
  CHECK(around.heap->high_water_bytes == std::uint64_t{280});
  CHECK(around.heap->bytes_variance == 16.0);
  CHECK(around.heap->allocations_variance == 0.0);  // an estimate without chance
  CHECK(around.heap->live_variance == 1.0);         // of the blocks that are live
  CHECK(around.heap->sampling_interval_bytes == 64);
  CHECK_FALSE(around.heap->untracked_bytes);
  const region& outside = find(all, {"heap"});
  REQUIRE(outside.heap);
  CHECK(outside.heap->allocated_bytes == 7);
  CHECK(outside.heap->freed_bytes == 0);
  CHECK(outside.heap->frees == 0);
  CHECK_FALSE(outside.heap->bytes_variance);
}

TEST_CASE("with untracked blocks, frees and the high-water mark are unknown in all regions") {
  profile in;
  in.regions.resize(2);
  for (region& row : in.regions) {
    adaptyst::heap_usage& heap = row.heap.emplace();
    heap.allocations = 3;
    heap.frees = heap.freed_bytes = 2;
    heap.high_water_bytes = 100;
  }
  lib::omit_unknown_heap(in.regions);
  CHECK(lib::add_up_heap(in)->sums.frees == std::uint64_t{4});
  CHECK(lib::add_up_heap(in)->sums.high_water_bytes == std::uint64_t{100});
  in.regions[1].heap->untracked_bytes = 7;
  lib::omit_unknown_heap(in.regions);
  for (const region& row : in.regions) {
    CHECK_FALSE(row.heap->frees);
    CHECK_FALSE(row.heap->freed_bytes);
    CHECK_FALSE(row.heap->high_water_bytes);
  }
  const std::optional<lib::heap_totals> totals = lib::add_up_heap(in);
  CHECK_FALSE(totals->sums.frees);
  CHECK_FALSE(totals->live_bytes);
  CHECK(totals->sums.allocations == 6);
}

TEST_CASE("the high-water mark of two processes is the greater") {
  region a, b;
  a.heap.emplace().high_water_bytes = 5;
  b.heap.emplace().high_water_bytes = 9;
  a.heap->merge(*b.heap);
  CHECK(a.heap->high_water_bytes == std::uint64_t{9});
}
