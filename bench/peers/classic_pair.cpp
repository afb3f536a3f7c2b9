// A region as others mark it: a begin and an end probe on one-byte nops, for bpftrace to attach to. Prints the time of a
// pair once a second has passed in which it was attached.
#include <sys/sdt.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

[[gnu::noinline]] void pair() {
  STAP_PROBE1(bench, begin, 1);
  __asm__ volatile("");
  STAP_PROBE1(bench, end, 1);
}

double now_ns() { return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count()); }

double pair_ns(std::uint64_t times) {
  const double begin = now_ns();
  for (std::uint64_t at = 0; at != times; ++at) pair();
  return (now_ns() - begin) / static_cast<double>(times);
}

}  // namespace

int main() {
  // Attached when a pair is slow; some seconds are given to the one who attaches.
  constexpr double slow_ns = 200;
  for (int attempt = 0; attempt != 200; ++attempt) {
    if (pair_ns(1000) > slow_ns) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      pair_ns(10000);
      std::printf("bpftrace_pair_ns %.6g\n", pair_ns(300000));
      return 0;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::fprintf(stderr, "nothing attached\n");
  return 1;
}
