// What an overhead budget does to a program that is full of short regions, and to what is told of it.
#include <adaptyst/detail/recorder.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/payload.hpp>
#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>

#include <adaptyst/adapter/callback_region.hpp>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csetjmp>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "chance.hpp"
#include "collecting.hpp"
#include "sanitized.hpp"

namespace {

using adaptyst::profile;
using adaptyst::region;
using namespace std::chrono_literals;

std::string with_budget() { return "report=none,overhead=2%,engine=" + support::engine(); }

[[gnu::noinline]] void rest() {
  for (int turn = 0; turn != 40; ++turn) __asm__ volatile("" : "+r"(turn));  // no compiler knows when it is over
}

[[gnu::noinline]] void hot() {
  ADAPTYST_REGION("hot");
  rest();
}

// Until the time is over; returns how often.
template <class Step>
std::uint64_t repeat(std::chrono::milliseconds time, Step&& step) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::uint64_t times = 0;
  while (std::chrono::steady_clock::now() < end) {
    for (int at = 0; at != 1000; ++at) step();
    times += 1000;
  }
  return times;
}

// Six standard errors: never by chance.
void check_estimate(const region& region, std::uint64_t truth) {
  INFO(region.path.back() << ": " << region.count << " for " << truth);
  CHECK(std::abs(static_cast<double>(region.count) - static_cast<double>(truth)) <=
        6 * region.count_error().value_or(0));
}

std::uint64_t sampled_ns(const region& region) {
  std::uint64_t sum = 0;
  for (const auto& [step, time_ns] : region.measured_on)
    if (step.one_of != 1) sum += time_ns;
  return sum;
}

// By its name, wherever it is.
template <class Use>
void use_step(const char* name, Use&& use) {
  for (const adaptyst_site* const site : adaptyst::detail::get_process(adaptyst_object_v5)->sites.slots)
    if (site != nullptr && std::strcmp(site->name, name) == 0) use(const_cast<std::uint64_t&>(*site->step));
}

void set_step(const char* name, std::uint32_t step) {
  use_step(name, [step](std::uint64_t& of_site) { adaptyst::detail::store(of_site, std::uint64_t{step}); });
}

bool is_sampled(const char* name) {
  bool any = false;
  use_step(name, [&any](const std::uint64_t& of_site) {
    any = any || adaptyst::detail::load(of_site) > ADAPTYST_STEP_RECORDER;
  });
  return any;
}

double thread_cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return 1e9 * static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec);
}

// The calling thread, and threads that it starts, run on one core.
class on_one_core {
 public:
  on_one_core() {
    REQUIRE(sched_getaffinity(0, sizeof before_, &before_) == 0);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(sched_getcpu(), &here);
    REQUIRE(sched_setaffinity(0, sizeof here, &here) == 0);
  }
  ~on_one_core() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

struct busy_thread {
  std::atomic<bool> is_over{false};
  std::thread thread{[this] {
    while (!is_over) rest();
  }};
  ~busy_thread() {
    is_over = true;
    thread.join();
  }
};

}  // namespace

TEST_CASE("a hot region is sampled, its count is marked as an estimate, and the account adds up") {
  adaptyst::collector collector(with_budget());
  const std::uint64_t times = repeat(1000ms, hot);
  const profile found = collector.stop();
  support::check_account(found);
  const region& row = support::find(found, {"hot"});
  REQUIRE(row.timed_events);
  CHECK(*row.timed_events < times / 2);
  CHECK(row.count_error().value_or(0) > 0);
  check_estimate(row, times);
  CHECK(row.total_error_ns().value_or(0) > 0);
  CHECK(sampled_ns(row) > found.processes.front().duration_ns / 2);
  std::uint64_t sum = 0;
  for (const auto& [step, time_ns] : row.measured_on) sum += time_ns;
  CHECK(sum == found.processes.front().duration_ns);
}

