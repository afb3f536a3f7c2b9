// Two regions that compute, the second of them longer by a percentage: two_phases STEPS PERCENT
#include <adaptyst/metric.hpp>
#include <adaptyst/region.hpp>
#include <cstdlib>

namespace {

volatile double result;

void compute(long rounds) {
  double sum = result;
  for (long at = 0; at != rounds; ++at) sum = sum * 0.5 + static_cast<double>(at % 64);
  result = sum;
}

}  // namespace

int main(int count, char** arguments) {
  constexpr long rounds = 200'000;
  const long steps = count > 1 ? std::atol(arguments[1]) : 1;
  const long percent = count > 2 ? std::atol(arguments[2]) : 0;
  adaptyst::metadata("longer by", count > 2 ? arguments[2] : "0");
  for (long step = 0; step != steps; ++step) {
    {
      ADAPTYST_REGION("advance");
      compute(rounds);
    }
    ADAPTYST_REGION("flux");
    compute(rounds + rounds * percent / 100);
  }
}
