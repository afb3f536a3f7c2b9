// A program that offloads to a made-up device, through the adapter in adapter.hpp. All device times are SIMULATED.
#include "adapter.hpp"

#include <adaptyst/collector.hpp>
#include <adaptyst/region.hpp>

#include <cstdio>

int main() {
  using std::chrono::microseconds;
  adaptyst::collector collector;  // prints a report at the end
  std::puts("fake_device: the device is SIMULATED, and so are its times");
  fake::device device;
  observed_device accelerator(device);
  for (int step = 0; step != 20; ++step) {
    ADAPTYST_REGION("step");
    // Two queues run at the same time, and the shorter piece is done first, though it was handed over last.
    accelerator.enqueue("interior", 0, microseconds(900), adaptyst::work{8'000'000, 2e6});
    accelerator.enqueue("boundary", 1, microseconds(200), adaptyst::work{80'000, 2e4});
    accelerator.finish();
  }
}
