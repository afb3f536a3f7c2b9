// A loop that calls nothing, and is never left.
#include <adaptyst/region.hpp>

int main() {
  volatile unsigned long for_years = ~0UL;
  const unsigned long times = for_years;
  double sum = 1;
  for (unsigned long at = 0; at != times; ++at) {
    ADAPTYST_REGION("step");
    sum = sum * 0.5 + static_cast<double>(at % 64);
  }
  return sum > 0 ? 0 : 1;
}
