// Rows that are added up, and what recording them has cost: by hand.
#include "model/measurements.hpp"

#include <adaptyst/detail/site_step.hpp>

#include "catch.hpp"

namespace {

using adaptyst::account;
using adaptyst::loss_reason;
using adaptyst::region_kind;
using adaptyst::lib::add;
using adaptyst::lib::event_costs;
using adaptyst::lib::measured_row;
using adaptyst::lib::measurements;
using adaptyst::lib::set_overhead;

measured_row row() {
  measured_row made;
  made.count = 10;
  made.total_ns = 300;
  made.self_ns = 200;
  made.min_ns = 20;
  made.max_ns = 40;
  made.threads = 2;
  made.durations.add(30, 8);
  made.attributes = {{10, 50, 1, 9}};
  made.left_out = 2;
  made.count_variance = 3;
  made.total_variance = 5;
  made.without_trap = 4;
  made.excess_ns = 7;
  made.per_thread = {2, 200, 90, 110};
  return made;
}

}  // namespace

TEST_CASE("rows add up, and the extremes are those of all") {
  measured_row other = row();
  other.count = 1;
  other.total_ns = 15;
  other.min_ns = 15;
  other.max_ns = 35;
  other.attributes = {{1, 4, 4, 4}, {1, 2, 2, 2}};
  other.per_thread = {1, 80, 80, 80};
  for (const bool is_first : {true, false}) {
    measured_row sum = is_first ? row() : other;
    add(sum, is_first ? other : row());
    CHECK(sum.count == 11);
    CHECK(sum.total_ns == 315);
    CHECK(sum.self_ns == 400);
    CHECK(sum.min_ns == 15);
    CHECK(sum.max_ns == 40);
    CHECK(sum.threads == 4);
    CHECK(sum.durations.count() == 16);
    CHECK(sum.left_out == 4);
    CHECK(sum.timed() == 7);
    CHECK(sum.count_variance == 6);
    CHECK(sum.total_variance == 10);
    CHECK(sum.without_trap == 8);
    CHECK(sum.excess_ns == 14);
    REQUIRE(sum.per_thread.has_value());
    CHECK(sum.per_thread->count == 3);
    CHECK(sum.per_thread->sum_ns == 280);
    CHECK(sum.per_thread->min_ns == 80);
    CHECK(sum.per_thread->max_ns == 110);
    REQUIRE(sum.attributes.size() == 2);
    CHECK(sum.attributes[0].count == 11);
    CHECK(sum.attributes[0].sum == 54);
    CHECK(sum.attributes[0].min == 1);
    CHECK(sum.attributes[0].max == 9);
    CHECK(sum.attributes[1].sum == 2);
    CHECK_FALSE(sum.context.has_value());
  }
}

TEST_CASE("a row has the context that any of its parts has") {
  measured_row with = row();
  with.context.emplace().io_ns = 5;
  measured_row sum = row();
  add(sum, with);
  add(sum, with);
  REQUIRE(sum.context.has_value());
  CHECK(sum.context->io_ns == 10);
  CHECK_FALSE(sum.self_context.has_value());
}

TEST_CASE("accounts add up, each reason by itself") {
  account sum{10, 7, 1, {{loss_reason::rows_full, 2}}, 3, 4, std::nullopt, std::nullopt, std::nullopt};
  add(sum, account{20,
                   15,
                   2,
                   {{loss_reason::rows_full, 1}, {loss_reason::too_deep, 2}},
                   30,
                   40,
                   std::nullopt,
                   std::nullopt,
                   std::nullopt});
  CHECK(sum.begun == 30);
  CHECK(sum.ended == 22);
  CHECK(sum.open == 3);
  CHECK(sum.lost == adaptyst::losses{{loss_reason::rows_full, 3}, {loss_reason::too_deep, 2}});
  CHECK(sum.unmatched == 33);
  CHECK(sum.unnamed == 44);
}

