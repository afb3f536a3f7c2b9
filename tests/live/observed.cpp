// A program with a collector whose options come from $ADAPTYST. Prints what it computed and how it was observed; exits
// with 0 if the result is right, whatever became of the collector.
#include <adaptyst/collector.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <cstdio>

int main() {
  adaptyst::collector collector;
  unsigned long sum = 0;
  for (unsigned long i = 1; i <= 1000; ++i) {
    ADAPTYST_REGION("add");
    sum += i;
  }
  const adaptyst::profile profile = collector.stop();
  std::printf("sum %lu\nengine %s\nmechanism %s\nreason %s\n", sum, profile.engine.c_str(), profile.mechanism.c_str(),
              profile.reason.c_str());
  for (const adaptyst::region& region : profile.regions)
    std::printf("region %s %llu\n", region.path.back().c_str(), static_cast<unsigned long long>(region.count));
  return sum == 500500 ? 0 : 1;
}
