// Regions that one call of a library begins and another ends, mixed with scopes, jumps and threads.
#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/metric.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "../../adapters/ranges.hpp"
#include "collecting.hpp"

namespace {

using adaptyst::callback_region;

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "callback GPU"};
const adaptyst::device other_gpu{adaptyst::device_kind::gpu, 1, "callback GPU"};

// As a library hears of it: names that are gone when the call is over, and a number to remember the rest by.
__attribute__((noinline)) std::uint64_t begin(const std::string& name) {
  std::string passing = name;
  const std::uint64_t number = callback_region::begin(passing).number();
  std::memset(passing.data(), 'x', passing.size());
  return number;
}
__attribute__((noinline)) void end(std::uint64_t number) { callback_region::of(number).end(); }

// NOLINTNEXTLINE(misc-no-recursion)
void nest(int levels) {
  const std::uint64_t opened = begin("level");
  if (levels > 1) nest(levels - 1);
  end(opened);
}

std::jmp_buf out;

void jump_out() {
  ADAPTYST_REGION("left");
  begin("never ended");
  std::longjmp(out, 1);
}

// The second time it finds its own marker where it stands already.
__attribute__((noinline)) void may_be_left(bool leave) {
  ADAPTYST_REGION("around");
  if (leave) jump_out();
}

}  // namespace

TEST_CASE("regions that other calls begin and end nest with scopes, either way round") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 10; ++i) {
    const std::uint64_t step = begin("step");
    {
      ADAPTYST_REGION("scope");
      const std::uint64_t kernel = begin("kernel");
      { ADAPTYST_REGION("innermost"); }
      ADAPTYST_METRIC("metric of items", 2);
      end(kernel);
    }
    end(step);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
  REQUIRE(profile.regions.size() == 4);
  const adaptyst::region& step = support::find(profile, {"step"});
  const adaptyst::region& scope = support::find(profile, {"step", "scope"});
  const adaptyst::region& kernel = support::find(profile, {"step", "scope", "kernel"});
  const adaptyst::region& innermost = support::find(profile, {"step", "scope", "kernel", "innermost"});
  for (const adaptyst::region* region : {&step, &scope, &kernel, &innermost}) CHECK(region->count == 10);
  CHECK(step.self_ns == step.total_ns - scope.total_ns);
  CHECK(scope.self_ns == scope.total_ns - kernel.total_ns);
  CHECK(kernel.self_ns == kernel.total_ns - innermost.total_ns);
  CHECK(kernel.kind == adaptyst::region_kind::region);
  CHECK(kernel.attributes.at("metric of items").sum == 20);
}

TEST_CASE("a region that another call began may hold its like") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) nest(5);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 5);
  CHECK(support::find(profile, {"level", "level", "level", "level", "level"}).count == 3);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 0);
}

TEST_CASE("what differs in one thing only is kept apart") {
  adaptyst::collector collector(support::options());
  const std::uint64_t around = begin("around");
  const adaptyst::source_place places[] = {{"f", "g", 1}, {"f", "G", 1}, {"F", "G", 1}, {"F", "G", 2}};
  for (int i = 0; i != 3; ++i) {
    for (const char* const name : {"one", "two", "one", "on"}) end(begin(name));
    for (const adaptyst::source_place& place : places) callback_region::begin("placed", place).end();
    callback_region::begin_wait("one").end();
    callback_region::begin_offload("one", gpu).end();
    callback_region::begin_offload("one", other_gpu).end();
  }
  end(around);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 1 + 3 + 4 + 3);
  CHECK(support::find(profile, {"around", "two"}).count == 3);
  CHECK(support::find(profile, {"around", "on"}).count == 3);
  for (const adaptyst::region& region : profile.regions)
    if (region.path.back() == "one") CHECK(region.count == (region.kind == adaptyst::region_kind::region ? 6 : 3));
}

TEST_CASE("names that differ in one byte are kept apart") {
  adaptyst::collector collector(support::options());
  std::size_t names = 0;
  for (const std::size_t bytes : std::initializer_list<std::size_t>{1, 7, 8, 9, 15, 16, 17, 24, 127}) {
    for (std::size_t changed = 0; changed != bytes; ++changed, ++names) {
      std::string name(bytes, 'n');
      for (int i = 0; i != 3; ++i) end(begin(name.c_str()));  // the next begin expects it
      name[changed] = 'N';
      end(begin(name.c_str()));
    }
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 9 + names);
  for (const adaptyst::region& region : profile.regions) {
    const std::string& name = region.path.back();
    CHECK(region.count == (name.find('N') == name.npos ? 3 * name.size() : 1));
  }
}