namespace {

constexpr event_costs usual_costs() {
  event_costs made;
  made.engine_ns = 280;
  made.recorder_ns = 40;
  made.sampled_ns = 60;
  made.left_out_ns = 1;
  made.left_out_around_ns = 3;
  return made;
}

}  // namespace

TEST_CASE("one event of 2^k costs a recorded one, shared by so many, in addition to what leaving out costs") {
  constexpr event_costs costs = usual_costs();
  CHECK(costs.on(ADAPTYST_STEP_ENGINE) == 280);
  CHECK(costs.on(ADAPTYST_STEP_RECORDER) == 40);
  CHECK(costs.on(ADAPTYST_STEP_RECORDER + 1) == 31);
  CHECK(costs.on(ADAPTYST_STEP_RECORDER + 3) == 8.5);
  CHECK(costs.on(ADAPTYST_STEP_SUBTREE + 1) == 33);
}

TEST_CASE("what observing has cost: each event on the way that it took") {
  // 100 events: 10 by the kernel, 30 by the program's recorder, 60 left out.
  measurements from;
  from.rows[1].count = 100;
  from.rows[1].without_trap = 30;
  from.rows[1].left_out = 60;
  adaptyst::profile made;
  made.regions.resize(2);
  made.regions[0].id = 1;
  made.regions[0].kind = made.regions[1].kind = region_kind::region;
  made.regions[0].count = 100;
  made.regions[1].id = 2;
  made.regions[1].count = 5;
  made.accounting.ended = 105;
  constexpr event_costs costs = usual_costs();
  set_overhead(made, from, costs);
  CHECK(made.regions[0].overhead_ns == 10 * 280 + 30 * 40 + 60 * 1);
  CHECK(made.regions[1].overhead_ns == 5 * 280);
  CHECK(made.accounting.overhead_ns == 15 * 280 + 30 * 40 + 60 * 1);
}

TEST_CASE("what observing has cost: samples, and those around others") {
  // Of 100 events 20 were recorded as one of 4; 20 by the engine.
  measurements from;
  from.paths[1] = {0, 0, 0, 0};
  from.paths[2] = {1, 0, 0, 0};
  for (const std::uint64_t id : {1U, 2U}) {
    from.rows[id].count = 100;
    from.rows[id].left_out = 20 * 3;
    from.rows[id].count_variance = 20 * 4 * 3;
  }
  adaptyst::profile made;
  made.regions.resize(2);
  for (const std::size_t at : {0U, 1U}) {
    made.regions[at].id = at + 1;
    made.regions[at].kind = region_kind::region;
    made.regions[at].count = 100;
  }
  made.accounting.ended = 200;
  set_overhead(made, from, usual_costs());
  CHECK(made.regions[0].overhead_ns == 20 * 280 + 2 * 20 * 60 + 60 * 3);
  CHECK(made.regions[1].overhead_ns == 20 * 280 + 20 * 60 + 60 * 1);
  CHECK(made.accounting.overhead_ns == *made.regions[0].overhead_ns + *made.regions[1].overhead_ns);
}

TEST_CASE("what a function without markers costs is not known, nor the sum then") {
  adaptyst::profile made;
  made.regions.resize(2);
  made.regions[0].kind = region_kind::function;
  made.regions[1].kind = region_kind::region;
  made.regions[0].count = made.regions[1].count = 1;
  set_overhead(made, {}, usual_costs());
  CHECK_FALSE(made.regions[0].overhead_ns.has_value());
  CHECK(made.regions[1].overhead_ns == 280);
  CHECK_FALSE(made.accounting.overhead_ns.has_value());
}

TEST_CASE("the error of what samples were shortened by is the same for all of them") {
  adaptyst::profile made;
  made.regions.resize(2);
  made.regions[0].count = 1100;
  made.regions[0].timed_events = 100;
  made.regions[0].total_variance = 25;
  adaptyst::lib::add_floor_error(made, 2);
  CHECK(made.regions[0].total_variance == 25 + 2000.0 * 2000);
  CHECK_FALSE(made.regions[1].total_variance.has_value());
}
