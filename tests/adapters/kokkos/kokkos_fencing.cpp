#include <chrono>
#include <thread>

#include "collecting.hpp"
#include "kokkos_stand_in.hpp"

// ctest starts this program with ADAPTYST_KOKKOS_FENCE=yes: then Kokkos waits for each kernel, so its time is known.
TEST_CASE("with fences, kernels are offloads on the device that is decoded from their id") {
  const support::kokkos_stand_in kokkos;
  REQUIRE(kokkos.fences);
  adaptyst::collector collector(support::options());
  using adaptyst::device_kind;
  constexpr struct {
    std::uint32_t type, number;
    const char* name;
    device_kind kind;
  } devices[] = {{2, 3, "Kokkos Cuda", device_kind::gpu},
                 {3, 127, "Kokkos HIP", device_kind::gpu},
                 {4, 0, "Kokkos OpenMPTarget", device_kind::accelerator},
                 {7, 1, "Kokkos SYCL", device_kind::accelerator},
                 {8, 2, "Kokkos OpenACC", device_kind::accelerator},
                 {42, 5, "Kokkos, unknown type 42", device_kind::other},
                 {255, 0, "Kokkos, unknown type 255", device_kind::other}};
  constexpr std::uint32_t largest_instance = 0x1ffff;  // all bits are 1: read as a part of the number, they show
  for (const auto& device : devices) {
    const std::uint64_t kernel =
        kokkos.begin("parallel_for", device.name, support::device_id(device.type, device.number, largest_instance));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kokkos.end("parallel_for", kernel);
  }
  // Serial, OpenMP, HPX and Threads.
  for (const std::uint32_t host : {0U, 1U, 5U, 6U})
    kokkos.end("parallel_for", kokkos.begin("parallel_for", "on the host", support::device_id(host, 0, 1)));
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  for (const auto& device : devices) {
    const adaptyst::region& kernel = support::find(profile, {device.name});
    CHECK(kernel.kind == adaptyst::region_kind::offload);
    const adaptyst::device_usage& usage = profile.devices.at(kernel.device);
    CHECK(usage.name == device.name);
    CHECK(usage.index == device.number);
    CHECK(usage.kind == device.kind);
    CHECK(*usage.kernel_ns == kernel.total_ns);
    CHECK(kernel.total_ns >= 1000000);
  }
  CHECK(support::find(profile, {"on the host"}).kind == adaptyst::region_kind::region);
  CHECK(support::find(profile, {"on the host"}).count == 4);
}
