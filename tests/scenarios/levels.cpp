// How deep a run looks: what is deeper is left out of everything, and all else stays as it is.
#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/adaptyst.h>
#include <adaptyst/metric.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>
#include <algorithm>
#include <string>
#include <thread>

#include "c_code.h"
#include "collecting.hpp"
#include "sanitized.hpp"

namespace {

// The one of other scenarios: a process has room for few, and one of them fills it.
constexpr adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "test GPU"};

void marked(int times) {
  ADAPTYST_REGION("lv main");
  for (int at = 0; at != times; ++at) {
    ADAPTYST_REGION("lv model step");
    ADAPTYST_METRIC("metric lv residual", 0.5);
    {
      ADAPTYST_REGION("lv layer conv");
      ADAPTYST_MARK("lv layer mark");
      const auto callback = adaptyst::callback_region::begin("lv library gemm");
      {
        ADAPTYST_REGION("lv below");  // of the application, called by the library
      }
      adaptyst::operation kernel = adaptyst::submit("lv kernel", gpu, 0, adaptyst::operation_kind::kernel);
      const std::uint64_t now = adaptyst::now_ns();
      kernel.complete(now, now + 1);
      adaptyst::callback_region::of(callback.number()).end();
      adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("lv library handle");
      std::string name = "lv library named";
      { ADAPTYST_REGION(name); }
      handle.end();
    }
  }
}

adaptyst::profile run(const std::string& deepest, int times) {
  adaptyst::collector collector(support::options() + ",level=lv model*=model;lv layer*=layer;lv library*=library" +
                                deepest);
  std::thread([times] { marked(times); }).join();
  const adaptyst::profile made = collector.stop();
  support::check_account(made);
  return made;
}

std::uint64_t count(const adaptyst::profile& in, const std::string& name) {
  std::uint64_t sum = 0;
  for (const adaptyst::region& region : in.regions)
    if (region.path.back() == name) sum += region.count;
  return sum;
}

TEST_CASE("nothing above the deepest level is recorded, and everything else as often as ever") {
  struct expected {
    const char* deepest;
    std::uint64_t of_model, of_layer, of_library, of_device;
  };
  constexpr int n = 50;
  // In any order: the markers are known to the process from the first run on.
  for (const expected& row : {expected{";layer", n, n, 0, 0},
                              {";1", 0, 0, 0, 0},
                              {"", n, n, n, n},
                              {";2", n, 0, 0, 0},
                              {";library", n, n, n, 0},
                              {";hardware", n, n, n, n},
                              {";application", 0, 0, 0, 0}}) {
    const adaptyst::profile made = run(row.deepest, n);
    INFO("level=" << row.deepest);
    CHECK(count(made, "lv main") == 1);
    CHECK(count(made, "lv below") == n);
    CHECK(count(made, "lv model step") == row.of_model);
    CHECK(count(made, "lv layer conv") == row.of_layer);
    CHECK(count(made, "lv layer mark") == row.of_layer);
    CHECK(count(made, "lv library gemm") == row.of_library);
    CHECK(count(made, "lv library handle") == row.of_library);
    CHECK(count(made, "lv library named") == row.of_library);
    CHECK(count(made, "lv kernel") == row.of_device);
    CHECK(made.accounting.lost.empty());
    CHECK(made.options.count("level") == 1);  // the report tells it as a setting
    for (const adaptyst::region& region : made.regions)
      if (region.path.back() == "lv below" && row.of_model == 0)
        CHECK(region.path == std::vector<std::string>{"lv main", "lv below"});
  }
}

struct amount {
  double bytes;
};
int evaluated = 0;
amount evaluate() {
  ++evaluated;
  return {8};
}

void marked_by_itself(int times) {
  using adaptyst::level;
  ADAPTYST_REGION("ls main");
  for (int at = 0; at != times; ++at) {
    ADAPTYST_REGION("ls step", level::model);
    ADAPTYST_REGION("ls layer", adaptyst::on_level(level::layer, evaluate()));
    ADAPTYST_OFFLOAD("ls offload", gpu, level::device);
    adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("ls handle", level::library);
    const std::string name = "ls named";
    { ADAPTYST_REGION(name, level::library); }
    adaptyst::operation kernel =
        adaptyst::submit("ls kernel", gpu, 0, adaptyst::operation_kind::kernel, level::hardware);
    const std::uint64_t now = adaptyst::now_ns();
    kernel.complete(now, now + 1);
    handle.end();
  }
}

