// Markers of C: in one tree with those of C++, on every way out of a region, and what is wrong with them counted.
#include <adaptyst/region.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <sys/time.h>
#include <thread>

#include "c_code.h"
#include "collecting.hpp"

namespace {

using path = std::vector<std::string>;

volatile std::sig_atomic_t handled = 0;

}  // namespace

TEST_CASE("markers of C and C++ are in one tree, with their places") {
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 5; ++times) {
    ADAPTYST_REGION("outermost, of C++");
    c_calls_back([] { ADAPTYST_REGION("innermost, of C++"); });
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.unmatched == 0);
  REQUIRE(profile.regions.size() == 4);
  const adaptyst::region& innermost =
      support::find(profile, {"outermost, of C++", "pair of C", "scope of C", "innermost, of C++"});
  const adaptyst::region& scope = support::find(profile, {"outermost, of C++", "pair of C", "scope of C"});
  const adaptyst::region& pair = support::find(profile, {"outermost, of C++", "pair of C"});
  for (const adaptyst::region* region : {&innermost, &scope, &pair}) CHECK(region->count == 5);
  CHECK(scope.self_ns == scope.total_ns - innermost.total_ns);
  CHECK(pair.self_ns == pair.total_ns - scope.total_ns);
  for (const adaptyst::region* region : {&scope, &pair}) {
    CHECK(region->kind == adaptyst::region_kind::region);
    CHECK(region->site.file.find("c_code.c") != std::string::npos);
    CHECK(region->site.function == "c_calls_back");
    CHECK(region->site.line > 5);
  }
  CHECK(scope.site.line > pair.site.line);
}

TEST_CASE("scopes of C end on every way out") {
  adaptyst::collector collector(support::options());
  for (int how = 0; how != 5; ++how) CHECK(c_leaves_early(how) == (how == 2 ? 1 : how == 3 ? 2 : 0));
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(support::find(profile, {"c_leaves_early"}).count == 5);
  CHECK(support::find(profile, {"c_leaves_early", "turn"}).count == 10 + 1 + 1 + 1 + 10);
}

TEST_CASE("what longjmp leaves in C is counted as unmatched") {
  constexpr std::uint64_t jumps = 10000;
  adaptyst::collector collector(support::options());
  std::thread([] { c_jumps_out(jumps); }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.begun == 2 * (jumps + 1) + 1);
  CHECK(profile.accounting.ended == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) + profile.accounting.open == 2 * (jumps + 1));
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) >= 2 * jumps);
}

TEST_CASE("a pair whose end is passed by is counted when its begin comes again") {
  adaptyst::collector collector(support::options());
  std::thread([] { c_pairs_left_early(10000); }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.regions.empty());  // none has ended
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 9999);
  CHECK(profile.accounting.open == 1);
}

TEST_CASE("begin and end of a pair may be in different functions") {
  adaptyst::collector collector(support::options());
  for (int times = 0; times != 100; ++times) c_pair_across_functions();
  c_pairs_in_a_row(100);
  c_nested_pairs(50);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(support::find(profile, {"step"}).count == 100);
  CHECK(support::find(profile, {"step", "in step"}).count == 100);
  CHECK(support::find(profile, {"outer pair", "inner pair"}).count == 100);
  CHECK(support::find(profile, path(50, "level")).count == 1);
}

TEST_CASE("names that C makes at run time are copied, and cut at 127 bytes") {
  adaptyst::collector collector(support::options());
  const std::string long_name(300, 'n');
  for (const char* const name : {"name 1", "name 2", "", "größe", long_name.c_str()}) c_names(name);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const std::string cut(127, 'n');
  for (const std::string& name :
       {std::string("name 1"), std::string("name 2"), std::string(), std::string("größe"), cut}) {
    CHECK(support::find(profile, {name}).count == 1);
    CHECK(support::find(profile, {name, name}).count == 1);
  }
}

TEST_CASE("handles of C end on any thread; a second end is counted") {
  adaptyst::collector collector(support::options());
  c_handles([](void* handle, void (*end)(void*)) { std::thread(end, handle).join(); });
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(support::find(profile, {"first handle of C"}).count == 1);
  CHECK(support::find(profile, {"second handle of C"}).count == 1);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 1);
}

TEST_CASE("metrics and marks of C") {
  adaptyst::collector collector(support::options());
  c_instants(10);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"with instants"}).attributes.at("residual of C").sum == 55);
  CHECK(support::find(profile, {"with instants", "mark of C"}).count == 10);
}

