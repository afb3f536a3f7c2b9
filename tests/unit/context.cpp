// How what the kernel knows of call paths comes to rows: by hand.
#include "model/context.hpp"

#include <tuple>

#include "catch.hpp"
#include "model/samples.hpp"

namespace {

using adaptyst::lib::add_context;
using adaptyst::lib::context_part;
using adaptyst::lib::context_sums;
using adaptyst::lib::measurements;

constexpr std::uint64_t main_path = 1, advect = 2, kernel = 3, exchange = 4;

// main > (advect > an operation, exchange)
measurements program() {
  measurements made;
  for (const std::uint32_t kind : {ADAPTYST_SITE_REGION, ADAPTYST_SITE_KERNEL}) made.sites[kind].kind = kind;
  made.paths[main_path] = {0, ADAPTYST_SITE_REGION, 0};
  made.paths[advect] = {main_path, ADAPTYST_SITE_REGION, 0};
  made.paths[kernel] = {advect, ADAPTYST_SITE_KERNEL, 1};
  made.paths[exchange] = {main_path, ADAPTYST_SITE_REGION, 0};
  const auto row = [&](std::uint64_t path, std::uint64_t total_ns, std::uint64_t self_ns) {
    made.rows[path].count = 1;
    made.rows[path].total_ns = total_ns;
    made.rows[path].self_ns = self_ns;
  };
  row(main_path, 1000, 300);
  row(advect, 400, 400);
  row(kernel, 50, 50);
  row(exchange, 300, 300);
  return made;
}

context_part waits(std::uint64_t runnable_ns, std::uint64_t lock_ns) {
  context_part made;
  made.runnable_ns = runnable_ns;
  made.lock_ns = lock_ns;
  return made;
}

context_sums sums() {
  context_sums made;
  made.by_path[main_path] = waits(10, 0);
  made.by_path[exchange] = waits(20, 200);
  made.by_path[0] = waits(1, 2);
  return made;
}

}  // namespace

TEST_CASE("a path has what happened in it, and in those below it") {
  measurements all = program();
  add_context(all, sums(), {});
  const auto& of_main = all.rows[main_path];
  REQUIRE((of_main.context && of_main.self_context));
  CHECK(of_main.context->runnable_ns == 30);
  CHECK(of_main.context->lock_ns == 200);
  CHECK(of_main.context->on_cpu_ns() == 770);
  CHECK(of_main.self_context->runnable_ns == 10);
  CHECK(of_main.self_context->on_cpu_ns() == 290);
  CHECK(all.rows[exchange].context->on_cpu_ns() == 80);
  CHECK(all.rows[advect].context->on_cpu_ns() == 400);
  CHECK_FALSE(all.rows[kernel].context);
  CHECK(all.rows.size() == 4);
  CHECK(adaptyst::lib::sum_context(sums())->lock_ns == 202);
}

TEST_CASE("a path that has not ended yet gets a row, and no time on a core") {
  measurements all = program();
  all.rows.erase(main_path);
  all.rows.erase(exchange);
  add_context(all, sums(), {{main_path, 1}, {exchange, 1}});
  REQUIRE(all.rows.count(main_path) == 1);
  CHECK(all.rows[main_path].count == 0);
  CHECK(all.rows[main_path].context->lock_ns == 200);
  CHECK(all.rows[main_path].context->open == 1);
  CHECK_FALSE(all.rows[main_path].context->on_cpu_ns());
  CHECK(all.rows[advect].context->on_cpu_ns() == 400);
}

TEST_CASE("more waiting than there was time is no time on a core, not a huge one") {
  measurements all = program();
  context_sums too_much = sums();
  too_much.by_path[exchange].lock_ns = 301;
  add_context(all, too_much, {});
  CHECK_FALSE(all.rows[exchange].context->on_cpu_ns());
}

TEST_CASE("faults are absent where no option asked for them, and none where there were none") {
  measurements all = program();
  add_context(all, sums(), {});
  CHECK_FALSE(all.rows[advect].context->minor_faults);
  all = program();
  context_sums with_faults = sums();
  with_faults.with_faults = true;
  add_context(all, with_faults, {});
  CHECK(all.rows[advect].context->minor_faults == 0U);
  CHECK(all.rows[advect].context->major_faults == 0U);
  CHECK_FALSE(all.rows[advect].context->faults_variance);
}

TEST_CASE("a row without recorded page faults is an estimate if page faults are sampled") {
  measurements all = program();
  context_sums sampled = sums();
  sampled.with_faults = true;
  sampled.account.faults_one_of = 64;
  sampled.by_path[exchange].page_faults = 128;
  sampled.by_path[exchange].faults_variance = 2 * 64 * 63;
  add_context(all, sampled, {});
  CHECK(all.rows[advect].context->minor_faults == 0U);
  CHECK(all.rows[advect].context->faults_variance == 64 * 63);
  CHECK(all.rows[exchange].context->faults_variance == 2 * 64 * 63);
  CHECK(all.rows[main_path].context->faults_variance == 2 * 64 * 63);  // its own estimate, with nested regions
}

