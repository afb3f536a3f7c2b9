// The arithmetic of the overhead budget: on programs that are made up, second by second.
#include "session/overhead_budget.hpp"

#include <adaptyst/detail/site_step.hpp>
#include <cstdint>
#include <map>
#include <random>
#include <unordered_map>

#include "catch.hpp"
#include "kernel/kernel_sampling.hpp"

namespace {

using adaptyst::lib::allowed_sampling;
using adaptyst::lib::event_costs;
using adaptyst::lib::marker_load;
using adaptyst::lib::overhead_budget;

constexpr event_costs make_costs(double engine_ns) {
  event_costs made;
  made.engine_ns = engine_ns;
  made.recorder_ns = made.sampled_ns = 40;
  made.left_out_ns = 1;
  made.left_out_around_ns = 3;
  return made;
}
constexpr event_costs is_in_kernel = make_costs(280);
constexpr event_costs in_program = make_costs(22);
constexpr std::uint64_t second = 1'000'000'000;

// A process that uses one processor, looked at ten times a second.
class made_up {
 public:
  explicit made_up(const event_costs& costs, double share = 0.02) : costs_(costs), budget_(share, costs) {}

  void runs(std::uint64_t marker, double per_second, allowed_sampling allowed = allowed_sampling::single) {
    rates_[marker] = per_second;
    loads_[marker].marker = marker;
    loads_[marker].allowed = allowed;
  }
  // So much of its events lie right inside those of another.
  void lies_in(std::uint64_t marker, std::uint64_t around, double share = 1) { shares_[marker][around] = share; }
  void pass(double seconds) {
    for (double left = seconds; left > 0.05; left -= 0.1) {
      now_ns_ += second / 10;
      std::vector<marker_load> all;
      for (auto& [marker, load] : loads_) {
        load.events += static_cast<std::uint64_t>(rates_[marker] * 0.1 * noise_(random_));
        for (const auto& [around, share] : shares_[marker])
          inside_[marker][around] = static_cast<std::uint64_t>(share * static_cast<double>(load.events));
        load.inside = &inside_[marker];
        all.push_back(load);
      }
      for (const auto& change : budget_.decide({now_ns_, now_ns_ - 5 * second, context_share_, traced_ns}, all)) {
        loads_[change.marker].step = change.step;
        ++changes;
      }
    }
  }
  void context_costs(double share) { context_share_ = share; }
  void make_noise(double share) { noise_ = std::uniform_real_distribution<double>(1 - share, 1 + share); }
  std::uint32_t step(std::uint64_t marker) { return loads_[marker].step; }
  double cost() {
    double sum = 0;
    for (const auto& [marker, load] : loads_) sum += rates_[marker] * costs_.on(load.step) * 1e-9;
    return sum;
  }

  int changes = 0;
  double traced_ns = 0;

 private:
  event_costs costs_;
  double context_share_ = 0;
  overhead_budget budget_;
  std::map<std::uint64_t, marker_load> loads_;
  std::map<std::uint64_t, double> rates_;
  std::map<std::uint64_t, std::map<std::uint64_t, double>> shares_;
  std::map<std::uint64_t, std::unordered_map<std::uint64_t, std::uint64_t>> inside_;
  std::uint64_t now_ns_ = 5 * second;
  std::mt19937_64 random_{1};
  std::uniform_real_distribution<double> noise_{1, 1.0000001};
};

}  // namespace

