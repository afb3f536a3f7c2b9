// A begin and an end event of LTTng-UST: the time of a pair, while a session records them.
#include <chrono>
#include <cstdint>
#include <cstdio>

#include "lttng_provider.h"

namespace {

[[gnu::noinline]] void pair() {
  lttng_ust_tracepoint(adaptyst_bench, begin, 1);
  __asm__ volatile("");
  lttng_ust_tracepoint(adaptyst_bench, end, 1);
}

double pair_ns(std::uint64_t times) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t at = 0; at != times; ++at) pair();
  return static_cast<double>((std::chrono::steady_clock::now() - begin).count()) / static_cast<double>(times);
}

}  // namespace

int main() {
  pair_ns(10000);
  std::printf("lttng_pair_ns %.6g\n", pair_ns(1000000));
}