TEST_CASE("without a budget every event is recorded") {
  adaptyst::collector collector(support::options());
  const std::uint64_t times = repeat(300ms, hot);
  const profile found = collector.stop();
  const region& row = support::find(found, {"hot"});
  CHECK(row.count == times);
  CHECK_FALSE(row.timed_events);
  CHECK(row.measured_on.empty());
}

TEST_CASE("markers that take turns in a fixed order get what each is due, on all threads") {
  adaptyst::collector collector(with_budget());
  std::uint64_t times[3] = {};
  std::vector<std::thread> running;
  for (std::uint64_t& mine : times)
    running.emplace_back([&mine] {
      mine = repeat(700ms, [] {
        for (int at = 0; at != 3; ++at) {
          ADAPTYST_REGION("one of four");
          rest();
        }
        ADAPTYST_REGION("the fourth");
        rest();
      });
    });
  for (std::thread& thread : running) thread.join();
  const profile found = collector.stop();
  support::check_account(found);
  const std::uint64_t sum = times[0] + times[1] + times[2];
  check_estimate(support::find(found, {"one of four"}), 3 * sum);
  check_estimate(support::find(found, {"the fourth"}), sum);
  CHECK(support::find(found, {"one of four"}).timed_events);
  CHECK(support::find(found, {"one of four"}).threads == 3);
}

TEST_CASE("hot phases are sampled like regions, alone and with what is nested in them") {
  adaptyst::collector collector(with_budget());
  std::uint64_t times = 0;
  std::thread([&times] {
    times = repeat(1000ms, [] {
      ADAPTYST_PHASES("phase a");
      rest();
      ADAPTYST_NEXT("phase b");
      for (int at = 0; at != 3; ++at) hot();
      ADAPTYST_NEXT("phase c");
      rest();
    });
  }).join();
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.unmatched == 0);
  for (const char* const name : {"phase a", "phase b", "phase c"}) check_estimate(support::find(found, {name}), times);
  check_estimate(support::find(found, {"phase b", "hot"}), 3 * times);
  CHECK(support::find(found, {"phase a"}).timed_events);
}

TEST_CASE("phases with timestamps of their own leave little time to the region around them") {
  adaptyst::collector collector(support::options());
  const auto spin = [] {
    const auto end = std::chrono::steady_clock::now() + 20us;
    while (std::chrono::steady_clock::now() < end) {}
  };
  const auto run_phases = [&spin] {
    ADAPTYST_REGION("around phases");
    ADAPTYST_PHASES("sampled first");
    spin();
    ADAPTYST_NEXT("sampled second");
    spin();
  };
  run_phases();
  const auto set_steps = [](std::uint32_t step) {
    for (const char* const name : {"sampled first", "sampled second"}) set_step(name, step);
  };
  constexpr std::uint64_t times = 4000;
  // Not sampled yet: a sampled phase omits the time in which the thread had lost its core.
  set_steps(ADAPTYST_STEP_RECORDER);
  for (std::uint64_t at = 0; at != times; ++at) run_phases();
  const profile before = collector.snapshot();
  const region& all_recorded = support::find(before, {"around phases"});
  CHECK(all_recorded.self_ns < all_recorded.total_ns / 4);
  set_steps(ADAPTYST_STEP_RECORDER + 2);
  for (std::uint64_t at = 0; at != times; ++at) run_phases();
  const profile found = collector.stop();
  support::check_account(found);
  CHECK(found.accounting.unmatched == 0);
  const region& around = support::find(found, {"around phases"});
  CHECK(around.count == 2 * times + 1);
  for (const char* const name : {"sampled first", "sampled second"}) {
    const region& phase = support::find(found, {"around phases", name});
    CHECK(phase.timed_events.value_or(2 * times) < 2 * times);
    check_estimate(phase, 2 * times + 1);
  }
}

