// For tests/tools/levels.py: work on three levels, with a hook on the deepest that takes a known time.
//
//   levelled STEPS HOOK_US [STATUS]
//
// That of the step says the marker itself. The hook is a payload's value, which is evaluated for events that are recorded, and for no other.
#include <adaptyst/payload.hpp>
#include <adaptyst/region.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

struct cost {
  double us;
};

// Busy, until the time is over.
double wait_us(double us) {
  timespec begin{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (static_cast<double>(now.tv_sec - begin.tv_sec) * 1e6 +
               static_cast<double>(now.tv_nsec - begin.tv_nsec) / 1e3 <
           us);
  return us;
}

void step(double hook_us) {
  ADAPTYST_REGION("step", adaptyst::level::model);
  wait_us(50);
  ADAPTYST_REGION("layer", cost{wait_us(hook_us)});
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  std::puts("output of the program");
  const int steps = std::atoi(words[1]);
  const double hook_us = std::atof(words[2]);
  {
    ADAPTYST_REGION("work");
    for (int at = 0; at != steps; ++at) step(hook_us);
  }
  return count > 3 ? std::atoi(words[3]) : 0;
}
