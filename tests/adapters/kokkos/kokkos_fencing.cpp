#include <chrono>
#include <thread>

#include "collecting.hpp"
#include "kokkos_stand_in.hpp"

// The environment of this program asks for fences.
TEST_CASE("with fences, kernels are offloads on the device that is decoded from their id") {
  const support::kokkos_stand_in kokkos;
  REQUIRE(kokkos.fences);
  adaptyst::collector collector(support::options());
  using kind = adaptyst::device_kind;
  constexpr struct {
    std::uint32_t type, number;
    const char* name;
    kind is;
  } all[] = {{2, 3, "Kokkos Cuda", kind::gpu},
             {3, 127, "Kokkos HIP", kind::gpu},
             {4, 0, "Kokkos OpenMPTarget", kind::accelerator},
             {7, 1, "Kokkos SYCL", kind::accelerator},
             {8, 2, "Kokkos OpenACC", kind::accelerator},
             {42, 5, "Kokkos, unknown type 42", kind::other},
             {255, 0, "Kokkos, unknown type 255", kind::other}};
  for (const auto& one : all) {
    const std::uint64_t kernel =
        kokkos.begin("parallel_for", one.name, support::device_id(one.type, one.number, 0x1ffff));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kokkos.end("parallel_for", kernel);
  }
  for (const std::uint32_t host : {0U, 1U, 5U, 6U})
    kokkos.end("parallel_for", kokkos.begin("parallel_for", "on the host", support::device_id(host, 0, 1)));
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  for (const auto& one : all) {
    const adaptyst::region& kernel = support::find(profile, {one.name});
    CHECK(kernel.kind == adaptyst::region_kind::offload);
    const adaptyst::device_usage& on = profile.devices.at(kernel.device);
    CHECK(on.name == one.name);
    CHECK(on.index == one.number);
    CHECK(on.kind == one.is);
    CHECK(*on.kernel_ns == kernel.total_ns);
    CHECK(kernel.total_ns >= 1000000);
  }
  CHECK(support::find(profile, {"on the host"}).kind == adaptyst::region_kind::region);
  CHECK(support::find(profile, {"on the host"}).count == 4);
}