adaptyst::profile run_marked_by_itself(const std::string& levels, int times) {
  adaptyst::collector collector(support::options() + levels);
  std::thread([times] { marked_by_itself(times); }).join();
  const adaptyst::profile made = collector.stop();
  support::check_account(made);
  return made;
}

TEST_CASE("a marker says its own level, and a rule that was asked for comes first") {
  constexpr int n = 20;
  struct expected {
    const char* levels;
    std::uint64_t of_model, of_layer, of_library, of_device, of_hardware;
  };
  for (const expected& row : {expected{"", n, n, n, n, n},
                              {",level=1", 0, 0, 0, 0, 0},
                              {",level=layer", n, n, 0, 0, 0},
                              {",level=device", n, n, n, n, 0},
                              {",level=ls step=hardware;ls kernel=model;layer", 0, n, 0, 0, n}}) {
    const adaptyst::profile made = run_marked_by_itself(row.levels, n);
    INFO(row.levels);
    CHECK(count(made, "ls main") == 1);
    CHECK(count(made, "ls step") == row.of_model);
    CHECK(count(made, "ls layer") == row.of_layer);
    CHECK(count(made, "ls handle") == row.of_library);
    CHECK(count(made, "ls named") == row.of_library);
    CHECK(count(made, "ls offload") == row.of_device);
    CHECK(count(made, "ls kernel") == row.of_hardware);
    for (const adaptyst::region& region : made.regions) {
      if (region.path.back() == "ls main") CHECK_FALSE(region.level);
      if (region.path.back() == "ls named") CHECK(region.level == adaptyst::level::library);
      if (region.path.back() != "ls layer") continue;
      CHECK(region.level == adaptyst::level::layer);
      CHECK(region.attributes.at("bytes").sum == 8 * n);
    }
  }
  evaluated = 0;
  run_marked_by_itself(",level=1", n);
  CHECK(evaluated == 0);
}

struct labelled {
  double bytes;
  const char* of;
};
double evaluate_number() { return evaluate().bytes; }

// Every marker that has a payload, with each way to give it a level.
void marked_with_payloads() {
  using adaptyst::level;
  const std::string name = "lp named";
  const level held = level::layer;
  ADAPTYST_REGION("lp region", evaluate());
  ADAPTYST_REGION("lp label", labelled{evaluate_number(), "text"});
  ADAPTYST_REGION(name, evaluate());
  ADAPTYST_REGION("lp own", adaptyst::on_level(level::layer, labelled{evaluate_number(), "text"}));
  ADAPTYST_REGION("lp held", adaptyst::on_level(held, evaluate()));
  ADAPTYST_OFFLOAD("lp offload", gpu, evaluate());
  ADAPTYST_OFFLOAD("lp own offload", gpu, adaptyst::on_level(adaptyst::level::hardware, evaluate()));
  ADAPTYST_WAIT("lp wait", evaluate());
  adaptyst::region_handle handle = ADAPTYST_HANDLE_BEGIN("lp handle", evaluate());
  adaptyst::region_handle of_name = ADAPTYST_HANDLE_BEGIN(name, labelled{evaluate_number(), "text"});
  ADAPTYST_METRIC("metric lp", evaluate_number());
  ADAPTYST_METRIC(std::string("metric lp named"), [] { return evaluate_number(); }());
  handle.end();
  of_name.end();
}

