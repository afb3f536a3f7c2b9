// Runs every method in turns and in short slices, so that a change of the machine's speed falls on all of them alike.
#include "comparison.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <exception>
#include <thread>

namespace study {

namespace {

constexpr unsigned pieces = 6;  // of a slice, in turns with the plain program, so that a drift of the machine hits both

struct usage {
  double run_ns, user_ns, system_ns;
};

usage used_so_far() {
  timespec run{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &run);
  rusage split{};
  getrusage(RUSAGE_THREAD, &split);
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return {static_cast<double>(run.tv_sec) * 1e9 + static_cast<double>(run.tv_nsec), ns(split.ru_utime),
          ns(split.ru_stime)};
}

// Adds what doing something so many times takes, after one more time. On a thread of its own: the kernel divides the
// time of a thread by the ticks of its whole life.
template <class Event>
void measure(usage& to, std::uint64_t times, Event&& event) {
  std::thread([&] {
    event();
    const usage begin = used_so_far();
    for (std::uint64_t at = 0; at != times; ++at) event();
    const usage end = used_so_far();
    to.run_ns += end.run_ns - begin.run_ns;
    to.user_ns += end.user_ns - begin.user_ns;
    to.system_ns += end.system_ns - begin.system_ns;
  }).join();
}

template <class Event>
double once_ns(std::uint64_t times, Event&& event) {
  usage all{};
  measure(all, times, event);
  return all.run_ns / static_cast<double>(times);
}

// How often something happens in a time; a call takes 3 ns at least.
std::uint64_t times_in(double whole_ns, double one_ns) {
  return std::max<std::uint64_t>(2, static_cast<std::uint64_t>(whole_ns / std::max(3.0, one_ns)));
}

}  // namespace

comparison::comparison(const std::vector<method>& methods) {
  for (const method& method : methods) methods_.push_back({method});
  calibrate();
}

void comparison::calibrate() {
  constexpr std::size_t many = 1000;
  std::vector<double> step_ns;
  for (int round = 0; round != 25; ++round) step_ns.push_back(once_ns(20, [] { plain_event(many); }) / many);
  const double fastest = *std::min_element(step_ns.begin(), step_ns.end());
  for (std::size_t at = 0; at != rates.size(); ++at)
    steps_[at] = static_cast<std::size_t>(std::lround(rates[at].period_ns / fastest));
}

void comparison::run(unsigned rounds, double slice_ns) {
  for (unsigned round = 0; round != rounds; ++round) {
    for (std::size_t at = 0; at != methods_.size(); ++at) {
      compared& method = methods_[(at + round) % methods_.size()];
      if (method.left_out) continue;
      try {
        turn(method, slice_ns);
      } catch (const std::exception& failed) {
        std::fprintf(stderr, "%s left out: %s\n", method.what.name.c_str(), failed.what());
        method.left_out = true;
      }
    }
  }
}

void comparison::turn(compared& compared, double slice_ns) {
  const method& what = compared.what;
  const std::unique_ptr<attachment> attached = what.attach ? what.attach() : nullptr;
  constexpr std::uint64_t trial = 200;  // the first hits make the kernel optimise a site
  const double cost_ns = once_ns(trial, [&] { what.event(0); });
  if (what.probed != nullptr && *what.probed != what.becomes) {
    std::fprintf(stderr, "%s left out: the kernel did not make 0x%02x of the instruction, but 0x%02x\n",
                 what.name.c_str(), what.becomes, *what.probed);
    compared.left_out = true;
    return;
  }
  std::uint64_t events = trial + 1;
  for (std::size_t at = 0; at != (what.load == measured_with::work ? rates.size() : 1); ++at) {
    const std::size_t steps = steps_[at];
    const std::uint64_t plain_times = times_in(slice_ns / pieces, rates[at].period_ns);
    const std::uint64_t times = times_in(slice_ns / pieces, rates[at].period_ns + cost_ns);
    usage plain{};
    usage with{};
    for (unsigned piece = 0; piece != 2 * pieces; ++piece) {
      const bool plain_is_next = piece % 4 == 0 || piece % 4 == 3;  // neither is always the first of two
      if (plain_is_next) measure(plain, plain_times, [steps] { plain_event(steps); });
      else measure(with, times, [steps, event = what.event] { event(steps); });
    }
    series& series = compared.at[at];
    series.plain_ns.push_back(plain.run_ns / static_cast<double>(pieces * plain_times));
    series.event_ns.push_back(with.run_ns / static_cast<double>(pieces * times));
    series.user_ns += with.user_ns;
    series.system_ns += with.system_ns;
    events += pieces * (times + 1);
  }
  const auto counted = attached ? attached->counted() : std::nullopt;
  if (counted) uncounted_ += std::abs(static_cast<double>(events) - static_cast<double>(*counted));
}

}  // namespace study
