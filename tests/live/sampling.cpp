// Samples of this very program: that they fall where its time went, whatever its rhythm, and that what is lost is
// counted.
#include <adaptyst/region.hpp>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "chance.hpp"
#include "collecting.hpp"
#include "discover/process_objects.hpp"
#include "kernel/context_probes.hpp"
#include "kernel/sampler.hpp"

namespace {

using clock_type = std::chrono::steady_clock;
using adaptyst::lib::thread_state;
using std::chrono::duration;

volatile unsigned long sink = 0;

clock_type::duration seconds(double time) {
  return std::chrono::duration_cast<clock_type::duration>(duration<double>(time));
}

// Of this thread on a core: as many samples are taken of a busy machine as of an idle one.
double on_core_seconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// A loop that works by the clock, its steps always as long, or anew at random; for a time on a core.
void alternate(double first_us, double second_us, bool random, double time) {
  std::minstd_rand numbers(7);
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  const auto length = [&](double us) { return seconds(us * 1e-6 * (random ? factor(numbers) : 1)); };
  for (const double end = on_core_seconds() + time; on_core_seconds() < end;) {
    {
      ADAPTYST_REGION("first");
      for (const auto until = clock_type::now() + length(first_us); clock_type::now() < until;) sink = sink + 1;
    }
    {
      ADAPTYST_REGION("second");
      for (const auto until = clock_type::now() + length(second_us); clock_type::now() < until;) sink = sink + 1;
    }
  }
}

struct shares {
  double of_samples, of_core, samples;

  double off_by() const { return std::abs(of_samples - of_core); }
  double chance() const { return support::share_tolerance(of_core, samples); }
};

// Of the first of two regions: in the samples, and in the time on a core, which the kernel knows from its switches.
shares measure(const std::string& options, double length_us, bool random, double time) {
  adaptyst::collector collector(options + ",context=samples,sample_frequency=2999");
  alternate(0.7 * length_us, 0.3 * length_us, random, time);
  const adaptyst::profile found = collector.stop();
  const adaptyst::region& first = support::find(found, {"first"});
  const adaptyst::region& second = support::find(found, {"second"});
  REQUIRE(found.samples);
  REQUIRE(first.samples);
  REQUIRE(second.samples);
  REQUIRE(*first.samples + *second.samples > 500);
  CHECK(found.samples->samples >= *first.samples + *second.samples);
  for (const auto& [why, count] : found.samples->lost) {  // some stack is deeper than what is kept, now and then
    INFO(count << " lost: " << to_string(why));
    CHECK((why == adaptyst::loss_reason::truncated && count < found.samples->samples / 20));
  }
  const auto share = [](double a, double b) { return a / (a + b); };
  const auto on_core_ns = [](const adaptyst::region& region) {
    REQUIRE(region.self_context);
    REQUIRE(region.self_context->on_cpu_ns());
    return static_cast<double>(*region.self_context->on_cpu_ns());
  };
  // What they stand for is the time on a core, too.
  const double samples = static_cast<double>(*first.samples + *second.samples);
  const double stands_for = samples * static_cast<double>(*found.samples->period_ns());
  CHECK(stands_for == Approx(on_core_ns(first) + on_core_ns(second)).epsilon(support::count_tolerance(samples)));
  return {share(static_cast<double>(*first.samples), static_cast<double>(*second.samples)),
          share(on_core_ns(first), on_core_ns(second)), samples};
}

__attribute__((noinline)) int descend(int levels, double time) {
  if (levels != 0) {
    const int below = descend(levels - 1, time);
    sink = sink + 1;
    return below + 1;
  }
  for (const double end = on_core_seconds() + time; on_core_seconds() < end;) sink = sink + 1;
  return 0;
}

std::uint64_t lost(const adaptyst::lib::sample_sums& in, adaptyst::loss_reason why) {
  const auto found = in.usage.lost.find(why);
  return found != in.usage.lost.end() ? found->second : 0;
}

}  // namespace

TEST_CASE("samples fall into regions as the time on a core does") {
  for (const bool random : {false, true}) {
    const shares found = measure(support::options(), 100, random, 3);
    CAPTURE(random, found.of_samples, found.of_core, found.samples);
    CHECK(found.off_by() < found.chance());
  }
}

// A sample delays such a loop by a little, and so moves it against a clock of fixed period: where the period is nearly
// a multiple of the loop's, samples meet it always at the same place, and shares are off by up to 0.13.
TEST_CASE("samples do not lock on to a loop that works by the clock") {
  for (const double length_us : {109.5, 110.0, 110.5, 111.0}) {
    const shares found = measure("report=none,engine=inline,overhead=none", length_us, false, 1.2);
    CAPTURE(length_us, found.of_samples, found.of_core, found.samples);
    CHECK(found.off_by() < found.chance());
  }
}

