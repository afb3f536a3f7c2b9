// What sampling costs a program that computes: CPU time of the same work, in marked steps, sampled and not.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "measure.hpp"

namespace bench {

namespace {

constexpr std::uint64_t steps = 12'000;  // of some 10 us
constexpr unsigned rounds = 15;

volatile std::uint64_t sink = 0;

[[gnu::noinline]] void compute() {
  ADAPTYST_REGION("computes");
  std::uint64_t value = sink;
  for (int at = 0; at != 10'000; ++at) value = (value ^ (value >> 29)) * 0x9E3779B97F4A7C15U;
  sink = value;
}

// The kernel's sampling clock for this thread, without a buffer: what its interrupts cost if no sample is taken.
class bare_clock {
 public:
  explicit bare_clock(std::uint64_t hz) {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_SOFTWARE;
    wanted.config = PERF_COUNT_SW_CPU_CLOCK;
    wanted.exclude_kernel = 1;
    if (hz == 0) return;
    wanted.sample_period = 1'000'000'000 / hz;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (file_ < 0) throw std::system_error(errno, std::generic_category(), "perf_event_open");
  }
  ~bare_clock() {
    if (file_ >= 0) close(file_);
  }
  bare_clock(const bare_clock&) = delete;
  bare_clock& operator=(const bare_clock&) = delete;

 private:
  int file_ = -1;
};

double work_ns(const char* context, std::uint64_t clock_hz = 0) {
  const adaptyst::collector collector(std::string("engine=inline,report=none,") + context);
  const bare_clock clock(clock_hz);
  for (std::uint64_t at = 0; at != steps / 20; ++at) compute();
  const double begin = thread_cpu_ns();
  for (std::uint64_t at = 0; at != steps; ++at) compute();
  return thread_cpu_ns() - begin;
}

double added_percent(const char* context, std::uint64_t clock_hz = 0) {
  return 100 * (alternately(
                    rounds, [&] { return work_ns(context, clock_hz); }, [] { return work_ns("context=cpu"); })
                    .ratio -
                1);
}

}  // namespace

double marked_work_ns() {
  for (std::uint64_t at = 0; at != steps / 20; ++at) compute();
  const double begin = thread_cpu_ns();
  for (std::uint64_t at = 0; at != 10 * steps; ++at) compute();
  return thread_cpu_ns() - begin;
}

void samples(measurements& results) {
  if (!adaptyst::collector("engine=inline,report=none,context=samples").snapshot().samples) return;  // not permitted
  results["sample_overhead_percent"] = added_percent("context=cpu,samples");
  results["sample_nothing_percent"] = added_percent("context=cpu");     // what the machine makes of no difference
  results["sample_floor_percent"] = added_percent("context=cpu", 997);  // interrupts alone
  // Ten times as often, where it stands out from that.
  results["sample_ns"] = added_percent("context=cpu,samples,sample_frequency=9970") / 100 / 9970 * 1e9;
}

}  // namespace bench
