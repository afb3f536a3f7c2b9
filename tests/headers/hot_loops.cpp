// hot_loops KIND: a loop with a marker of this kind runs already when an observer comes. It holds no call that the
// compiler cannot see through, and what wakes it is another thread. Exit status 0 when an event of it was seen.
#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/payload.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "own_recorder.hpp"

#ifdef __clang__
#define KEPT_WHOLE __attribute__((noinline, used))
#else
#define KEPT_WHOLE __attribute__((noinline, noclone, used))
#endif

namespace {

constexpr double numbers[64] = {1, 2, 3, 4};
const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "gpu"};

struct amount {
  double bytes;
};

}  // namespace

// The check knows the user's work by its multiplication.
#define LOOP(name, marker)                                       \
  extern "C" KEPT_WHOLE double loop_##name(unsigned long times); \
  double loop_##name(unsigned long times) {                      \
    double sum = 1;                                              \
    for (unsigned long at = 0; at != times; ++at) {              \
      marker;                                                    \
      sum = sum * 0.5 + numbers[at % 64];                        \
    }                                                            \
    return sum;                                                  \
  }

// clang-format off
LOOP(region, ADAPTYST_REGION("region"))
LOOP(function, ADAPTYST_FUNCTION())
LOOP(payload, ADAPTYST_REGION("payload", amount{sum}))
LOOP(offload, ADAPTYST_OFFLOAD("offload", gpu))
LOOP(wait, ADAPTYST_WAIT("wait"))
LOOP(metric, ADAPTYST_METRIC("metric", sum))
LOOP(mark, ADAPTYST_MARK("mark"))
LOOP(pair, ADAPTYST_BEGIN("pair"); ADAPTYST_END())
LOOP(handle, ADAPTYST_HANDLE_BEGIN("handle").end())
LOOP(callback, adaptyst::callback_region::begin("callback").end())
// clang-format on

// What is within one region is compiled as if there were none.
extern "C" KEPT_WHOLE void one_region(double* __restrict to, const double* __restrict from, unsigned long count);
void one_region(double* __restrict to, const double* __restrict from, unsigned long count) {
  ADAPTYST_REGION("one");
  for (unsigned long at = 0; at != count; ++at) to[at] = to[at] * 0.5 + from[at];
}

namespace {

struct kind {
  const char* name;
  double (*loop)(unsigned long);
  const char* region;
};
constexpr kind kinds[] = {{"region", loop_region, "region"},    {"function", loop_function, "loop_function"},
                          {"payload", loop_payload, "payload"}, {"offload", loop_offload, "offload"},
                          {"wait", loop_wait, "wait"},          {"metric", loop_metric, "metric"},
                          {"mark", loop_mark, "mark"},          {"pair", loop_pair, "pair"},
                          {"handle", loop_handle, "handle"},    {"callback", loop_callback, "callback"}};

[[noreturn]] void wake(const kind& kind) {
  using namespace std::chrono;
  std::atomic<bool> started{false};
  std::thread runner([&] {
    volatile unsigned long for_years = ~0UL;
    started = true;
    volatile double sum = kind.loop(for_years);
    static_cast<void>(sum);
  });
  while (!started) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(20));
  const support::own_recorder looking;
  const auto begin = steady_clock::now();
  while (looking.count({kind.region}) == 0)
    if (steady_clock::now() - begin > seconds(5)) std::_Exit(1);
    else std::this_thread::sleep_for(milliseconds(1));
  std::_Exit(0);  // and the loop with us
}

}  // namespace

int main(int count, char* arguments[]) {
  for (const kind& kind : kinds)
    if (count > 1 && std::strcmp(arguments[1], kind.name) == 0) wake(kind);
  return 2;
}