TEST_CASE("a region with an open region in it does not end while the recorder is being written") {
  adaptyst::collector collector(support::options());
  callback_region outer = callback_region::begin("outer");
  callback_region inner = callback_region::begin("inner");
  {
    const adaptyst::detail::writing as_in_a_signal_handler(*adaptyst::detail::this_thread_recorder);
    CHECK_FALSE(outer.end_if_innermost());
  }
  CHECK_FALSE(outer.end_if_innermost());
  CHECK(inner.end_if_innermost());
  CHECK(outer.end_if_innermost());
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"outer", "inner"}).count == 1);
  CHECK(profile.accounting.unmatched == 0);
}

TEST_CASE("a mark with a colour that is lost counts once") {
  adaptyst::collector collector(support::options());
  adaptyst::adapters::annotation mark{"mark", {}, "", false, 0};
  mark.has_color = true;
  adaptyst::adapters::record_mark(mark);
  {
    const adaptyst::detail::writing as_in_a_signal_handler(*adaptyst::detail::this_thread_recorder);
    adaptyst::adapters::record_mark(mark);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"mark"}).count == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::in_signal) == 1);
}

TEST_CASE("a forked child sets no colour in its parent") {
  adaptyst::collector collector(support::options());
  const callback_region region = callback_region::begin("coloured");
  const adaptyst::detail::recorder& own = *adaptyst::detail::this_thread_recorder;
  const adaptyst_site& site = *own.frames[own.depth].path->site;
  const pid_t child = fork();
  if (child == 0) {
    region.set_color(0xFF0000);
    _exit(0);
  }
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(site.color == 0);
  region.set_color(0x76B900);
  region.set_color(0x0000FF);
  CHECK(site.color == 0xFF76B900);
  callback_region::of(region.number()).end();
  CHECK(support::find(collector.stop(), {"coloured"}).count == 1);
}

TEST_CASE("ends that do not fit are counted, and harm no other") {
  adaptyst::collector collector(support::options());
  const std::uint64_t outer = begin("outer");
  const std::uint64_t inner = begin("inner");
  end(outer);  // takes the inner with it
  end(inner);
  end(inner);
  end(0);
  callback_region::count_unmatched_end();
  const std::uint64_t elsewhere = begin("elsewhere");
  std::thread([&] {
    CHECK(!callback_region::of(elsewhere).is_open_here());
    end(elsewhere);
  }).join();
  CHECK(callback_region::of(elsewhere).is_open_here());
  callback_region::of(elsewhere).abandon();
  callback_region::of(elsewhere).abandon();
  { ADAPTYST_REGION("after"); }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"outer"}).count == 1);
  CHECK(support::find(profile, {"after"}).count == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 2);
  CHECK(profile.accounting.unmatched == 2 + 4);  // of these, ends that met no begin
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("what longjmp() leaves heals with callbacks in between") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 10; ++i) {
    if (setjmp(out) == 0) may_be_left(true);
    // NOLINTNEXTLINE(bugprone-branch-clone)
    may_be_left(false);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.open == 0);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 30);
  CHECK(support::find(profile, {"around"}).count == 10);
}

TEST_CASE("threads that work for another one stand below the region in which it handed over") {
  adaptyst::collector collector(support::options());
  {
    ADAPTYST_REGION("solve");
    const adaptyst::submission where = adaptyst::submitting();
    std::array<std::thread, 4> team;
    for (std::thread& thread : team)
      thread = std::thread([&] {
        callback_region share = callback_region::begin_below(where, "share", {"here", "there", 3});
        { ADAPTYST_REGION("work"); }
        share.end();
        ADAPTYST_REGION("alone");
      });
    for (std::thread& thread : team) thread.join();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& share = support::find(profile, {"solve", "share"});
  CHECK(share.count == 4);
  CHECK(share.threads == 4);
  CHECK(share.site.file == "here");
  CHECK(share.site.function == "there");
  CHECK(share.site.line == 3);
  CHECK(support::find(profile, {"solve", "share", "work"}).count == 4);
  CHECK(support::find(profile, {"alone"}).count == 4);
  const adaptyst::region& solve = support::find(profile, {"solve"});
  CHECK(solve.self_ns == solve.total_ns);  // others' time is none of its own
}

TEST_CASE("a thread may work for one region after another") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) {
    for (const char* const name : {"first", "second"}) {
      const std::uint64_t region = begin(name);
      const adaptyst::submission where = adaptyst::submitting();
      end(region);
      callback_region::begin_below(where, "share").end();
    }
    callback_region::begin_below({}, "share").end();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 5);
  CHECK(support::find(profile, {"first", "share"}).count == 3);
  CHECK(support::find(profile, {"second", "share"}).count == 3);
  CHECK(support::find(profile, {"share"}).count == 3);
}