TEST_CASE("errors of page faults in windows add up as the windows of all paths are the same") {
  measurements all = program();
  context_sums sampled;
  sampled.account.threads = 1;
  sampled.with_faults = true;
  sampled.by_path[main_path].page_faults = 10;
  sampled.by_path[main_path].window_deviations = {3, -3};
  sampled.by_path[exchange].page_faults = 20;
  sampled.by_path[exchange].window_deviations = {4, -4};
  sampled.by_path[exchange].faults_variance = 100;  // of page faults before the windows
  add_context(all, sampled, {});
  CHECK(all.rows[exchange].context->faults_variance == 116);
  CHECK(all.rows[main_path].self_context->faults_variance == 9);
  CHECK(all.rows[main_path].context->faults_variance == 149);
  CHECK(all.rows[main_path].context->minor_faults == 30U);
  CHECK(adaptyst::lib::sum_context(sampled)->faults_variance == 149);
}

TEST_CASE("a path without any page fault in windows may have had those of a whole block") {
  measurements all = program();
  context_sums sampled;
  sampled.account.threads = 1;
  sampled.account.faults_one_of = 16;
  sampled.with_faults = true;
  sampled.unseen_faults = 5000;
  sampled.by_path[main_path].page_faults = 10;
  sampled.by_path[main_path].window_deviations = {3, -3};
  sampled.account.lost[adaptyst::loss_reason::not_attached] = 1;  // no reason to leave out a row
  add_context(all, sampled, {});
  CHECK(all.rows[main_path].context->faults_variance == 9);
  REQUIRE(all.rows[exchange].context);
  CHECK(all.rows[exchange].context->faults_variance == 25'000'000);

  // Together, such paths may have had those of one block.
  for (const std::uint64_t path : {advect, exchange}) {
    sampled.by_path[path].page_faults = 7;
    sampled.by_path[path].has_unseen_faults = true;
  }
  all = program();
  add_context(all, sampled, {});
  for (const std::uint64_t path : {advect, exchange}) CHECK(all.rows[path].context->faults_variance == 25'000'000);
  CHECK(all.rows[main_path].context->faults_variance == 25'000'009);
  CHECK(adaptyst::lib::sum_context(sampled)->faults_variance == 25'000'009);
}

TEST_CASE("a row without drawn switches is an estimate if switches are sampled") {
  measurements all = program();
  context_sums sampled;
  sampled.account.threads = 1;
  sampled.account.switches_one_of = 64;
  sampled.by_path[exchange].voluntary_switches = 128;
  sampled.by_path[exchange].voluntary_variance = 2 * 64 * 63;
  sampled.by_path[advect].voluntary_switches = 1;  // the first at its place, which is recorded always
  add_context(all, sampled, {});
  CHECK(all.rows[advect].context->voluntary_switches == 1);
  CHECK(all.rows[advect].context->voluntary_variance == 64 * 63);
  CHECK(all.rows[advect].context->involuntary_variance == 64 * 63);
  CHECK(all.rows[advect].context->migrations_variance == 64 * 63);
  CHECK_FALSE(all.rows[advect].context->runnable_variance);  // unknown
  CHECK_FALSE(all.rows[advect].context->blocked_variance);
  CHECK(all.rows[exchange].context->voluntary_variance == 2 * 64 * 63);
  CHECK_FALSE(all.rows[exchange].context->faults_variance);
}

TEST_CASE("an estimate of waits that exceeds the wall time within its error leaves no time on a core") {
  adaptyst::os_context found;
  found.wall_ns = 1000;
  found.lock_ns = 1100;
  CHECK_FALSE(found.on_cpu_ns());
  found.blocked_variance = 40 * 40;
  found.runnable_variance = 0;
  CHECK(found.on_cpu_ns() == 0U);
  found.lock_ns = 1200;
  CHECK_FALSE(found.on_cpu_ns());
}

TEST_CASE("a path with more major faults than sampled page faults makes the sum no larger") {
  measurements all = program();
  context_sums sampled = sums();
  sampled.with_faults = true;
  sampled.account.faults_one_of = 64;
  for (const auto& [path, faults, major] : {std::tuple{main_path, 0U, 40U}, std::tuple{exchange, 128U, 8U}}) {
    sampled.by_path[path].page_faults = faults;
    sampled.by_path[path].major_faults = major;
  }
  add_context(all, sampled, {});
  CHECK(all.rows[main_path].self_context->minor_faults == 0U);
  CHECK(all.rows[exchange].context->minor_faults == 120U);
  CHECK(all.rows[main_path].context->minor_faults == 80U);  // 120 with the lower bound of each path
  CHECK(adaptyst::lib::sum_context(sampled)->minor_faults == 80U);
}