TEST_CASE("stacks off the core add up to what the kernel books as blocked") {
  const std::string file = "/tmp/adaptyst-sampling-" + std::to_string(getpid()) + ".folded";
  adaptyst::collector collector(support::options() + ",output=" + file);
  std::thread worker([] {
    ADAPTYST_REGION("naps");
    for (int round = 0; round != 50; ++round) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  worker.join();
  const adaptyst::profile found = collector.stop();
  double blocked_us = 0;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);)
    if (line.find(";naps;[blocked];") != std::string::npos) blocked_us += std::stod(line.substr(line.rfind(' ')));
  std::remove(file.c_str());
  const adaptyst::region& naps = support::find(found, {"naps"});
  REQUIRE(naps.context);
  CHECK(blocked_us > 400'000);
  CHECK(blocked_us * 1e3 == Approx(static_cast<double>(naps.context->blocked_ns())).epsilon(0.05));
  double of_frames_ns = 0;
  for (const adaptyst::region_stacks& stack : found.stacks)
    if (stack.region == naps.id)
      for (const adaptyst::sampled_frame& frame : stack.frames) of_frames_ns += static_cast<double>(frame.blocked_ns);
  CHECK(of_frames_ns == Approx(blocked_us * 1e3).epsilon(0.01));
  CHECK(found.machines.size() == 1);
  CHECK(found.processes.front().parent == getppid());
}

TEST_CASE("samples that were not asked for are absent") {
  adaptyst::collector collector(support::options());
  { ADAPTYST_REGION("unsampled"); }
  const adaptyst::profile found = collector.stop();
  CHECK_FALSE(found.samples);
  CHECK_FALSE(support::find(found, {"unsampled"}).samples);
}

TEST_CASE("stacks without room, and frames beyond what is kept, are counted, and no sample is lost for it") {
  const adaptyst::lib::context_probes context(false, getpid(), false, nullptr);
  adaptyst::lib::sampler_options few;
  few.frequency = 4999;
  few.max_stacks = 2;
  adaptyst::lib::sampler sampler(context, few);
  for (int levels = 1; levels != 20; ++levels) descend(levels, 0.02);
  descend(300, 0.1);
  sampler.stop();
  const adaptyst::lib::sample_sums found = sampler.read();
  CHECK(found.stacks.size() <= 2);
  CHECK(lost(found, adaptyst::loss_reason::stacks_full) > 0);
  CHECK(lost(found, adaptyst::loss_reason::truncated) > 0);
  std::uint64_t counted = 0;
  std::uint64_t without_stack = 0;
  for (const adaptyst::lib::sample_row& row : found.rows) {
    if (row.state != thread_state::on_cpu) continue;
    counted += row.count;
    if (row.user == 0) without_stack += row.count;
  }
  CHECK(counted == found.usage.samples);
  CHECK(counted > 100);
  CHECK(without_stack > 0);
}

TEST_CASE("threads without markers are sampled with tables that grow") {
  const adaptyst::lib::context_probes context(false, getpid(), false, nullptr);
  adaptyst::lib::sampler_options grows;
  grows.frequency = 4999;
  grows.only_unmarked = true;
  adaptyst::lib::sampler sampler(context, grows);
  for (int levels = 1; levels != 20; ++levels) descend(levels, 0.02);
  sampler.stop();
  const adaptyst::lib::sample_sums found = sampler.read();
  std::uint64_t counted = 0, without_stack = 0;
  for (const adaptyst::lib::sample_row& row : found.rows) {
    counted += row.count;
    if (row.user == 0 || found.stacks.count(row.user) == 0) without_stack += row.count;
  }
  CHECK(counted == found.usage.samples);
  CHECK(counted > 100);
  CHECK(without_stack == 0);
  CHECK(lost(found, adaptyst::loss_reason::stacks_full) == 0);
}

TEST_CASE("functions of the kernel have the names of its list") {
  std::ifstream list("/proc/kallsyms");
  std::map<std::uint64_t, std::set<std::string>> names;
  for (std::string line; std::getline(list, line);) {
    const std::size_t name = line.find(' ') + 3;
    names[std::stoull(line, nullptr, 16)].insert(line.substr(name, line.find('\t') - name));
  }
  names.erase(0);  // the list hides addresses from most users
  const adaptyst::lib::context_probes context(false, getpid(), false, nullptr);
  const adaptyst::lib::sampler sampler(context, {});
  std::size_t at = 0, compared = 0;
  for (const auto& [address, here] : names) {
    if (++at % 499 != 0) continue;
    CAPTURE(address);
    CHECK(here.count(sampler.find_kernel_function(address)) == 1);
    ++compared;
  }
  CHECK((compared > 50 || geteuid() != 0));
  CHECK(sampler.find_kernel_function(0x1000).empty());
}