TEST_CASE("what follows a region where it works for another one is not taken for what followed it there") {
  adaptyst::collector collector(support::options());
  const auto behind = [] { ADAPTYST_REGION("behind"); };
  for (int i = 0; i != 3; ++i) {
    adaptyst::submission where;
    {
      ADAPTYST_REGION("home");
      where = adaptyst::submitting();
      callback_region::begin_below(where, "share").end();
      behind();
    }
    callback_region::begin_below(where, "share").end();
    behind();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 4);
  CHECK(support::find(profile, {"home", "share"}).count == 6);
  CHECK(support::find(profile, {"home", "behind"}).count == 3);
  CHECK(support::find(profile, {"behind"}).count == 3);
}

TEST_CASE("a region that works for another one, and has the same below it again, does no harm at its end") {
  adaptyst::collector collector(support::options());
  const auto combine = [] { ADAPTYST_REGION("combine"); };
  combine();  // its marker is known
  for (int i = 0; i != 3; ++i) {
    const adaptyst::submission top = adaptyst::submitting();
    callback_region task = callback_region::begin("task");
    const adaptyst::submission of_task = adaptyst::submitting();
    task.end();
    ADAPTYST_REGION("outer");
    callback_region wait = callback_region::begin_below(of_task, "wait");
    {
      callback_region again = callback_region::begin_below(top, "task");
      callback_region::begin("wait").end();
      combine();
      again.end();
    }
    wait.end();
    combine();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"task", "combine"}).count == 3);
  CHECK(support::find(profile, {"outer", "combine"}).count == 3);
  CHECK(support::find(profile, {"combine"}).count == 1);
}

TEST_CASE("the host waits, or works a device, from one call to another") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) {
    callback_region kernel = callback_region::begin_offload("kernel", gpu);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    kernel.end();
    callback_region fence = callback_region::begin_wait("fence");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fence.end();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& kernel = support::find(profile, {"kernel"});
  CHECK(kernel.kind == adaptyst::region_kind::offload);
  CHECK(profile.devices.at(kernel.device).name == "callback GPU");
  CHECK(*profile.devices.at(kernel.device).busy_ns == kernel.total_ns);
  CHECK(support::find(profile, {"fence"}).kind == adaptyst::region_kind::wait);
}

TEST_CASE("how threads differ in a region is known of callbacks too") {
  adaptyst::collector collector(support::options());
  std::thread other([] { end(begin("shared")); });
  end(begin("shared"));
  end(begin("shared"));
  other.join();
  const adaptyst::region found = support::find(collector.stop(), {"shared"});
  REQUIRE(found.threads == 2);
  if (support::engine() != "inline") return;  // the kernel adds them up
  REQUIRE(found.per_thread.has_value());
  CHECK(found.per_thread->count == 2);
}

TEST_CASE("a region that was begun while nothing listened is not recorded") {
  const std::uint64_t before = begin("before");
  CHECK(before == 0);
  adaptyst::collector collector(support::options());
  end(before);
  const std::uint64_t during = begin("during");
  const adaptyst::profile profile = collector.stop();
  end(during);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.accounting.open == 1);
}

TEST_CASE("numbers of a callback are named at its begin and known at its end, or absent") {
  static constexpr const char* names[] = {"bytes", "callback flops"};
  adaptyst::collector collector(support::options() + ",overhead=none");
  for (int at = 0; at != 4; ++at) {
    callback_region outer = callback_region::begin("numbered", {names, 2, "shape=8x8"});
    callback_region inner = callback_region::begin("numbered", {names, 1});
    const double of_inner[] = {at == 3 ? std::nan("") : 1};
    inner.end(of_inner);
    const double of_outer[] = {8, 2.5};
    outer.end(of_outer);
  }
  const adaptyst::profile made = collector.stop();
  support::check_account(made);
  const std::vector<std::string> outer_path = {"numbered [shape=8x8]"}, inner_path = {outer_path[0], "numbered"};
  int seen = 0;
  for (const adaptyst::region& region : made.regions) {
    if (region.path == outer_path) {
      ++seen;
      CHECK(region.count == 4);
      CHECK(region.attributes.at("bytes").sum == 32);
      CHECK(region.attributes.at("callback flops").sum == 10);
    } else if (region.path == inner_path) {
      ++seen;
      CHECK(region.count == 4);
      CHECK(std::isnan(region.attributes.at("bytes").sum));
      CHECK(region.attributes.size() == 1);
    }
  }
  CHECK(seen == 2);
}
