// The efficiencies of POP and TALP on traces that can be worked out by hand.
#include <adaptyst/profile.hpp>

#include <cmath>
#include <random>

#include "catch.hpp"

namespace {

adaptyst::device_usage device(std::uint64_t kernels, std::uint64_t exposed, std::uint64_t observed = 100) {
  adaptyst::device_usage made;
  made.kind = adaptyst::device_kind::gpu;
  made.observed_ns = observed;
  made.kernel_ns = kernels;
  made.exposed_copy_ns = exposed;
  made.busy_ns = kernels + exposed;
  return made;
}

adaptyst::efficiencies of(std::vector<adaptyst::device_usage> devices) {
  adaptyst::profile made;
  made.devices.emplace_back();  // the host has no kernels
  made.devices[0].kind = adaptyst::device_kind::cpu;
  made.devices[0].observed_ns = 100;
  for (adaptyst::device_usage& device : devices) made.devices.push_back(std::move(device));
  return adaptyst::compute_efficiencies(made);
}

void check(std::optional<double> found, double wanted) {
  REQUIRE(found.has_value());
  CHECK(std::abs(*found - wanted) < 1e-12);
}

}  // namespace

TEST_CASE("one device that is busy half the time") {
  const adaptyst::efficiencies found = of({device(50, 0)});
  check(found.device_parallel, 0.5);
  check(found.device_load_balance, 1);
  check(found.device_communication, 1);
  check(found.device_orchestration, 0.5);
}

TEST_CASE("two devices, one busy 80 and the other 40") {
  const adaptyst::efficiencies found = of({device(80, 0), device(40, 0)});
  check(found.device_parallel, 0.6);
  check(found.device_load_balance, 0.75);
  check(found.device_communication, 1);
  check(found.device_orchestration, 0.8);
}

TEST_CASE("the most useful device need not be the most active one") {
  const adaptyst::efficiencies found = of({device(60, 0), device(30, 50)});
  check(found.device_parallel, 0.45);
  check(found.device_load_balance, 0.75);
  check(found.device_communication, 0.75);
  check(found.device_orchestration, 0.8);
}

TEST_CASE("without a device, or without device time, there is nothing to tell") {
  for (const adaptyst::efficiencies& found : {of({}), of({device(0, 0)}), adaptyst::compute_efficiencies({})}) {
    CHECK_FALSE(found.device_parallel.has_value());
    CHECK_FALSE(found.device_load_balance.has_value());
    CHECK_FALSE(found.device_communication.has_value());
    CHECK_FALSE(found.device_orchestration.has_value());
    CHECK_FALSE(found.device_offload.has_value());
  }
}

TEST_CASE("only copies: nothing useful was done") {
  const adaptyst::efficiencies found = of({device(0, 40)});
  check(found.device_parallel, 0);
  check(found.device_communication, 0);
  check(found.device_orchestration, 0.4);
  CHECK_FALSE(found.device_load_balance.has_value());  // 0 / 0
}

TEST_CASE("the host's efficiency is the time in which it does not wait") {
  adaptyst::profile made;
  made.offload = {200, 50, std::nullopt};
  check(adaptyst::compute_efficiencies(made).device_offload, 0.75);
  made.offload.waited_ns.reset();
  CHECK_FALSE(adaptyst::compute_efficiencies(made).device_offload.has_value());
  made.offload = {0, 0, 0};
  CHECK_FALSE(adaptyst::compute_efficiencies(made).device_offload.has_value());
}

TEST_CASE("the parts multiply to the whole, and all are fractions") {
  std::mt19937 random(1);
  const auto below = [&](std::uint64_t end) { return std::uniform_int_distribution<std::uint64_t>(0, end)(random); };
  for (int round = 0; round != 2000; ++round) {
    std::vector<adaptyst::device_usage> devices;
    const std::uint64_t observed = 1 + below(1'000'000'000'000);
    for (std::uint64_t left = 1 + below(8); left != 0; --left) {
      const std::uint64_t kernels = below(observed);
      devices.push_back(device(kernels, below(observed - kernels), observed));
    }
    const adaptyst::efficiencies found = of(devices);
    if (!found.device_load_balance) continue;
    check(found.device_parallel,
          *found.device_load_balance * *found.device_communication * *found.device_orchestration);
    for (const auto& factor :
         {found.device_parallel, found.device_load_balance, found.device_communication, found.device_orchestration}) {
      CHECK(*factor >= 0);
      CHECK(*factor <= 1 + 1e-12);
    }
  }
}
