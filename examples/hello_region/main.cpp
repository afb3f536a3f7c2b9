// The smallest instrumented program: two regions on the host, and one on a device.
#include <adaptyst/adaptyst.hpp>
#include <adaptyst/collector.hpp>

#include <cstdio>
#include <functional>
#include <future>
#include <numeric>
#include <vector>

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

int main() {
  adaptyst::collector collector;  // prints a report at the end
  const adaptyst::device worker{adaptyst::device_kind::accelerator, 0, "a thread, for want of a GPU"};
  std::vector<double> numbers(5'000'000);
  {
    ADAPTYST_REGION("fill");
    std::iota(numbers.begin(), numbers.end(), 1.0);
  }
  {
    ADAPTYST_REGION("sum");
    std::printf("host: %.0f\n", sum(numbers));
  }
  {
    ADAPTYST_OFFLOAD("sum", worker);
    std::printf("device: %.0f\n", std::async(std::launch::async, sum, std::cref(numbers)).get());
  }
}