TEST_CASE("offloads, waits and operations of C are booked on their device") {
  adaptyst::collector collector(support::options());
  c_devices();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  const adaptyst::region& offload = support::find(profile, {"offload of C"});
  CHECK(offload.kind == adaptyst::region_kind::offload);
  CHECK(support::find(profile, {"wait of C"}).kind == adaptyst::region_kind::wait);
  const adaptyst::region& copy = support::find(profile, {"upload of C"});
  CHECK(copy.kind == adaptyst::region_kind::copy_to);
  CHECK(copy.total_ns == 1000);
  CHECK(copy.attributes.at("bytes").sum == 1000);
  CHECK(support::find(profile, {"kernel of C"}).total_ns == 3000);
  CHECK(support::lost(profile, adaptyst::loss_reason::device_lost) == 1);
  bool found = false;
  for (const adaptyst::device_usage& device : profile.devices)
    found = found || (device.name == "GPU of C" && device.index == 3);
  CHECK(found);
  CHECK(profile.metadata.at("written in") == "C");
}

TEST_CASE("ends of C without a begin are counted, and end nothing of others") {
  adaptyst::collector collector(support::options());
  {
    ADAPTYST_REGION("of C++");
    c_ends_without_begin(7);
    std::thread(c_pair_begin).join();
    c_pair_end();  // begun on another thread
  }
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(support::find(profile, {"of C++"}).count == 1);
  CHECK(profile.accounting.unmatched == 8);
  CHECK(profile.accounting.open == 1);
}

TEST_CASE("a pair that is open when a collector starts or stops disturbs no other") {
  c_pair_begin();
  for (int times = 0; times != 3; ++times) {
    adaptyst::collector collector(support::options());
    c_pairs_in_a_row(10);
    if (times == 1) c_pair_begin();
    const adaptyst::profile profile = collector.stop();
    support::check_identity(profile);
    CHECK(support::find(profile, {"outer pair", "inner pair"}).count == 10);
    CHECK(profile.accounting.open == (times == 1 ? 1U : 0U));
  }
  c_pair_end();
  adaptyst::collector collector(support::options());
  c_pairs_in_a_row(10);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"outer pair", "inner pair"}).count == 10);
}

TEST_CASE("pairs that are too deep are counted, and their ends end no other", "[one_thread]") {
  adaptyst::collector collector(support::options());
  std::thread([] {
    ADAPTYST_REGION("around deep pairs");
    c_nested_pairs(5000);
    c_pairs_in_a_row(1);
  }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::lost(profile, adaptyst::loss_reason::too_deep) == 5000 - 4095);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(support::find(profile, {"around deep pairs", "outer pair", "inner pair"}).count == 1);
}

TEST_CASE("signal handlers may have markers of C") {
  adaptyst::collector collector(support::options());
  struct sigaction action {};
  action.sa_handler = [](int) {
    c_in_handler();
    handled = handled + 1;
  };
  sigaction(SIGALRM, &action, nullptr);
  handled = 0;
  const itimerval often{{0, 100}, {0, 100}};
  setitimer(ITIMER_REAL, &often, nullptr);
  int rounds = 0;
  for (; handled < 1000; ++rounds) c_pairs_in_a_row(10);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_DFL);
  const auto of_handler = static_cast<std::uint64_t>(handled);
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.accounting.begun == static_cast<std::uint64_t>(rounds) * 20 + 2 * of_handler);
  CHECK(support::find(profile, {"outer pair", "inner pair"}).count == static_cast<std::uint64_t>(rounds) * 10);
}

TEST_CASE("scopes of C that a budget leaves out, with what they hold, are estimated in their place") {
  adaptyst::collector collector("report=none,context=none,overhead=0.1%,engine=" + support::engine());
  std::uint64_t calls = 0;
  std::thread([&] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
    for (; std::chrono::steady_clock::now() < until; ++calls) c_short_scopes(1000);
  }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.regions.size() == 2);
  const double outer = static_cast<double>(support::find(profile, {"short scope"}).count);
  const double inner = static_cast<double>(support::find(profile, {"short scope", "shorter scope"}).count);
  // Drawn at random: a loose bound, which an event in the wrong place does not keep.
  CHECK(outer > 0.5 * static_cast<double>(calls) * 1000);
  CHECK(outer < 1.5 * static_cast<double>(calls) * 1000);
  CHECK(inner > 0.4 * outer);
  CHECK(inner < 2.5 * outer);
}

TEST_CASE("pairs of C that a budget leaves out still end in their place") {
  // The budget is far too small, so that nearly all are left out.
  adaptyst::collector collector("report=none,context=none,overhead=0.1%,engine=" + support::engine());
  std::uint64_t around = 0;
  std::thread([&] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(600);
    for (; std::chrono::steady_clock::now() < until; ++around) {
      ADAPTYST_REGION("around pairs");
      c_short_pairs(1000);
    }
  }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.accounting.open == 0);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 0);
  // In the place where they are, and nowhere else.
  CHECK(profile.regions.size() == 3);
  CHECK(support::find(profile, {"around pairs", "short pair", "shorter pair"}).count > 0);
}
