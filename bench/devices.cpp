// What an operation of a device costs, from submit() to complete(), against the four times that it consists of, and
// next to another thread that does the same; and what an event costs that goes into a timeline as well.
#include <adaptyst/collector.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/profile.hpp>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "measure.hpp"

namespace bench {

namespace {

const adaptyst::device device{adaptyst::device_kind::other, 0, "simulated, for the benchmark"};

// Operations one after the other, in a time that is still to come.
class operations {
 public:
  explicit operations(unsigned queue = 0) : queue_(queue) {}

  void submit_next() {
    adaptyst::operation op = adaptyst::submit("operation", device, queue_, adaptyst::operation_kind::kernel);
    op.complete(next_ns_, next_ns_ + 10);
    next_ns_ += 20;
  }

 private:
  unsigned queue_;
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

double thread_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

// What one costs each of so many threads that do nothing else, on average. In time of a processor: a machine that has
// others to serve as well would double it.
double on_threads(unsigned threads, std::uint64_t times) {
  std::vector<double> cost(threads);
  std::vector<std::thread> running;
  running.reserve(threads);
  std::atomic<unsigned> ready{0};
  for (unsigned at = 0; at != threads; ++at)
    running.emplace_back([&, at] {
      operations own(at);
      ++ready;
      while (ready != threads) {}
      const double begin = thread_ns();
      for (std::uint64_t done = 0; done != times; ++done) own.submit_next();
      cost[at] = (thread_ns() - begin) / static_cast<double>(times);
    });
  for (std::thread& thread : running) thread.join();
  double sum = 0;
  for (const double thread_cost : cost) sum += thread_cost;
  return sum / threads;
}

}  // namespace

void devices(measurements& results) {
  constexpr std::uint64_t times = 500'000;
  adaptyst::collector collector("engine=inline,overhead=none,report=none");
  operations all;
  const pair found = alternately(
      15, [&] { return step_ns(times, [&] { all.submit_next(); }); }, [] { return step_ns(times, four_timestamps); });
  results["operation_ns"] = found.first;
  results["four_timestamps_ns"] = found.second;
  results["operation_over_floor"] = found.ratio;

  const pair threads = alternately(
      15, [] { return on_threads(2, times); }, [] { return on_threads(1, times); });
  results["operation_on_two_threads_ns"] = threads.first;
  results["operation_two_threads_over_one"] = threads.ratio;
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
