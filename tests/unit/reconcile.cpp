// The kernel's counts and the program's own, put together: by hand.
#include "model/reconcile.hpp"

#include "catch.hpp"

namespace {

using adaptyst::loss_reason;
using adaptyst::lib::measured_row;
using adaptyst::lib::measurements;
using adaptyst::lib::reconcile;

constexpr std::uint64_t solve = 1, residual = 2, restart = 3;

measured_row row(std::uint64_t count, std::uint64_t each_ns) {
  measured_row made;
  made.count = count;
  made.total_ns = made.self_ns = count * each_ns;
  made.min_ns = made.max_ns = each_ns;
  made.durations.add(each_ns, count);
  return made;
}

// In the kernel, solve ran ten times of 100 ns.
measurements kernel() {
  measurements made;
  made.paths[solve] = {0, solve, 0};
  made.sites[solve].name = "solve";
  made.rows[solve] = row(10, 100);
  return made;
}

// The program knows of three threads and a payload, and has counted a metric and a mark: 16 events.
measurements program() {
  measurements made;
  for (const auto& [id, kind] :
       {std::pair{solve, ADAPTYST_SITE_REGION}, {residual, ADAPTYST_SITE_METRIC}, {restart, ADAPTYST_SITE_MARK}}) {
    made.sites[id].kind = kind;
    made.paths[id] = {id == solve ? 0 : solve, id, 0};
  }
  made.sites[solve].attributes = {"cells"};
  made.rows[solve].count = 10;
  made.rows[solve].threads = 3;
  made.rows[solve].attributes = {{10, 50, 1, 9}};
  made.rows[residual].count = 4;
  made.rows[residual].attributes = {{4, 8, 1, 3}};
  made.rows[restart].count = 2;
  made.accounting.begun = made.accounting.ended = 16;
  return made;
}

}  // namespace

TEST_CASE("counts and times are the kernel's; threads, payloads, metrics and marks the program's") {
  const measurements both = reconcile(kernel(), program(), 16);
  REQUIRE(both.rows.size() == 3);
  const measured_row& found = both.rows.at(solve);
  CHECK(found.count == 10);
  CHECK(found.total_ns == 1000);
  CHECK(found.min_ns == 100);
  CHECK(found.max_ns == 100);
  CHECK(found.threads == 3);
  CHECK(found.without_trap == 0);
  REQUIRE(found.attributes.size() == 1);
  CHECK(found.attributes[0].count == 10);
  CHECK(found.attributes[0].sum == 50);
  CHECK(both.sites.at(solve).attributes == std::vector<std::string>{"cells"});
  CHECK(both.rows.at(residual).attributes.at(0).sum == 8);
  CHECK(both.rows.at(restart).count == 2);
  CHECK(both.accounting.begun == 16);
  CHECK(both.accounting.ended == 16);
  CHECK(both.accounting.open == 0);
  CHECK(both.accounting.lost.empty());
}

TEST_CASE("what the program has recorded itself, for a budget, is added to what the kernel has") {
  measurements own = program();
  own.rows[solve] = row(30, 20);
  own.rows[solve].left_out = 14;
  own.rows[solve].threads = 2;
  own.rows[solve].per_thread = {2, 600, 100, 500};
  own.accounting.begun = own.accounting.ended = 46;
  const measurements both = reconcile(kernel(), std::move(own), 46);
  const measured_row& found = both.rows.at(solve);
  CHECK(found.count == 40);
  CHECK(found.durations.count() == 40);
  CHECK(found.total_ns == 1600);
  CHECK(found.self_ns == 1600);
  CHECK(found.min_ns == 20);
  CHECK(found.max_ns == 100);
  CHECK(found.left_out == 14);
  CHECK(found.without_trap == 16);
  CHECK(found.threads == 2);  // the same threads, once
  REQUIRE(found.per_thread.has_value());
  CHECK(found.per_thread->sum_ns == 600);  // of the 1600, so much is known by thread
  CHECK(both.accounting.ended == 46);
  CHECK(both.accounting.lost.empty());
}