TEST_CASE("what costs less than the budget stays where it is") {
  made_up program(is_in_kernel);
  program.runs(1, 50'000);  // 1.4 %
  program.pass(20);
  CHECK(program.changes == 0);
}

TEST_CASE("what costs more goes down at the first look, and no farther than it must") {
  made_up program(is_in_kernel);
  program.runs(1, 200'000);  // 5.6 % in the kernel, 0.8 % in the program's recorder
  program.pass(0.1);
  CHECK(program.step(1) == ADAPTYST_STEP_RECORDER);
  made_up faster(in_program);
  faster.runs(1, 5'000'000);  // 11 %; 0.5 % for leaving out
  faster.pass(0.1);
  CHECK(faster.step(1) == ADAPTYST_STEP_RECORDER + 4);
  CHECK(faster.cost() < 0.02);
  CHECK(faster.cost() > 0.01);
}

TEST_CASE("the hottest pay") {
  made_up program(is_in_kernel);
  program.runs(1, 10'000'000);
  program.runs(2, 1'000'000);
  program.runs(3, 1'000);
  program.runs(4, 10);
  program.pass(0.5);
  CHECK(program.step(1) > program.step(2));
  CHECK(program.step(2) > ADAPTYST_STEP_RECORDER);
  CHECK(program.step(3) == ADAPTYST_STEP_ENGINE);
  CHECK(program.step(4) == ADAPTYST_STEP_ENGINE);
  CHECK(program.cost() < 0.02);
}

TEST_CASE("leaving out may cost the budget by itself: the rest is still recorded often enough") {
  made_up program(in_program);
  program.runs(1, 40'000'000);  // 4 %
  program.pass(3);
  CHECK(program.cost() > 0.04);
  CHECK(program.cost() < 0.0426);
  CHECK(program.step(1) > ADAPTYST_STEP_RECORDER);
  CHECK(program.step(1) < ADAPTYST_STEP_SUBTREE);
}

TEST_CASE("a marker that cannot do with less does not take what the others need") {
  made_up program(in_program);
  program.runs(1, 5'000'000, allowed_sampling::none);  // 11 %, as it has events inside its own
  program.runs(2, 20'000'000);
  program.runs(3, 5'000'000);
  program.make_noise(0.05);
  program.pass(10);
  for (const std::uint64_t marker : {2U, 3U}) {
    CHECK(program.step(marker) >= ADAPTYST_STEP_RECORDER + 7);
    CHECK(program.step(marker) <= ADAPTYST_STEP_RECORDER + 12);
  }
}

TEST_CASE("a marker with events inside its own is never left out, and goes back where this shows late") {
  made_up program(is_in_kernel);
  program.runs(1, 5'000'000, allowed_sampling::recorder);
  program.runs(2, 5'000'000);
  program.pass(1);
  CHECK(program.step(1) == ADAPTYST_STEP_RECORDER);
  CHECK(program.step(2) > ADAPTYST_STEP_RECORDER);
  program.runs(2, 5'000'000, allowed_sampling::recorder);
  program.pass(0.1);
  CHECK(program.step(2) == ADAPTYST_STEP_RECORDER);
}

TEST_CASE("steps go up again when half the budget would do for a second") {
  made_up program(is_in_kernel);
  program.runs(1, 3'000'000);
  program.pass(2);
  const std::uint32_t down = program.step(1);
  REQUIRE(down > ADAPTYST_STEP_RECORDER);
  program.runs(1, 20'000);  // 0.56 %
  program.pass(0.9);
  CHECK(program.step(1) == down);
  program.pass(0.3);
  CHECK(program.step(1) == ADAPTYST_STEP_ENGINE);
  // Not while it is only a little less.
  program.runs(1, 3'000'000);
  program.pass(0.1);
  CHECK(program.step(1) == down);
  CHECK(down == ADAPTYST_STEP_RECORDER + 3);
  program.runs(1, 1'500'000);  // 1.65 % as 1 of 4, 0.9 % as 1 of 8
  program.pass(10);
  CHECK(program.step(1) == down);
  program.runs(1, 800'000);  // 0.88 % as 1 of 4
  program.pass(1.3);
  CHECK(program.step(1) == ADAPTYST_STEP_RECORDER + 2);
}

TEST_CASE("rates that vary move no marker up and down") {
  made_up program(is_in_kernel);
  program.make_noise(0.3);
  program.runs(1, 2'000'000);
  program.runs(2, 1'900'000);
  program.runs(3, 40'000);
  program.pass(2);
  const int settled = program.changes;
  program.pass(120);
  CHECK(program.changes - settled <= 6);
}

TEST_CASE("bursts shorter than a second leave a marker down") {
  made_up program(is_in_kernel);
  program.runs(1, 2'000'000);
  program.pass(1);
  const int settled = program.changes;
  for (int burst = 0; burst != 30; ++burst) {
    program.runs(1, 1000);
    program.pass(0.5);
    program.runs(1, 2'000'000);
    program.pass(0.3);
  }
  CHECK(program.changes - settled <= 1);
}

TEST_CASE("up again, but only to where half the budget would have done all that second") {
  made_up program(is_in_kernel);
  program.runs(1, 3'000'000);
  program.pass(2);
  REQUIRE(program.step(1) > ADAPTYST_STEP_RECORDER);
  program.runs(1, 100'000);  // 2.8 % in the kernel, 0.4 % in the program's recorder
  program.pass(0.6);
  program.runs(1, 1'000);
  program.pass(0.6);
  CHECK(program.step(1) == ADAPTYST_STEP_RECORDER);
  program.pass(1.2);
  CHECK(program.step(1) == ADAPTYST_STEP_ENGINE);
}

TEST_CASE("a marker that is found on a step goes on from there") {
  overhead_budget budget(0.02, is_in_kernel);
  const auto decide_at = [&](std::uint64_t at_ns, std::uint64_t events) {
    return budget.decide({at_ns, at_ns, 0}, {{1, events, allowed_sampling::single, 5, nullptr}});
  };
  CHECK(decide_at(1 * second, 10).empty());
  const auto changes = decide_at(2 * second, 20);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].step == ADAPTYST_STEP_ENGINE);
}

TEST_CASE("counts that begin anew are those of a new collection, not of 2^64 events") {
  overhead_budget budget(0.02, is_in_kernel);
  CHECK(budget.decide({1 * second, 1 * second, 0}, {{1, 50, allowed_sampling::single, 0, nullptr}}).empty());
  CHECK(budget.decide({2 * second, 2 * second, 0}, {{1, 10, allowed_sampling::single, 0, nullptr}}).empty());
}

TEST_CASE("in less than 2 ms of CPU time a rate says nothing, unless a second has passed") {
  overhead_budget budget(0.02, is_in_kernel);
  constexpr std::uint64_t ms = second / 1000;
  const auto decide_at = [&](std::uint64_t at_ns, std::uint64_t cpu_ns, std::uint64_t events) {
    return budget.decide({at_ns, cpu_ns, 0}, {{1, events, allowed_sampling::single, 0, nullptr}}).size();
  };
  CHECK(decide_at(1 * second, 1 * second, 0) == 0);
  CHECK(decide_at(1 * second + 10 * ms, 1 * second + ms, 100'000) == 0);
  CHECK(decide_at(1 * second + 20 * ms, 1 * second + 2 * ms, 100'000) == 1);
  CHECK(decide_at(2 * second + 20 * ms, 1 * second + 3 * ms, 10'000'000) == 1);
}

TEST_CASE("what context and samples cost is not there for markers, but an eighth is always") {
  made_up program(is_in_kernel);
  program.runs(1, 50'000);  // 1.4 %
  program.context_costs(0.015);
  program.pass(0.1);
  CHECK(program.step(1) == ADAPTYST_STEP_RECORDER);
  made_up hot(in_program);
  hot.runs(1, 5'000'000);
  hot.context_costs(0.05);
  hot.pass(0.1);
  CHECK(hot.step(1) == ADAPTYST_STEP_RECORDER + 7);
}

TEST_CASE("events in a timeline count with what it costs, and those that are left out of it do not") {
  made_up program(in_program);
  program.runs(1, 100'000);  // 0.2 %
  program.pass(1);
  CHECK(program.step(1) == ADAPTYST_STEP_ENGINE);
  program.traced_ns = 1000;  // 10 %
  program.pass(1);
  CHECK(program.step(1) > ADAPTYST_STEP_RECORDER);
  CHECK(program.cost() < 0.02);
}

TEST_CASE("the few large regions around all others are not left out, however many these are") {
  made_up program(in_program);
  program.runs(1, 50, allowed_sampling::with_subtree);
  program.runs(2, 3'000, allowed_sampling::with_subtree);
  program.runs(3, 10'000'000, allowed_sampling::with_subtree);
  program.runs(4, 60'000'000);
  program.lies_in(2, 1);
  program.lies_in(3, 2);
  program.lies_in(4, 3);
  program.pass(1);
  CHECK(program.step(1) == ADAPTYST_STEP_ENGINE);
  CHECK(program.step(2) <= ADAPTYST_STEP_SUBTREE + 1);
  CHECK(program.step(3) > ADAPTYST_STEP_SUBTREE + 8);
}

TEST_CASE("a region nested in a sampled region is sampled with it, and not once more") {
  made_up program(in_program);
  program.runs(1, 5'000'000, allowed_sampling::with_subtree);
  program.runs(2, 5'000'000, allowed_sampling::with_subtree);
  program.runs(3, 5'000'000);
  program.lies_in(2, 1);
  program.lies_in(3, 2);
  program.pass(0.1);
  CHECK(program.step(1) > ADAPTYST_STEP_SUBTREE);
  CHECK(program.step(2) == ADAPTYST_STEP_ENGINE);
  CHECK(program.step(3) == ADAPTYST_STEP_ENGINE);
}

TEST_CASE("a region nested in a rare region is sampled separately") {
  made_up program(in_program);
  program.runs(1, 10, allowed_sampling::with_subtree);
  program.runs(2, 5'000'000);
  program.lies_in(2, 1);
  program.pass(0.1);
  CHECK(program.step(1) == ADAPTYST_STEP_ENGINE);
  CHECK(program.step(2) > ADAPTYST_STEP_RECORDER);
  CHECK(program.step(2) <= ADAPTYST_STEP_SUBTREE);
}

TEST_CASE("of what lies in two regions, that which is not sampled along is sampled by itself") {
  made_up program(in_program);
  program.runs(1, 2'000'000, allowed_sampling::with_subtree);
  program.runs(2, 10, allowed_sampling::with_subtree);
  program.runs(3, 8'000'000);
  program.lies_in(3, 1, 0.5);
  program.lies_in(3, 2, 0.5);
  program.pass(0.1);
  CHECK(program.step(1) > ADAPTYST_STEP_SUBTREE);
  CHECK(program.step(2) == ADAPTYST_STEP_ENGINE);
  CHECK(program.step(3) > ADAPTYST_STEP_RECORDER);
}

TEST_CASE("markers that lie in each other, in themselves, or in an unknown one do no harm") {
  made_up program(in_program);
  for (const std::uint64_t marker : {1U, 2U, 3U}) program.runs(marker, 5'000'000, allowed_sampling::with_subtree);
  program.lies_in(1, 2);
  program.lies_in(2, 1);
  program.lies_in(3, 3, 0.5);
  program.lies_in(3, 99, 5);  // more often than it ran
  program.pass(1);
  for (const std::uint64_t marker : {1U, 2U, 3U}) CHECK(program.step(marker) <= ADAPTYST_STEP_LAST);
  CHECK(program.step(1) + program.step(2) > ADAPTYST_STEP_SUBTREE);
}

namespace {

// A process with page faults, of which each recorded one costs 150 ns; refreshed ten times in a second of CPU time. With
// windows, a block ends before each refresh.
class faulting {
 public:
  // `attached`: by an observer that detaches in time or late, in lengths of a window; `attach_ns`: for each window.
  explicit faulting(double share, double attached = 1.4, std::uint64_t attach_ns = 700'000)
      : sampling_(adaptyst::lib::page_fault_events, share, 0), attached_(attached), attach_ns_(attach_ns) {}

  void pass(double seconds, double per_second, double ns_for_each = 150) {
    for (double left = seconds; left > 0.05; left -= 0.1) {
      const double faults = per_second * 0.1;
      cpu_ns_ += second / 10;
      load_.events += static_cast<std::uint64_t>(faults);
      load_.recording_ns +=
          static_cast<std::uint64_t>(ns_for_each * faults / static_cast<double>(1U << step_) / windows());
      if (windows() != 1) {
        load_.blocks_ns += second / 10;
        load_.in_blocks += static_cast<std::uint64_t>(faults);
        load_.uncalled += static_cast<std::uint64_t>(faults * (1 - attached_ / windows()));
        load_.attaching_ns += attach_ns_ * 10 / windows();
        windows_passed_ += 10.0 / windows();
        load_.windows = static_cast<std::uint64_t>(windows_passed_);
        load_.attached_ns = static_cast<std::uint64_t>(static_cast<double>(load_.windows) * attached_ * 10e6);
      }
      step_ = sampling_.decide({cpu_ns_, cpu_ns_}, load_, 0);
    }
  }
  unsigned step() const { return step_; }
  unsigned windows() const { return sampling_.windows(); }
  double cost(double seconds) const {
    return static_cast<double>(load_.cost_ns(adaptyst::lib::page_fault_events)) / 1e9 / seconds;
  }

 private:
  adaptyst::lib::kernel_sampling sampling_;
  adaptyst::lib::event_load load_;
  double attached_;
  std::uint64_t attach_ns_;
  double windows_passed_ = 0;
  std::uint64_t cpu_ns_ = 0;
  unsigned step_ = 0;
};

}  // namespace

TEST_CASE("page faults within the budget are all recorded") {
  faulting program(0.02);
  program.pass(5, 20'000);
  CHECK(program.step() == 0);
  CHECK(program.windows() == 1);
}

TEST_CASE("page faults whose calls fit into the budget are sampled, without windows") {
  faulting program(0.02);
  program.pass(5, 40'000);
  const unsigned before = program.step();
  CHECK(before >= 1);
  CHECK(program.windows() == 1);
  program.pass(0.5, 1'000);
  CHECK(program.step() == before);
  program.pass(1, 1'000);
  CHECK(program.step() == 0);
}

TEST_CASE("page faults beyond the budget have windows at once, and are all recorded again a second later") {
  for (const double per_s : {100'000.0, 280'000.0, 800'000.0}) {
    CAPTURE(per_s);
    faulting program(0.02);
    program.pass(0.1, per_s);
    CHECK(program.windows() >= 8);
    CHECK(program.windows() <= 64);
    const unsigned before = program.windows();
    program.pass(20, per_s);
    CHECK(program.windows() <= before + 2);
    CHECK(program.windows() + 2 >= before);
    CHECK(program.cost(20.1) < 0.0133);
    program.pass(2, 1'000);
    CHECK(program.step() == 0);
    CHECK(program.windows() == 1);
  }
}

TEST_CASE("page faults remain within the budget if an observer of many processes closes windows late") {
  faulting late(0.02, 6);
  late.pass(5, 280'000);
  const double before = late.cost(1);
  late.pass(20, 280'000);
  CHECK(late.cost(1) - before < 20 * 0.0133);
  faulting slow_to_attach(0.02, 1.4, 4'000'000);
  slow_to_attach.pass(5, 280'000);
  const double earlier = slow_to_attach.cost(1);
  slow_to_attach.pass(20, 280'000);
  CHECK(slow_to_attach.cost(1) - earlier < 20 * 0.0133);
}

TEST_CASE("a program that hardly runs has no windows, which would cost more than its page faults") {
  adaptyst::lib::kernel_sampling idle(adaptyst::lib::page_fault_events, 0.02, 0);
  idle.decide({100 * second, second / 10}, {50'000, 0}, 0);
  CHECK(idle.windows() == 1);
  adaptyst::lib::kernel_sampling busy(adaptyst::lib::page_fault_events, 0.02, 0);
  busy.decide({second, 16 * second}, {16 * 280'000, 0}, 0);
  CHECK(busy.windows() >= 8);
}

TEST_CASE("a thousand page faults a second are recorded, whatever the budget") {
  faulting program(0.001);
  program.pass(2, 80'000);
  CHECK(program.windows() == 64);
  CHECK(program.step() == 0);
  faulting slow(0.001);
  slow.pass(2, 900, 1e6);
  CHECK(slow.step() == 0);
}

TEST_CASE("an interrupt in a measured page fault hardly changes their step") {
  faulting program(0.02);
  program.pass(0.1, 340'000, 1e5);
  CHECK(program.step() <= 7);
}

TEST_CASE("thread switches are sampled above half of the budget, with the time of calls, and no coarser than useful") {
  using adaptyst::lib::kernel_sampling;
  using adaptyst::lib::switch_events;
  kernel_sampling rare(switch_events, 0.02, 0);
  CHECK(rare.decide({second, second}, {10'000, 1'500'000}, 0) == 0);  // 0.26 %
  kernel_sampling frequent(switch_events, 0.02, 0);
  // Calls take 0.78 of 1 %, and 0.25 % remains for recording.
  CHECK(frequent.decide({second, second}, {60'000, 9'000'000}, 0) == 2);
  kernel_sampling storm(switch_events, 0.02, 0);
  // Calls take all; 10,000 switches a second remain.
  CHECK(storm.decide({second, second}, {600'000, 90'000'000}, 0) == 5);
  kernel_sampling without_budget(switch_events, 1e-6, 0);
  CHECK(without_budget.decide({second, second}, {6'000'000, 900'000'000}, 0) == switch_events.coarsest);
}

TEST_CASE("ten thousand switches a second are recorded, however little CPU time a program uses") {
  adaptyst::lib::kernel_sampling idle(adaptyst::lib::switch_events, 0.02, 0);
  CHECK(idle.decide({10 * second, second / 20}, {10'000, 1'500'000}, 0) == 0);  // 5 %, in 10 s
  CHECK(idle.decide({20 * second, second / 10}, {600'000, 90'000'000}, 0) == 2);
}

TEST_CASE("stacks of waits leave a budget to the rest of the context") {
  using adaptyst::lib::kernel_sampling;
  using adaptyst::lib::wait_stack_events;
  kernel_sampling alone(wait_stack_events, 0.02, 0);
  CHECK(alone.decide({second, second}, {20'000, 100'000'000}, 0) == 4);
  kernel_sampling not_alone(wait_stack_events, 0.02, 0);
  CHECK(not_alone.decide({second, second}, {20'000, 100'000'000}, 9'000'000) == 4);  // 1,250 stacks a second at least
}
