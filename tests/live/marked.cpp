// A program with markers and no collector, for other tools to observe: 1,000 regions, 100 metrics, 10 marks.
#include <adaptyst/metric.hpp>

#include <cstdlib>

int main(int count, char* arguments[]) {
  const int times = count > 1 ? std::atoi(arguments[1]) : 1000;
  for (int i = 0; i != times; ++i) {
    ADAPTYST_REGION("observed region");
    if (i % 10 == 0) ADAPTYST_METRIC("observed metric", i);
    if (i % 100 == 0) ADAPTYST_MARK("observed mark");
  }
}
