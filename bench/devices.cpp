// What an operation of a device costs, from submit() to complete(), against the four times that it consists of; and what
// an event costs that goes into a timeline as well.
#include <adaptyst/collector.hpp>
#include <adaptyst/operation.hpp>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "measure.hpp"

namespace bench {

namespace {

const adaptyst::device device{adaptyst::device_kind::other, 0, "simulated, for the benchmark"};

// Operations one after the other, in a time that is still to come.
class operations {
 public:
  void one() {
    adaptyst::operation op = adaptyst::submit("operation", device, 0, adaptyst::operation_kind::kernel);
    op.complete(next_ns_, next_ns_ + 10);
    next_ns_ += 20;
  }

 private:
  std::uint64_t next_ns_ = adaptyst::now_ns() + 1'000'000'000'000;
};

[[gnu::noinline]] void four_timestamps() {
  for (int at = 0; at != 4; ++at) {
    const std::uint64_t now = adaptyst::now_ns();
    __asm__ volatile("" : : "r"(now) : "memory");
  }
}

[[gnu::noinline]] void traced_region() {
  ADAPTYST_REGION("traced");
  __asm__ volatile("");
}

}  // namespace

void devices(results& to) {
  constexpr std::uint64_t times = 500'000;
  adaptyst::collector collector("engine=inline,overhead=none,report=none");
  operations all;
  const pair found = alternately(
      15, [&] { return step_ns(times, [&] { all.one(); }); }, [] { return step_ns(times, four_timestamps); });
  to["operation_ns"] = found.first;
  to["four_timestamps_ns"] = found.second;
  to["operation_over_floor"] = found.ratio;
}

// A ring's worth at a time, and time to write it: what is measured is the program's part, which loses nothing.
double one_trace_event_ns() {
  constexpr std::uint64_t in_a_ring = 65536;
  const std::string file = "/tmp/adaptyst-bench-" + std::to_string(getpid()) + ".trace.json";
  std::vector<double> rounds;
  {
    adaptyst::collector collector("engine=inline,overhead=none,report=none,trace_events=65536,output=" + file);
    for (int round = 0; round != 21; ++round) {
      rounds.push_back(step_ns(in_a_ring - 64, traced_region));
      std::this_thread::sleep_for(std::chrono::milliseconds(150));
    }
    if (collector.stop().timeline->lost != 0) std::fprintf(stderr, "the timeline lost events: no figure\n");
  }
  unlink(file.c_str());
  return median(rounds);
}

}  // namespace bench