TEST_CASE("a path that no trap has seen is the program's alone") {
  measurements nothing;
  measurements own = program();
  own.rows[solve] = row(30, 20);
  own.rows[solve].threads = 2;
  own.accounting.begun = own.accounting.ended = 36;
  const measurements both = reconcile({}, std::move(own), 36);
  CHECK(both.rows.at(solve).count == 30);
  CHECK(both.rows.at(solve).threads == 2);
  CHECK(both.sites.at(solve).attributes == std::vector<std::string>{"cells"});
  CHECK(both.accounting.ended == 36);
  CHECK(both.accounting.lost.empty());
}

TEST_CASE("what had ended before the kernel was read, and is not there, was not delivered; what came later is open") {
  measurements seven = kernel();
  seven.rows[solve] = row(7, 100);
  seven.accounting.lost[loss_reason::kernel_busy] = 1;
  measurements own = program();
  own.accounting.begun = 21;
  own.accounting.ended = 20;  // four after the kernel was read
  own.accounting.open = 1;
  const measurements both = reconcile(std::move(seven), std::move(own), 16);
  // 7 + 4 + 2 counted, 1 lost in the kernel, of 16.
  CHECK(both.accounting.ended == 13);
  CHECK(both.accounting.lost.at(loss_reason::kernel_busy) == 1);
  CHECK(both.accounting.lost.at(loss_reason::not_delivered) == 2);
  CHECK(both.accounting.open == 5);
  CHECK(both.accounting.begun == 21);
}

TEST_CASE("the kernel may have seen more than had ended when it was asked for") {
  const measurements both = reconcile(kernel(), program(), 5);
  CHECK(both.accounting.ended == 16);
  CHECK(both.accounting.open == 0);
  CHECK(both.accounting.lost.empty());
}

TEST_CASE("below functions the kernel knows a path by another number, and a metric goes where its region stands") {
  constexpr std::uint64_t in_function = 70;
  measurements below;
  below.paths[in_function] = {60, solve, 0, solve};
  below.rows[in_function] = row(10, 100);
  const measurements both = reconcile(std::move(below), program(), 16);
  CHECK(both.rows.count(solve) == 0);
  CHECK(both.rows.at(in_function).threads == 3);
  CHECK(both.rows.at(in_function).attributes.at(0).sum == 50);
  CHECK(both.paths.at(residual).parent == in_function);
}

TEST_CASE("of one path in two functions it is not known whose numbers they are") {
  measurements below;
  for (const std::uint64_t id : {70U, 71U}) {
    below.paths[id] = {id - 10, solve, 0, solve};
    below.rows[id] = row(5, 100);
  }
  const measurements both = reconcile(std::move(below), program(), 16);
  for (const std::uint64_t id : {70U, 71U}) {
    CHECK(both.rows.at(id).count == 5);
    CHECK(both.rows.at(id).threads == 3);
    CHECK(both.rows.at(id).attributes.empty());
  }
  CHECK(both.paths.at(residual).parent == solve);
}

TEST_CASE("the account balances, whatever has happened between two readings") {
  const auto balances = [](const measurements& both) {
    std::uint64_t lost = 0;
    for (const auto& [reason, count] : both.accounting.lost) lost += count;
    return both.accounting.begun == both.accounting.ended + both.accounting.open + lost;
  };
  // Rows were read when more had ended than when the account was: 14, 16 and 20 of 16.
  for (const std::uint64_t of_mark : {0U, 2U, 6U}) {
    measurements of_program = program();
    of_program.accounting.begun += 3;
    of_program.accounting.open = 2;
    of_program.accounting.lost[loss_reason::too_deep] = 1;
    of_program.rows[restart].count = of_mark;
    measurements of_kernel = kernel();
    of_kernel.accounting.lost[loss_reason::kernel_busy] = 5;
    for (const std::uint64_t ended_before : {0U, 16U, 30U}) {
      CAPTURE(of_mark, ended_before);
      const measurements both = reconcile(of_kernel, of_program, ended_before);
      CHECK(both.accounting.ended == 14 + of_mark);
      CHECK(balances(both));
    }
  }
}