TEST_CASE("a major fault that is noted before it is counted is no negative number") {
  measurements all = program();
  context_sums sampled = sums();
  sampled.with_faults = true;
  sampled.by_path[exchange].major_faults = 1;
  add_context(all, sampled, {});
  CHECK(all.rows[exchange].context->minor_faults == 0U);
  CHECK(all.rows[exchange].context->major_faults == 1U);
}

TEST_CASE("what happened on a path without a name is in the sum alone") {
  measurements all = program();
  context_sums more = sums();
  more.by_path[99] = waits(1000, 1000);
  add_context(all, more, {});
  CHECK(all.rows.size() == 4);
  CHECK(adaptyst::lib::sum_context(more)->lock_ns == 1202);
}

TEST_CASE("the context of sampled rows, and of rows around them without nested ones, is unknown") {
  measurements all = program();
  all.rows[exchange].left_out = 1;
  add_context(all, sums(), {});
  CHECK_FALSE(all.rows[exchange].context);
  CHECK_FALSE(all.rows[exchange].self_context);
  CHECK(all.rows[main_path].context->lock_ns == 200);
  CHECK_FALSE(all.rows[main_path].self_context);
  CHECK(all.rows[advect].self_context);
}

TEST_CASE("where something is missing, nothing is not taken for none") {
  measurements all = program();
  context_sums incomplete = sums();
  incomplete.account.lost[adaptyst::loss_reason::rows_full] = 1;
  add_context(all, incomplete, {});
  CHECK_FALSE(all.rows[advect].context);
  CHECK(all.rows[exchange].context);
}

TEST_CASE("paths in a circle come to an end") {
  measurements all = program();
  all.paths[main_path].parent = exchange;
  add_context(all, sums(), {});
  CHECK(all.rows[main_path].context);
}

TEST_CASE("a region's samples are those on a core, of all its stacks; none where they would have been taken") {
  measurements all = program();
  all.rows[exchange].left_out = 1;
  add_context(all, sums(), {});
  adaptyst::lib::sample_sums taken;
  using adaptyst::lib::thread_state;
  taken.rows = {{1, advect, thread_state::on_cpu, 5, 0, 3, 0},
                {1, advect, thread_state::on_cpu, 6, 0, 4, 0},
                {1, advect, thread_state::blocked, 5, 0, 9, 900},
                {1, exchange, thread_state::on_cpu, 5, 0, 2, 0},
                {1, 0, thread_state::on_cpu, 5, 0, 7, 0}};
  add_samples(all, taken, true);
  CHECK(all.rows[advect].samples == 7U);
  CHECK_FALSE(all.rows[exchange].samples.has_value());
  CHECK_FALSE(all.rows[kernel].samples.has_value());
  all = program();
  add_context(all, sums(), {});
  add_samples(all, taken, true);
  CHECK(all.rows[exchange].samples == 2U);
  CHECK(all.rows[main_path].samples == 0U);
  CHECK(adaptyst::sample_usage{4, 1000, {}}.period_ns() == 250U);
  CHECK_FALSE(adaptyst::sample_usage{}.period_ns().has_value());
}

TEST_CASE("rows of threads that have not announced themselves are not known, nor those around them") {
  measurements all = program();
  context_sums partial = sums();
  partial.account.threads = 1;
  partial.leave_out({2, {exchange}, false});
  CHECK(partial.account.lost.at(adaptyst::loss_reason::not_announced) == 2);
  add_context(all, partial, {});
  CHECK_FALSE(all.rows[exchange].context);
  CHECK_FALSE(all.rows[main_path].context);
  CHECK(all.rows[advect].context->on_cpu_ns() == 400);  // no thread but announced ones ran it
  all = program();
  all.paths[advect].marker = 77;  // as the program knows it
  partial = sums();
  partial.leave_out({1, {77}, false});
  add_context(all, partial, {});
  CHECK_FALSE(all.rows[advect].context);
  CHECK(all.rows[exchange].context);
}

TEST_CASE("where it is not known what threads ran that have not announced themselves, no row is known but functions") {
  measurements all = program();
  all.sites[ADAPTYST_SITE_FUNCTION].kind = ADAPTYST_SITE_FUNCTION;
  all.paths[advect].site = ADAPTYST_SITE_FUNCTION;  // its threads are found when they enter it
  context_sums none = sums();
  none.leave_out({1, {}, true});
  add_context(all, none, {});
  for (const std::uint64_t path : {main_path, exchange}) CHECK_FALSE(all.rows[path].context);
  CHECK(all.rows[advect].context);
}

TEST_CASE("without a thread that has announced itself there is no sum of zeros") {
  context_sums nothing;
  CHECK_FALSE(adaptyst::lib::sum_context(nothing));
  nothing.account.threads = 1;  // it never left its core
  REQUIRE(adaptyst::lib::sum_context(nothing));
  CHECK(adaptyst::lib::sum_context(nothing)->voluntary_switches == 0);
}