TEST_CASE("hot regions around others are sampled with all that is nested in them") {
  adaptyst::collector collector(with_budget());
  const std::uint64_t times = repeat(1000ms, [] {
    ADAPTYST_REGION("outer");
    rest();
    ADAPTYST_REGION("middle");
    for (int at = 0; at != 3; ++at) hot();
  });
  const profile found = collector.stop();
  support::check_account(found);
  const region& outer = support::find(found, {"outer"});
  const region& middle = support::find(found, {"outer", "middle"});
  const region& inner = support::find(found, {"outer", "middle", "hot"});
  CHECK(outer.timed_events.value_or(times) < times / 2);
  check_estimate(outer, times);
  check_estimate(middle, times);
  check_estimate(inner, 3 * times);
  for (const region& row : found.regions) CHECK(row.path.front() == "outer");
  // On a busy machine some sample may have been interrupted by something that is not reported.
  CHECK(static_cast<double>(inner.total_ns) < 2 * static_cast<double>(outer.total_ns));
}

TEST_CASE("regions around what is more than a region keep every event") {
  adaptyst::collector collector(with_budget());
  const std::uint64_t times = repeat(700ms, [] {
    ADAPTYST_REGION("around a metric");
    {
      ADAPTYST_REGION("between");
      ADAPTYST_METRIC("size", 1);
    }
    hot();
  });
  const profile found = collector.stop();
  support::check_identity(found);
  CHECK(support::find(found, {"around a metric"}).count == times);
  CHECK_FALSE(support::find(found, {"around a metric"}).timed_events);
  CHECK(support::find(found, {"around a metric", "between"}).attributes.at("size").sum == static_cast<double>(times));
  check_estimate(support::find(found, {"around a metric", "hot"}), times);
}

TEST_CASE("regions between callbacks are sampled where nothing is nested in them, and no others") {
  adaptyst::collector collector(with_budget());
  const std::uint64_t times = repeat(700ms, [] {
    adaptyst::callback_region around = adaptyst::callback_region::begin("around callbacks");
    for (int at = 0; at != 3; ++at) adaptyst::callback_region::begin("called back").end();
    hot();
    around.end();
  });
  const profile found = collector.stop();
  support::check_account(found);
  const region& around = support::find(found, {"around callbacks"});
  CHECK(around.count == times);
  CHECK_FALSE(around.timed_events);
  const region& inside = support::find(found, {"around callbacks", "called back"});
  CHECK(inside.timed_events.value_or(times) < times);
  check_estimate(inside, 3 * times);
  check_estimate(support::find(found, {"around callbacks", "hot"}), times);
  CHECK(found.regions.size() == 3);
}

namespace {

std::uint64_t recursions = 0;

[[gnu::noinline]] void recur(int deeper) {
  ADAPTYST_REGION("recursive");
  ++recursions;
  if (deeper > 0) {
    recur(deeper - 1);
    recur(deeper - 2);
  }
}

}  // namespace

TEST_CASE("a region that lies in itself is not left out with what it holds") {
  adaptyst::collector collector(with_budget());
  recursions = 0;
  repeat(100ms, [] { recur(10); });
  const profile found = collector.stop();
  support::check_account(found);
  double count = 0;
  double variance = 0;
  for (const region& row : found.regions) {
    count += static_cast<double>(row.count);
    variance += row.count_variance.value_or(0);
  }
  CHECK(std::abs(count - static_cast<double>(recursions)) <= 6 * std::sqrt(variance));
}

namespace {

std::jmp_buf before_jump;

// Comes back by a jump, out of two regions.
[[gnu::noinline]] void jump_out() {
  ADAPTYST_REGION("left around");
  ADAPTYST_REGION("left inside");
  std::longjmp(before_jump, 1);
}

}  // namespace

