// Phases: consecutive regions of one scope, with one timestamp between two.
#include <adaptyst/metric.hpp>
#include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>
#include <chrono>
#include <csetjmp>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "c_code.h"
#include "collecting.hpp"

namespace {

using adaptyst::profile;
using path = std::vector<std::string>;

struct sizes {
  std::uint64_t cells;
  ADAPTYST_FIELDS(sizes, cells);
};

void spin_us(int us) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(us);
  while (std::chrono::steady_clock::now() < until) {}
}

void step() {
  ADAPTYST_REGION("step");
  ADAPTYST_PHASES("load");
  { ADAPTYST_REGION("nested"); }
  ADAPTYST_NEXT("compute");
  for (int at = 0; at != 3; ++at) {
    ADAPTYST_REGION("nested");
  }
  ADAPTYST_NEXT("store");
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // two variables of one name are meant
void phases_in_a_phase() {
  ADAPTYST_PHASES("outer first");
  {
    ADAPTYST_PHASES("inner first");
    ADAPTYST_NEXT("inner second");
  }
  ADAPTYST_NEXT("outer second");
}
#pragma GCC diagnostic pop

// The ends of a callee are its own.
void callee() {
  ADAPTYST_END();
  ADAPTYST_PHASES("first of callee");
  ADAPTYST_NEXT("second of callee");
}

enum class way { to_the_end, by_return, by_exception };

void leave(way out) {
  ADAPTYST_PHASES("left first");
  if (out == way::by_return) return;
  ADAPTYST_NEXT("left second");
  if (out == way::by_exception) throw std::runtime_error("out");
}

std::jmp_buf back;

[[gnu::noinline]] void jump() {
  ADAPTYST_PHASES("before the jump");
  ADAPTYST_NEXT("at the jump");
  std::longjmp(back, 1);
}

std::uint64_t count(const profile& in, const path& of) { return support::find(in, of).count; }

}  // namespace

TEST_CASE("phases are counted exactly, with what is nested in them, on all threads") {
  constexpr std::uint64_t turns = 1000;
  adaptyst::collector collector(support::options());
  std::vector<std::thread> running;
  for (int thread = 0; thread != 3; ++thread)
    running.emplace_back([] {
      for (std::uint64_t turn = 0; turn != turns; ++turn) step();
    });
  for (std::thread& thread : running) thread.join();
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.open == 0);
  CHECK(found.accounting.unmatched == 0);
  REQUIRE(found.regions.size() == 6);
  CHECK(count(found, {"step"}) == 3 * turns);
  CHECK(count(found, {"step", "load"}) == 3 * turns);
  CHECK(count(found, {"step", "load", "nested"}) == 3 * turns);
  CHECK(count(found, {"step", "compute"}) == 3 * turns);
  CHECK(count(found, {"step", "compute", "nested"}) == 9 * turns);
  CHECK(count(found, {"step", "store"}) == 3 * turns);
  const adaptyst::region& store = support::find(found, {"step", "store"});
  CHECK(store.threads == 3);
  CHECK(store.site.function == "step");
  CHECK(store.site.line > support::find(found, {"step", "compute"}).site.line);
  for (const char* const name : {"load", "compute"}) {
    const adaptyst::region& phase = support::find(found, {"step", name});
    CHECK(phase.self_ns == phase.total_ns - support::find(found, {"step", name, "nested"}).total_ns);
  }
}

TEST_CASE("the time of a scope is that of its phases, also in a loop, and is theirs alone") {
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 20; ++times) {
    ADAPTYST_REGION("around");
    ADAPTYST_PHASES("0.1 ms");
    spin_us(100);
    for (int turn = 0; turn != 3; ++turn) {
      ADAPTYST_NEXT("0.2 ms");
      spin_us(200);
      ADAPTYST_NEXT("0.3 ms");
      spin_us(300);
    }
  }
  const profile found = collector.stop();
  support::check_account(found);
  const auto least = [&](const char* name) { return support::find(found, {"around", name}).min_ns; };
  CHECK(count(found, {"around", "0.1 ms"}) == 20);
  CHECK(count(found, {"around", "0.2 ms"}) == 60);
  CHECK(count(found, {"around", "0.3 ms"}) == 60);
  CHECK(least("0.1 ms") >= 99'000);
  CHECK(least("0.2 ms") >= 199'000);
  CHECK(least("0.2 ms") < 299'000);
  CHECK(least("0.3 ms") >= 299'000);
  const adaptyst::region& around = support::find(found, {"around"});
  CHECK(around.self_ns < around.total_ns / 20);
}

TEST_CASE("a called function does not end its caller's phase") {
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 10; ++times) {
    ADAPTYST_PHASES("of caller");
    callee();
    { ADAPTYST_REGION("still in caller"); }
    ADAPTYST_NEXT("of caller, second");
  }
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.unmatched == 10);
  REQUIRE(found.regions.size() == 5);
  CHECK(count(found, {"of caller"}) == 10);
  CHECK(count(found, {"of caller", "first of callee"}) == 10);
  CHECK(count(found, {"of caller", "second of callee"}) == 10);
  CHECK(count(found, {"of caller", "still in caller"}) == 10);
  CHECK(count(found, {"of caller, second"}) == 10);
}

TEST_CASE("a block in a phase has phases of its own") {
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 10; ++times) phases_in_a_phase();
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.unmatched == 0);
  REQUIRE(found.regions.size() == 4);
  CHECK(count(found, {"outer first"}) == 10);
  CHECK(count(found, {"outer first", "inner first"}) == 10);
  CHECK(count(found, {"outer first", "inner second"}) == 10);
  CHECK(count(found, {"outer second"}) == 10);
}

