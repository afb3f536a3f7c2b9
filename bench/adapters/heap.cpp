// What malloc() and free() take in a program that allocates 10^6 times a second, and in one that does nothing else.
// bench/run.py runs it with and without the heap adapter.
#include <adaptyst/region.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "../measure.hpp"

namespace {

constexpr std::size_t kept_blocks = 1024;
void* kept[kept_blocks];
std::uint64_t state = 88172645463325252U;

// Replaces one of the blocks by one of 16 to 1039 bytes.
void replace_block() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  void*& block = kept[state % kept_blocks];
  std::free(block);
  block = std::malloc(16 + (state >> 32) % 1024);
  *static_cast<volatile char*>(block) = 1;
}

volatile double sink;
void compute(unsigned steps) {
  double value = 1;
  for (unsigned at = 0; at != steps; ++at) value = value * 0.999 + 0.5;
  sink = value;
}

}  // namespace

int main() {
  constexpr unsigned work = 300;  // about 1 us
  std::vector<double> loops, pairs;
  for (unsigned round = 0; round != 15; ++round) {
    ADAPTYST_REGION("solve");
    loops.push_back(bench::step_ns(100'000, [] {
      compute(work);
      replace_block();
    }));
    pairs.push_back(bench::step_ns(100'000, replace_block));
  }
  std::printf("loop_ns %.6g\npair_ns %.6g\n", bench::median(loops), bench::median(pairs));
}