TEST_CASE("a jump out of a region that is left out with what it holds does not silence its thread") {
  adaptyst::collector collector(support::options());
  {
    ADAPTYST_REGION("left around");
    ADAPTYST_REGION("left inside");
  }
  hot();
  constexpr std::uint64_t times = 100000;
  std::thread([] {  // whose regions end with it
    if (setjmp(before_jump) == 0) jump_out();
    set_step("left around", ADAPTYST_STEP_SUBTREE + 13);
    volatile int jumps = 0;
    if (setjmp(before_jump) == 0 || jumps < 100) {
      jumps = jumps + 1;
      jump_out();
    }
    for (std::uint64_t at = 0; at != times; ++at) hot();
  })
      .join();
  const profile found = collector.stop();
  std::uint64_t count = 0;
  for (const region& row : found.regions)
    if (row.path.back() == "hot") count += row.count;
  const std::uint64_t unmatched = support::lost(found, adaptyst::loss_reason::unmatched);
  CHECK(count <= times + 1);
  CHECK(count + unmatched > times);
  CHECK(count > times - 2000);
}

namespace {

// Its regions are below those of its caller.
[[gnu::noinline]] void run_deeper(std::uint64_t times) {
  char room[4096];
  __asm__ volatile("" : : "r"(room) : "memory");
  for (std::uint64_t at = 0; at != times; ++at) hot();
}

}  // namespace