TEST_CASE("the last phase ends on every way out of its scope") {
  adaptyst::collector collector(support::options());
  leave(way::to_the_end);
  leave(way::by_return);
  CHECK_THROWS_AS(leave(way::by_exception), std::runtime_error);
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.open == 0);
  CHECK(found.accounting.unmatched == 0);
  CHECK(count(found, {"left first"}) == 3);
  CHECK(count(found, {"left second"}) == 2);
}

TEST_CASE("phases left by longjmp are counted as unmatched and disturb no other") {
  constexpr std::uint64_t jumps = 1000;
  adaptyst::collector collector(support::options());
  std::thread([] {
    ADAPTYST_REGION("around");
    for (volatile std::uint64_t at = 0; at < jumps; at = at + 1)
      if (setjmp(back) == 0) jump();
  }).join();
  const profile found = collector.stop();
  support::check_identity(found);
  CHECK(support::lost(found, adaptyst::loss_reason::unmatched) == jumps);
  CHECK(count(found, {"around"}) == 1);
  // The second phase is open until its place runs again: the first is below it, but once.
  CHECK(count(found, {"around", "before the jump"}) == 1);
  CHECK(count(found, {"around", "at the jump", "before the jump"}) == jumps - 1);
}

TEST_CASE("a collector may start and stop in any phase") {
  for (int times = 0; times != 3; ++times) {
    ADAPTYST_PHASES("idle");
    auto collector = std::make_unique<adaptyst::collector>(support::options());
    ADAPTYST_NEXT("recorded");
    ADAPTYST_NEXT("left open");
    profile found = collector->stop();
    support::check_identity(found);
    CHECK(found.regions.front().path == path{"recorded"});
    CHECK(count(found, {"recorded"}) == 1);
    CHECK(found.accounting.open == 1);
    collector.reset();
    ADAPTYST_NEXT("idle again");
    collector = std::make_unique<adaptyst::collector>(support::options());
    ADAPTYST_NEXT("recorded later");
    { ADAPTYST_REGION("nested"); }
    ADAPTYST_NEXT("left open");
    collector.reset();
    collector = std::make_unique<adaptyst::collector>(support::options());
    ADAPTYST_NEXT("after the next start");
    ADAPTYST_NEXT("last");
    found = collector->stop();
    support::check_identity(found);
    CHECK(count(found, {"after the next start"}) == 1);
    CHECK(found.accounting.unmatched == 0);
  }
}

TEST_CASE("phases have names made at run time, numbers and levels") {
  adaptyst::collector collector(support::options() + ",level=model");
  for (int times = 0; times != 10; ++times) {
    const std::string name = "named " + std::to_string(times % 2);
    ADAPTYST_PHASES(name);
    ADAPTYST_NEXT("with numbers", sizes{5});
    ADAPTYST_NEXT("too deep", adaptyst::level::layer);
    { ADAPTYST_REGION("in the scope"); }
    ADAPTYST_NEXT(name + ", again");
  }
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(count(found, {"named 0"}) == 5);
  CHECK(count(found, {"named 1"}) == 5);
  CHECK(count(found, {"named 0, again"}) == 5);
  CHECK(support::find(found, {"with numbers"}).attributes.begin()->second.sum == 50);
  CHECK(count(found, {"in the scope"}) == 10);
  CHECK(found.regions.size() == 6);
}

TEST_CASE("phases of C are in one tree with those of C++") {
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 10; ++times) {
    ADAPTYST_PHASES("of C++");
    ADAPTYST_NEXT("around C");
    c_phases(3, [] { ADAPTYST_REGION("innermost"); });
    ADAPTYST_NEXT("after C");
  }
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.open == 0);
  CHECK(found.accounting.unmatched == 0);
  CHECK(count(found, {"of C++"}) == 10);
  CHECK(count(found, {"around C", "first of C"}) == 10);
  CHECK(count(found, {"around C", "second of C"}) == 30);
  CHECK(count(found, {"around C", "second of C", "innermost"}) == 30);
  CHECK(count(found, {"around C", "third of C"}) == 30);
  CHECK(support::find(found, {"around C", "third of C"}).site.function == "c_phases");
  CHECK(count(found, {"after C"}) == 10);
  CHECK(found.regions.size() == 7);
}
