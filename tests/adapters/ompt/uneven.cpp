// Parallel regions whose threads come to their ends at different times, which the program measures itself: prints how
// long threads waited for others at the closing barrier, and at inner ones, in ns.
#include <adaptyst/region.hpp>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

namespace {

constexpr int repeats = 10;

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void work(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Thread 0 has 1 ms to do, thread 1 has 6.
std::int64_t uneven_loop() {
  std::int64_t arrived[2] = {};
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(static) nowait
    for (int i = 0; i < 2; ++i) {
      ADAPTYST_REGION("share");
      work(i == 0 ? 1 : 6);
    }
    arrived[omp_get_thread_num()] = now();
  }
  return std::max(arrived[0], arrived[1]) - std::min(arrived[0], arrived[1]);
}

std::int64_t inner_barriers() {
  std::int64_t waited[2] = {};
#pragma omp parallel num_threads(2)
  {
    const int self = omp_get_thread_num();
    for (int turn = 0; turn != 2; ++turn) {
      work(self == turn ? 1 : 3);
      const std::int64_t begin = now();
#pragma omp barrier
      waited[self] += now() - begin;
    }
  }
  return waited[0] + waited[1];
}

}  // namespace

int main() {
  std::int64_t imbalance = 0;
  std::int64_t in_barriers = 0;
  {
    ADAPTYST_REGION("loops");
    for (int i = 0; i != repeats; ++i) imbalance += uneven_loop();
  }
  {
    ADAPTYST_REGION("barriers");
    for (int i = 0; i != repeats; ++i) in_barriers += inner_barriers();
  }
  {
    ADAPTYST_REGION("alone");
#pragma omp parallel num_threads(1)
    work(1);
  }
  {
    ADAPTYST_REGION("nested");
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
      {
        ADAPTYST_REGION("innermost");
        work(1);
      }
    }
  }
  std::printf("%lld %lld\n", static_cast<long long>(imbalance), static_cast<long long>(in_barriers));
}