int count_evaluations(const std::string& levels, int threads) {
  evaluated = 0;
  adaptyst::collector collector(support::options() + levels);
  // Each thread has a first event of its own, and a second one.
  for (int at = 0; at != threads; ++at)
    std::thread([] {
      marked_with_payloads();
      marked_with_payloads();
    }).join();
  const adaptyst::profile made = collector.stop();
  support::check_account(made);
  CHECK(made.accounting.lost.empty());
  if (levels.empty())
    for (const adaptyst::region& region : made.regions) {
      INFO(region.path.back());
      REQUIRE(region.attributes.count("bytes") == 1);
      CHECK(region.attributes.at("bytes").sum == static_cast<double>(8 * region.count));
    }
  return evaluated;
}

TEST_CASE("nothing of a payload is evaluated for a marker that is too deep") {
  constexpr int threads = 3, markers = 12;
  // In this order: what is known of a marker that was too deep must not be taken for what it records later.
  CHECK(count_evaluations(",level=lp*=layer;metric lp*=layer;model", threads) == 0);
  CHECK(count_evaluations("", threads) == 2 * threads * markers);
  CHECK(count_evaluations(",level=lp*=layer;metric lp*=layer;model", threads) == 0);
  CHECK(count_evaluations(",level=lp*=layer;metric lp*=layer;layer", threads) == 2 * threads * markers);
  // By their own levels alone. One that is in a variable is known since its first event was recorded.
  CHECK(count_evaluations(",level=application", threads) == 2 * threads * (markers - 3));
}

TEST_CASE("of pairs in C the deeper ones are left out, around others and inside") {
  adaptyst::collector collector(support::options() + ",level=lv pair deep=layer;1");
  for (int at = 0; at != 20; ++at) {
    ADAPTYST_BEGIN("lv pair outer");
    ADAPTYST_BEGIN("lv pair deep");
    ADAPTYST_BEGIN("lv pair inner");
    ADAPTYST_END();
    ADAPTYST_END();
    ADAPTYST_END();
  }
  const adaptyst::profile made = collector.stop();
  support::check_account(made);
  CHECK(support::find(made, {"lv pair outer"}).count == 20);
  CHECK(support::find(made, {"lv pair outer", "lv pair inner"}).count == 20);
  CHECK(count(made, "lv pair deep") == 0);
  CHECK(made.accounting.unmatched == 0);
}

TEST_CASE("values of metrics in C that are too deep are not evaluated") {
  for (const bool is_deep : {true, false}) {
    adaptyst::collector collector(support::options() + ",level=values of C=layer;" + (is_deep ? "model" : "layer"));
    CHECK(c_counts_values(20) == (is_deep ? 0 : 20));
    support::check_account(collector.stop());
  }
}

#ifndef ADAPTYST_TEST_SANITIZED
[[gnu::noinline]] void deep_marker() {
  ADAPTYST_REGION("lv deep and hot");
  __asm__ volatile("");
}

// The shortest of several rounds: nothing makes a marker faster than it is.
double time_ns() {
  constexpr int events = 200'000;
  std::uint64_t shortest_ns = ~std::uint64_t{0};
  for (int round = 0; round != 15; ++round) {
    const std::uint64_t begin_ns = adaptyst::now_ns();
    for (int at = 0; at != events; ++at) deep_marker();
    shortest_ns = std::min(shortest_ns, adaptyst::now_ns() - begin_ns);
  }
  return static_cast<double>(shortest_ns) / events;
}

double time_with_ns(const char* options) {
  adaptyst::collector collector(support::options() + options);
  return time_ns();
}

// What it costs exactly is measured elsewhere: here, that it is not recorded and then dropped, which is ten times as long.
TEST_CASE("a deeper marker takes the way of what is left out") {
  const double recorded_ns = time_with_ns(""), deeper_ns = time_with_ns(",level=lv deep*=hardware;1");
  INFO("recorded " << recorded_ns << ", deeper " << deeper_ns);
  CHECK(deeper_ns <= recorded_ns / 2);
}
#endif

}  // namespace

TEST_CASE("the first callback that is deeper than looked at is left out like the others") {
  adaptyst::collector collector(support::options() + ",level=lv first*=hardware;application");
  for (int at = 0; at != 3; ++at) adaptyst::callback_region::begin("lv first deeper").end();
  const adaptyst::profile made = collector.stop();
  support::check_account(made);
  CHECK(count(made, "lv first deeper") == 0);
}