TEST_CASE("after a jump out of such a region, events in deeper functions are recorded or reported as lost") {
  // Fewer than are skipped before the region counts as left, and more.
  const std::uint64_t times = GENERATE(std::uint64_t{60'000}, std::uint64_t{400'000});
  adaptyst::collector collector(support::options());
  {
    ADAPTYST_REGION("left around");
    ADAPTYST_REGION("left inside");
  }
  hot();
  std::thread([times] {
    if (setjmp(before_jump) == 0) jump_out();
    set_step("left around", ADAPTYST_STEP_SUBTREE + 13);
    if (setjmp(before_jump) == 0) jump_out();
    run_deeper(times);
    for (int at = 0; at != 64; ++at) {  // one of them is checked
      ADAPTYST_REGION("hot");
    }
  }).join();
  const profile found = collector.stop();
  support::check_identity(found);
  std::uint64_t count = 0;
  for (const region& row : found.regions)
    if (row.path.back() == "hot") count += row.count;
  const std::uint64_t unmatched = support::lost(found, adaptyst::loss_reason::unmatched);
  CHECK(count <= times + 65);
  CHECK(count + 70'000 > times);
  CHECK(count + unmatched > times);
  CHECK(count + unmatched < times + 1000);
}

namespace {

[[gnu::noinline]] void jump_out_after_deep() {
  ADAPTYST_REGION("left around");
  for (int at = 0; at != 70; ++at) {
    ADAPTYST_REGION("too deep");
  }
  std::longjmp(before_jump, 1);
}

}  // namespace

TEST_CASE("after a jump out of such a region, events that are too deep do not count as lost") {
  adaptyst::collector collector(support::options());
  std::thread([] {
    if (setjmp(before_jump) == 0) jump_out_after_deep();
    set_step("left around", ADAPTYST_STEP_SUBTREE + 13);
    set_step("too deep", ADAPTYST_STEP_DEEPER);
    if (setjmp(before_jump) == 0) jump_out_after_deep();
    for (int at = 0; at != 64; ++at) {  // one of them is checked
      ADAPTYST_REGION("hot");
    }
  }).join();
  const profile found = collector.stop();
  support::check_identity(found);
  CHECK(support::lost(found, adaptyst::loss_reason::unmatched) < 1000);
}

TEST_CASE("what is left out is left out in callbacks and under names that are made as well") {
  adaptyst::collector collector(support::options());
  const auto run_event = [] {
    ADAPTYST_REGION("around callbacks");
    const std::string name = "made";
    { ADAPTYST_REGION(name); }
    adaptyst::callback_region::begin("called back").end();
  };
  run_event();
  set_step("around callbacks", ADAPTYST_STEP_SUBTREE + 4);
  constexpr std::uint64_t times = 100000;
  for (std::uint64_t at = 0; at != times; ++at) run_event();
  const profile found = collector.stop();
  support::check_account(found);
  for (const char* const name : {"made", "called back"}) {
    const region& row = support::find(found, {"around callbacks", name});
    CHECK(row.timed_events.value_or(times) < times / 4);
    check_estimate(row, times + 1);
  }
  CHECK(found.regions.size() == 3);
}

// Two programs on one core: what one of them does is not the other's.
TEST_CASE("a timed event in which another thread had the core lasts no longer for it") {
  const on_one_core here;
  const busy_thread other;
  adaptyst::collector collector(support::options());
  const auto step = [] {
    ADAPTYST_REGION("long");
    for (int part = 0; part != 100; ++part) rest();
  };
  step();
  set_step("long", ADAPTYST_STEP_RECORDER + 1);  // half of all switches are in a sample
  const double begin_ns = thread_cpu_ns();
  repeat(1000ms, step);
  const double used_ns = thread_cpu_ns() - begin_ns;
  const auto total_ns = static_cast<double>(support::find(collector.stop(), {"long"}).total_ns);
  INFO(total_ns << " ns in the region, " << used_ns << " of CPU time");
  // With the time of the other thread, it would be twice the CPU time.
  if (&__rseq_size != nullptr && __rseq_size != 0) CHECK(total_ns < 1.5 * used_ns);
  CHECK(total_ns > 0.5 * used_ns);
}

TEST_CASE("when the rate falls every event is recorded again") {
  adaptyst::collector collector(with_budget());
  repeat(400ms, hot);
  REQUIRE(is_sampled("hot"));
  const auto on_a_busy_processor = [] {
    hot();
    for (const auto next = std::chrono::steady_clock::now() + 5ms; std::chrono::steady_clock::now() < next;) rest();
  };
  const auto deadline = std::chrono::steady_clock::now() + 30s;  // a second is needed
  while (is_sampled("hot") && std::chrono::steady_clock::now() < deadline) on_a_busy_processor();
  const region before = support::find(collector.snapshot(), {"hot"});
  REQUIRE(before.timed_events);
  constexpr std::uint64_t times = 60;
  for (std::uint64_t at = 0; at != times; ++at) on_a_busy_processor();
  const region after = support::find(collector.stop(), {"hot"});
  CHECK(after.count - before.count == times);
  CHECK(*after.timed_events - *before.timed_events == times);
  CHECK(after.count_variance == before.count_variance);
}

TEST_CASE("of many intervals of 95 % the markers' counts lie in 95 %", "[coverage]") {
  const int repetitions = support::engine() == "inline" ? 1000 : 200;  // probes take long
  constexpr std::uint64_t times = 5000;
  adaptyst::collector collector(support::options());
  hot();
  set_step("hot", ADAPTYST_STEP_RECORDER + 6);
  region before = support::find(collector.snapshot(), {"hot"});
  CHECK(before.count == 1);
  int covered = 0;
  for (int repetition = 0; repetition != repetitions; ++repetition) {
    for (std::uint64_t at = 0; at != times; ++at) hot();
    const region after = support::find(collector.snapshot(), {"hot"});
    const double variance = after.count_variance.value_or(0) - before.count_variance.value_or(0);
    const double error = static_cast<double>(after.count - before.count) - static_cast<double>(times);
    covered += std::abs(error) <= 1.96 * std::sqrt(variance) ? 1 : 0;
    before = after;
  }
  set_step("hot", ADAPTYST_STEP_ENGINE);
  CHECK(std::abs(static_cast<double>(covered) / repetitions - 0.95) < support::share_tolerance(0.95, repetitions));
  const profile found = collector.stop();
  support::check_account(found);
  check_estimate(support::find(found, {"hot"}), static_cast<std::uint64_t>(repetitions) * times + 1);
}

namespace {

// Events that last as they like: most a microsecond or two, one of 16 with page faults.
class uneven_work {
 public:
  uneven_work() = default;
  ~uneven_work() { munmap(pages_, bytes_); }
  uneven_work(const uneven_work&) = delete;
  uneven_work& operator=(const uneven_work&) = delete;

  void operator()() {
    ADAPTYST_REGION("uneven");
    const std::uint64_t random = random_();
    for (std::uint64_t turn = random % 6000; turn != 0; --turn) __asm__ volatile("" : "+r"(turn));
    if ((random >> 32) % 16 != 0) return;
    for (std::size_t at = 0; at < bytes_; at += 4096) static_cast<volatile char*>(pages_)[at] = 1;
    madvise(pages_, bytes_, MADV_DONTNEED);
  }

 private:
  static constexpr std::size_t bytes_ = 4 * 4096;
  void* pages_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::mt19937_64 random_{1};
};

}  // namespace

// With another thread on the same core, whose time is in none of it. The truth is what the thread used its processor
// for, which holds a few nanoseconds of each event that are not the region's: a small part of an interval.
// docs/overhead-budget.md has the shares of many more repetitions.
TEST_CASE("of many intervals of 95 % the times lie in 95 %, with page faults and two threads on one core",
          "[coverage]") {
  const int repetitions = support::engine() == "inline" ? 100 : 40;
  constexpr std::uint64_t times = 2000;
  cpu_set_t before, own_cpu;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  CPU_ZERO(&own_cpu);
  CPU_SET(sched_getcpu(), &own_cpu);
  REQUIRE(sched_setaffinity(0, sizeof own_cpu, &own_cpu) == 0);
  std::atomic<bool> done{false};
  std::thread other([&done] {
    while (!done) rest();
  });
  int covered = 0;
  {
    adaptyst::collector collector(support::options());
    uneven_work work;
    work();
    set_step("uneven", ADAPTYST_STEP_RECORDER + 4);
    region last = support::find(collector.snapshot(), {"uneven"});
    for (int repetition = 0; repetition != repetitions; ++repetition) {
      const double begin_ns = thread_cpu_ns();
      for (std::uint64_t at = 0; at != times; ++at) work();
      const double truth_ns = thread_cpu_ns() - begin_ns;
      const region now = support::find(collector.snapshot(), {"uneven"});
      const double variance = now.total_variance.value_or(0) - last.total_variance.value_or(0);
      const double error_ns = static_cast<double>(now.total_ns - last.total_ns) - truth_ns;
      covered += std::abs(error_ns) <= 1.96 * std::sqrt(variance) ? 1 : 0;
      last = now;
    }
    set_step("uneven", ADAPTYST_STEP_ENGINE);
  }
  done = true;
  other.join();
  REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
  const double share = static_cast<double>(covered) / repetitions;
  INFO(share);
  if (&__rseq_size == nullptr || __rseq_size == 0) return;  // the other's time is not reported
  CHECK(std::abs(share - 0.95) < support::share_tolerance(0.95, repetitions));
}

#ifndef ADAPTYST_TEST_SANITIZED  // with one, a region costs more than 2 % of that
TEST_CASE("regions of 5 us are not sampled for nothing, of 50 us where the kernel looks") {
  const auto length = support::engine() == "inline" ? 5us : 50us;  // a probe may take 100 ns by itself, 2 % of 5 us
  adaptyst::collector collector(with_budget());
  const std::uint64_t times = repeat(500ms, [length] {
    ADAPTYST_REGION("long enough");
    const auto end = std::chrono::steady_clock::now() + length;
    while (std::chrono::steady_clock::now() < end) {}
  });
  const region row = support::find(collector.stop(), {"long enough"});
  CHECK_FALSE(row.timed_events);
  CHECK(row.count == times);
}
#endif

// A thread in a library finds its recorder by the place where it stands, where one that has ended may have stood
// before.
TEST_CASE("in a library, on threads that come and go, every event has the same chance") {
  constexpr int rounds = 1000;
  constexpr int threads = 4;
  constexpr int times = 200;
  adaptyst::collector collector(support::options());
  void* const plugin = dlopen(ADAPTYST_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(plugin != nullptr);
  const auto run = reinterpret_cast<void (*)(int)>(dlsym(plugin, "run"));
  REQUIRE(run != nullptr);
  run(1);
  set_step("plugin", ADAPTYST_STEP_RECORDER + 6);
  for (int round = 0; round != rounds; ++round) {
    std::thread some[threads];
    std::atomic<int> turn{0};
    for (int at = 0; at != threads; ++at)
      some[at] = std::thread([&turn, run, mine = round % 2 == 0 ? at : threads - 1 - at] {
        while (turn != mine) std::this_thread::yield();
        run(times);
        ++turn;
        while (turn != threads) std::this_thread::yield();
      });
    for (std::thread& thread : some) thread.join();
  }
  set_step("plugin", ADAPTYST_STEP_ENGINE);
  dlclose(plugin);
  const profile found = collector.stop();
  support::check_account(found);
  check_estimate(support::find(found, {"plugin"}), threads * rounds * times + 1);
}

TEST_CASE("what is left out is not evaluated") {
  struct amount {
    int bytes;
  };
  adaptyst::collector collector(support::options());
  std::uint64_t read = 0;
  const auto amount_now = [&read] { return ++read, amount{1}; };
  const auto run_event = [&] { ADAPTYST_REGION("with payload", amount_now()); };
  run_event();
  set_step("with payload", ADAPTYST_STEP_RECORDER + 6);
  constexpr std::uint64_t times = 100000;
  for (std::uint64_t at = 0; at != times; ++at) run_event();
  const profile found = collector.stop();
  const region& row = support::find(found, {"with payload"});
  CHECK(read <= *row.timed_events + 1);  // the first on this step, before which nothing was drawn
  CHECK(read < times / 10);
  check_estimate(row, times + 1);
  const adaptyst::attribute& bytes = row.attributes.at("bytes");
  CHECK(bytes.sum == static_cast<double>(row.count));
}

TEST_CASE("a region that a jump leaves is lost with its weight") {
  adaptyst::collector collector(support::options());
  hot();
  { ADAPTYST_REGION("left"); }
  set_step("left", ADAPTYST_STEP_RECORDER + 2);
  for (int at = 0; at != 4000; ++at) {
    ADAPTYST_REGION("around");
    const auto token = [] {  // a scope that is never ended
      ADAPTYST_DETAIL_SITE(site, ADAPTYST_SITE_REGION, "function", "left behind");
      return adaptyst::detail::begin_named(site);
    };
    token();
    set_step("left behind", ADAPTYST_STEP_RECORDER + 2);
  }
  const profile found = collector.stop();
  support::check_account(found);
  const double error = std::sqrt(3.0 * 4000);
  CHECK(std::abs(static_cast<double>(support::lost(found, adaptyst::loss_reason::unmatched)) - 4000) < 6 * error);
}

TEST_CASE("the account of every snapshot balances, whatever runs and is left out meanwhile") {
  adaptyst::collector collector(with_budget());
  std::atomic<bool> done{false};
  const auto work = [&done] {
    while (!done) {
      ADAPTYST_REGION("outer");
      for (int at = 0; at != 100; ++at) hot();
    }
  };
  std::thread thread(work), other(work);
  const auto end = std::chrono::steady_clock::now() + 400ms;
  int snapshots = 0, unbalanced = 0;
  while (std::chrono::steady_clock::now() < end) {
    const adaptyst::account found = collector.snapshot().accounting;
    std::uint64_t sum = found.ended + found.open;
    for (const auto& [reason, count] : found.lost) sum += count;
    unbalanced += found.begun == sum ? 0 : 1;
    ++snapshots;
  }
  done = true;
  thread.join();
  other.join();
  CHECK(unbalanced == 0);
  CHECK(snapshots > 2);
  support::check_identity(collector.stop());
}
