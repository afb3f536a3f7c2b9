// How counters of the processor come to regions, with counters of the kernel in their place, which every machine has:
// what they count, nanoseconds on a core, is known from elsewhere.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <linux/perf_event.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "catch.hpp"
#include "discover/process_objects.hpp"
#include "kernel/counter_probes.hpp"
#include "recorder/recorder_reader.hpp"
#include "support/error.hpp"

namespace {

using namespace std::chrono_literals;
using adaptyst::lib::context_probes;
using adaptyst::lib::context_sums;
using adaptyst::lib::counter_probes;

constexpr adaptyst::lib::counted_event core_time{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK};
constexpr adaptyst::lib::counted_event none{PERF_TYPE_HARDWARE, 0xffff};

// On its core, whatever else wants that.
void spin(std::chrono::milliseconds time) {
  const auto now = [] {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  };
  const auto end = now() + time;
  while (now() < end) {}
}

}  // namespace

TEST_CASE("A counter's events are booked on the regions in which they happen") {
  context_probes context(false, getpid(), false, nullptr);
  for (const adaptyst::lib::process_object& object : adaptyst::lib::loaded_objects()) context.attach(object.file);
  counter_probes counters(context, {core_time, none, core_time});
  adaptyst::collector collector("engine=inline,overhead=none,context=none,report=none");
  {
    ADAPTYST_REGION("long");
    spin(300ms);
    ADAPTYST_REGION("in it");
    spin(100ms);
  }
  {
    ADAPTYST_REGION("asleep");
    std::this_thread::sleep_for(100ms);
  }
  context_sums sums = context.read();
  counters.read(sums);
  const adaptyst::profile profile = collector.stop();
  CHECK(sums.counts_cycles);
  CHECK_FALSE(sums.counts_instructions);  // such a counter is nowhere
  const auto of = [&](const char* name) {
    for (const adaptyst::region& region : profile.regions)
      if (region.path.back() == name) return sums.by_path[region.id];
    return adaptyst::lib::context_part{};
  };
  const auto ms = [](const std::optional<std::uint64_t>& ns) { return static_cast<double>(ns.value_or(0)) * 1e-6; };
  INFO("long " << ms(of("long").cycles) << ", in it " << ms(of("in it").cycles));
  // A hypervisor's share counts on one of the two clocks only.
  CHECK(ms(of("long").cycles) > 200);
  CHECK(ms(of("long").cycles) < 450);
  CHECK(ms(of("in it").cycles) > 67);
  CHECK(ms(of("in it").cycles) < 150);
  CHECK(ms(of("asleep").cycles) < 10);
  CHECK_FALSE(of("long").instructions);
  CHECK(of("long").cache_misses);
}

TEST_CASE("Where nothing can be counted, that is an error which says so") {
  context_probes context(false, getpid(), false, nullptr);
  try {
    const counter_probes counters(context, {none, none, none});
    FAIL("counted what is nowhere");
  } catch (const adaptyst::lib::error& refused) {
    CHECK(std::string(refused.what()).find("cannot use the processor's counters") != std::string::npos);
  }
}
