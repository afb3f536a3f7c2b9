// How long a question to the advisor takes: 12 regions, 3 types of devices of which there are 2 each, in a pipeline,
// with 12 inputs measured for each region and device. Costs are simulated.
#include <adaptyst/advisor.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

int main() {
  std::vector<std::string> chain;
  for (int region = 0; region != 12; ++region) chain.push_back("region " + std::to_string(region));
  const std::vector<adaptyst::device_type> devices = {{"host", 2, 100, 30}, {"gpu", 2, 300, 50}, {"fpga", 2, 60, 20}};
  adaptyst::advisor advisor(chain, devices, {"rows", "density"});
  std::mt19937 random(1);
  std::uniform_real_distribution<double> factor(0.2, 5);
  for (const std::string& region : chain)
    for (const adaptyst::device_type& device : devices)
      for (std::uint32_t count = 1; count <= device.count; ++count) {
        const double per_row = factor(random) * 1000 / count;
        for (const double rows : {100.0, 400.0, 1600.0, 6400.0})
          for (const double density : {0.01, 0.05, 0.2})
            advisor.observe(region, device.name, {{"rows", rows}, {"density", density}},
                            per_row * rows * (1 + density * factor(random)), {}, 10, {}, count);
      }
  for (const std::string& region : chain) advisor.observe_input_bytes(region, {{"rows", 100}, {"density", 0.01}}, 1e6);
  for (const adaptyst::device_type& from : devices)
    for (const adaptyst::device_type& to : devices)
      for (const double bytes : {1e5, 1e7}) advisor.observe_transfer(from.name, to.name, bytes, 1e4 + bytes / 10);
  advisor.prepare();
  std::vector<double> times;
  for (int turn = 0; turn != 5; ++turn) {
    const auto begin = std::chrono::steady_clock::now();
    const adaptyst::advice advice =
        advisor.find_best(adaptyst::advice_objective::balanced, {{"rows", 1000.0 + turn}, {"density", 0.1}},
                          adaptyst::execution_mode::pipelined);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
    if (!advice.best) return 1;
  }
  std::sort(times.begin(), times.end());
  std::printf("advise_ms_12_regions_3_types %.3f\n", times[times.size() / 2]);
}
