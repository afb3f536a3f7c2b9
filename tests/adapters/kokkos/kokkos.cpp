// The Kokkos adapter, called as Kokkos calls it; a stand-in for Kokkos makes the calls.
#include <adaptyst/region.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <typeinfo>
#include <vector>

#include "collecting.hpp"
#include "kokkos_stand_in.hpp"

namespace app {
struct sweep {};
struct tag {};
template <class T>
struct of {};
template <class... T>
struct wide {};
template <int>
struct cell_of_a_long_name {};
}  // namespace app

namespace {

using support::device_id;

constexpr std::uint32_t serial = 0, openmp = 1, cuda = 2, sycl = 7, nobody_knows = 42;

void work() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

const adaptyst::device_usage* device(const adaptyst::profile& in, const std::string& name) {
  for (const adaptyst::device_usage& device : in.devices)
    if (device.name == name) return &device;
  return nullptr;
}

}  // namespace

TEST_CASE("no tool asks for fences") {
  const support::kokkos_stand_in kokkos;
  CHECK(!kokkos.fences);
}

TEST_CASE("kernels, regions and the program's own markers are one tree") {
  const support::kokkos_stand_in kokkos;
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 5; ++i) {
    kokkos.push("step");
    {
      ADAPTYST_REGION("own");
      const std::uint64_t loop = kokkos.begin("parallel_for", "axpy", device_id(openmp, 0, 1));
      { ADAPTYST_REGION("in the kernel"); }
      kokkos.end("parallel_for", loop);
    }
    const std::uint64_t sum = kokkos.begin("parallel_reduce", "dot", device_id(serial, 0, 1));
    const std::uint64_t scan = kokkos.begin("parallel_scan", "dot", device_id(serial, 0, 1));
    kokkos.end("parallel_scan", scan);
    kokkos.end("parallel_reduce", sum);
    kokkos.pop();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.regions.size() == 6);
  CHECK(support::find(profile, {"step"}).count == 5);
  CHECK(support::find(profile, {"step", "own", "axpy", "in the kernel"}).count == 5);
  CHECK(support::find(profile, {"step", "dot"}).site.function == "Kokkos::parallel_reduce");
  CHECK(support::find(profile, {"step", "dot", "dot"}).site.function == "Kokkos::parallel_scan");
  for (const adaptyst::region& region : profile.regions) CHECK(region.kind == adaptyst::region_kind::region);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 0);
  CHECK(profile.devices.size() == 1);  // the host
}

TEST_CASE("kernels that are called by their types are called as people write these") {
  const support::kokkos_stand_in kokkos;
  adaptyst::collector collector(support::options());
  using long_name = app::wide<app::cell_of_a_long_name<1>, app::cell_of_a_long_name<2>, app::cell_of_a_long_name<3>,
                              app::cell_of_a_long_name<4>, app::cell_of_a_long_name<5>>;
  const char* const wide[] = {typeid(app::wide<long_name, app::sweep>).name(),
                              typeid(app::wide<long_name, app::tag>).name()};
  const std::map<std::string, std::string> expected = {
      {typeid(app::sweep).name(), "app::sweep"},
      {typeid(app::of<int>).name() + std::string("/") + typeid(app::tag).name(), "app::of<int>/app::tag"},
      {"Z4mainEUliE_", "main::{lambda(int)#1}"},
      // What a program may call its own.
      {"a", "a"},
      {"Zeta", "Zeta"},
      {"3D stencil", "3D stencil"},
      {"Newton/N3app3tagE", "Newton/N3app3tagE"}};
  for (int i = 0; i != 3; ++i) {
    for (const auto& [given, name] : expected)
      kokkos.end("parallel_for", kokkos.begin("parallel_for", given.c_str(), device_id(serial, 0, 1)));
    for (const char* const name : wide)
      kokkos.end("parallel_for", kokkos.begin("parallel_for", name, device_id(serial, 0, 1)));
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  for (const auto& [given, name] : expected) {
    CAPTURE(given);
    CHECK(support::find(profile, {name}).count == 3);
  }
  CHECK(profile.regions.size() == expected.size() + 2);  // long ones are distinguished by their ends
  for (const char* const end : {"app::sweep>", "app::tag>"})
    CHECK(std::count_if(profile.regions.begin(), profile.regions.end(), [&](const adaptyst::region& region) {
            const std::string& name = region.path.back();
            return name.find("app::wide<app::wide<") == 0 && name.rfind(end) == name.size() - std::strlen(end);
          }) == 1);
}

TEST_CASE("without fences a device's kernels are what the host does for them") {
  const support::kokkos_stand_in kokkos;
  adaptyst::collector collector(support::options());
  kokkos.end("parallel_for", kokkos.begin("parallel_for", "launched", device_id(cuda, 3, 1)));
  kokkos.end("parallel_for", kokkos.begin("parallel_for", "launched", device_id(nobody_knows, 0, 1)));
  const std::uint64_t fence = kokkos.begin("fence", "until done", device_id(cuda, 3, 0));
  work();
  kokkos.end("fence", fence);
  kokkos.end("fence", kokkos.begin("fence", "of the host", device_id(openmp, 0, 0)));
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& launched = support::find(profile, {"launched"});
  CHECK(launched.kind == adaptyst::region_kind::region);
  CHECK(launched.count == 2);
  CHECK(profile.devices.size() == 1);
  const adaptyst::region& waited = support::find(profile, {"until done"});
  CHECK(waited.kind == adaptyst::region_kind::wait);
  CHECK(waited.total_ns >= 1000000);
  CHECK(support::find(profile, {"of the host"}).kind == adaptyst::region_kind::region);
}

TEST_CASE("deep copies are operations of the device, with their bytes") {
  const support::kokkos_stand_in kokkos;
  adaptyst::collector collector(support::options());
  kokkos.end("fence", kokkos.begin("fence", "", device_id(cuda, 3, 0)));  // tells the device's number
  kokkos.push("exchange");
  for (int i = 0; i != 4; ++i) {
    kokkos.begin_copy("Cuda", "x", "Host", "x_host", 1000);
    work();
    kokkos.end_copy();
    kokkos.begin_copy("CudaHostPinned", "y_host", "CudaUVM", "y", 200);
    kokkos.end_copy();
    kokkos.begin_copy("Cuda", "b", "Cuda", "a", 30);
    kokkos.end_copy();
    kokkos.begin_copy("Host", "d", "Host", "c", 4);
    kokkos.end_copy();
    kokkos.begin_copy("Host", "d", "Nobody's", "c", 4);
    kokkos.end_copy();
  }
  kokkos.pop();
  kokkos.end_copy();  // of nothing
  const adaptyst::profile profile = collector.stop();
  support::check_identity(profile);
  CHECK(profile.accounting.open == 0);
  const adaptyst::device_usage* const gpu = device(profile, "Kokkos Cuda");
  REQUIRE(gpu != nullptr);
  CHECK(gpu->index == 3);
  CHECK(gpu->kind == adaptyst::device_kind::gpu);
  const adaptyst::region& up = support::find(profile, {"exchange", "copy x_host to x"});
  CHECK(up.kind == adaptyst::region_kind::copy_to);
  CHECK(up.count == 4);
  CHECK(up.attributes.at("bytes").sum == 4000);
  CHECK(up.min_ns >= 1000000);
  CHECK(profile.devices.at(up.device).name == "Kokkos Cuda");
  CHECK(*gpu->copy_ns >= up.total_ns);
  CHECK(support::find(profile, {"exchange", "copy y to y_host"}).kind == adaptyst::region_kind::copy_from);
  CHECK(support::find(profile, {"exchange", "copy y to y_host"}).attributes.at("bytes").sum == 800);
  CHECK(support::find(profile, {"exchange", "copy a to b"}).kind == adaptyst::region_kind::other);
  std::size_t others = 0;
  for (const adaptyst::region& region : profile.regions) {
    if (region.path != std::vector<std::string>{"exchange", "copy c to d"}) continue;
    ++others;
    CHECK(region.attributes.at("bytes").sum == 16);
    CHECK(region.kind == (region.device == 0 ? adaptyst::region_kind::region : adaptyst::region_kind::copy_from));
  }
  CHECK(others == 2);
  CHECK(device(profile, "Kokkos space Nobody's") != nullptr);
}

TEST_CASE("pops without a push are counted, and change nothing") {
  const support::kokkos_stand_in kokkos;
  kokkos.push("before anything listened");
  adaptyst::collector collector(support::options());
  kokkos.pop();
  kokkos.pop();
  kokkos.pop();
  kokkos.push("region");
  kokkos.pop();
  for (int i = 0; i != 300; ++i) kokkos.push("deep");
  for (int i = 0; i != 300; ++i) kokkos.pop();
  kokkos.push("left open");
  const adaptyst::profile profile = collector.stop();
  kokkos.pop();
  CHECK(support::find(profile, {"region"}).count == 1);
  CHECK(profile.accounting.open == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 300 - 256);
  CHECK(profile.accounting.unmatched == 2 + 300 - 256);
  support::check_account(profile);
}

TEST_CASE("a kernel that another thread ends is counted, and nothing stays below it") {
  const support::kokkos_stand_in kokkos;
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 3; ++i) {
    const std::uint64_t kernel = kokkos.begin("parallel_for", "moves", device_id(openmp, 0, 1));
    std::thread([&] { kokkos.end("parallel_for", kernel); }).join();
    kokkos.end("parallel_for", kokkos.begin("parallel_for", "after", device_id(openmp, 0, 1)));
  }
  for (int i = 0; i != 40; ++i) kokkos.end("parallel_for", 0x123456789abc000 + static_cast<std::uint64_t>(i));
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"after"}).count == 3);
  CHECK(support::lost(profile, adaptyst::loss_reason::unmatched) == 3);
  CHECK(profile.accounting.unmatched == 3 + 3 + 40);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("sections may overlap, and end on another thread") {
  const support::kokkos_stand_in kokkos;
  adaptyst::collector collector(support::options());
  const std::uint32_t first = kokkos.create_section("first");
  const std::uint32_t second = kokkos.create_section("second");
  REQUIRE(first != second);
  for (int i = 0; i != 2; ++i) {
    kokkos.section("start", first);
    kokkos.section("start", second);
    kokkos.section("start", second);  // runs already
    kokkos.section("stop", first);
    std::thread([&] { kokkos.section("stop", second); }).join();
  }
  kokkos.section("stop", second);
  kokkos.section("destroy", first);
  kokkos.section("start", first);
  kokkos.section("stop", ~std::uint32_t{0});
  kokkos.event("checkpoint");
  CHECK(kokkos.create_section("third") == first);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"first"}).count == 2);
  CHECK(support::find(profile, {"second"}).count == 2);
  CHECK(support::find(profile, {"checkpoint"}).kind == adaptyst::region_kind::instant_event);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unmatched == 2);
}

TEST_CASE("allocations are counted by space, with the most that was in use") {
  const support::kokkos_stand_in kokkos;
  const std::string longest(63, 's');
  const std::string unended(64, 'u');
  kokkos.allocate("HIP", 100);  // before anything listens
  adaptyst::collector collector(support::options());
  kokkos.push("setup");
  kokkos.allocate("HIP", 1000);
  kokkos.deallocate("HIP", 1000);
  kokkos.allocate("HIP", 300);
  kokkos.deallocate("HIP", 400);
  kokkos.deallocate("HIP", 5);  // more than is in use
  kokkos.allocate(longest.c_str(), 7);
  kokkos.allocate(unended.c_str(), 8);
  kokkos.pop();
  const adaptyst::profile profile = collector.stop();
  const auto& numbers = support::find(profile, {"setup"}).attributes;
  CHECK(numbers.at("bytes allocated in HIP").sum == 1300);
  CHECK(numbers.at("bytes allocated in HIP").count == 2);
  CHECK(numbers.at("bytes in use in HIP").max == 1100);
  CHECK(numbers.at("bytes freed in HIP").sum == 1405);
  CHECK(numbers.at("unknown changes in HIP").sum == 1);
  CHECK(numbers.count("unknown changes in " + longest) == 0);
  CHECK(numbers.at("bytes already in use in HIP").sum == 100);
  CHECK(numbers.at("bytes already in use in HIP").count == 1);
  CHECK(numbers.count("bytes already in use in " + longest) == 0);
  CHECK(numbers.at("bytes allocated in " + longest).sum == 7);
  CHECK(numbers.at("bytes in use in " + unended).max == 8);
}

namespace {

double sum(const adaptyst::profile& in, const char* metric) {
  double made = 0;
  for (const adaptyst::region& region : in.regions)
    if (const auto values = region.attributes.find(metric); values != region.attributes.end())
      made += values->second.sum;
  return made;
}

}  // namespace

TEST_CASE("each collector gets the bytes that were in use when it started") {
  const support::kokkos_stand_in kokkos;
  kokkos.allocate("again", 1000);
  for (int round = 0; round != 2; ++round) {
    adaptyst::collector collector(support::options());
    kokkos.allocate("again", 100);
    const adaptyst::profile profile = collector.stop();
    CHECK(sum(profile, "bytes already in use in again") == 1000 + 100 * round);
    CHECK(sum(profile, "bytes allocated in again") == 100);
    CHECK(sum(profile, "unknown changes in again") == 0);
  }
  kokkos.deallocate("again", 300);  // not observed
  adaptyst::collector collector(support::options());
  kokkos.deallocate("again", 900);
  const adaptyst::profile profile = collector.stop();
  CHECK(sum(profile, "bytes already in use in again") == 900);
  CHECK(sum(profile, "bytes freed in again") == 900);
  CHECK(sum(profile, "unknown changes in again") == 0);
}

TEST_CASE("bytes in use are unknown after a free of more than them, and for sizes without a limit") {
  const support::kokkos_stand_in kokkos;
  kokkos.allocate("more", 100);
  kokkos.deallocate("more", 300);
  kokkos.allocate("huge", ~std::uint64_t{0});
  kokkos.allocate("huge", ~std::uint64_t{0});
  kokkos.allocate("signed", std::uint64_t{1} << 63);
  for (int round = 0; round != 2; ++round) {
    adaptyst::collector collector(support::options());
    for (const char* const space : {"more", "huge", "signed"}) {
      kokkos.allocate(space, 10);
      kokkos.allocate(space, 10);
    }
    const adaptyst::profile profile = collector.stop();
    CHECK(sum(profile, "unknown changes in more") == 1);
    CHECK(sum(profile, "unknown changes in huge") == 1);
    CHECK(sum(profile, "unknown changes in signed") == 1);
  }
}

TEST_CASE("bytes that were in use are recorded once by many threads") {
  const support::kokkos_stand_in kokkos;
  kokkos.allocate("threads", 1000);
  // Catch's macros are for one thread.
  const auto allocate = kokkos.call<decltype(&kokkosp_allocate_data)>("kokkosp_allocate_data");
  const auto deallocate = kokkos.call<decltype(&kokkosp_deallocate_data)>("kokkosp_deallocate_data");
  const kokkos_space in = support::space("threads");
  std::atomic<bool> goes_on{true};
  std::vector<std::thread> threads;
  for (int at = 0; at != 4; ++at)
    threads.emplace_back([&] {
      while (goes_on) {
        allocate(in, "x", nullptr, 8);
        deallocate(in, "x", nullptr, 8);
      }
    });
  for (int round = 0; round != 20; ++round) {
    adaptyst::collector collector(support::options());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const adaptyst::profile profile = collector.stop();
    const double already = sum(profile, "bytes already in use in threads");
    const bool is_unknown = sum(profile, "unknown changes in threads") != 0;  // a thread had no core for a second
    INFO(already << " bytes were in use");
    CHECK((is_unknown || already == 0 || (already >= 1000 && already <= 1000 + 4 * 8)));
  }
  goes_on = false;
  for (std::thread& each : threads) each.join();
}

TEST_CASE("a child that is forked while threads change the numbers does not wait for them") {
  const support::kokkos_stand_in kokkos;
  const auto allocate = kokkos.call<decltype(&kokkosp_allocate_data)>("kokkosp_allocate_data");
  const auto deallocate = kokkos.call<decltype(&kokkosp_deallocate_data)>("kokkosp_deallocate_data");
  const kokkos_space in = support::space("busy");
  std::atomic<bool> goes_on{true};
  std::vector<std::thread> threads;
  for (int at = 0; at != 2; ++at)
    threads.emplace_back([&] {
      while (goes_on) {
        allocate(in, "x", nullptr, 8);
        deallocate(in, "x", nullptr, 8);
      }
    });
  for (int round = 0; round != 20; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(10);
      for (int at = 0; at != 100; ++at) allocate(in, "x", nullptr, 8);
      _exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    if (status != 0) break;
  }
  goes_on = false;
  for (std::thread& each : threads) each.join();
}

TEST_CASE("a forked child records the inherited bytes in its own collector") {
  const support::kokkos_stand_in kokkos;
  kokkos.allocate("forked", 1000);
  adaptyst::collector parent(support::options());
  kokkos.allocate("forked", 10);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    double already = 0;
    try {
      kokkos.allocate("forked", 5);  // not observed
      adaptyst::collector own(support::options());
      kokkos.deallocate("forked", 15);
      already = sum(own.stop(), "bytes already in use in forked");
    } catch (...) {}
    _exit(already == 1015 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(sum(parent.stop(), "bytes already in use in forked") == 1000);
}

TEST_CASE("while nothing listens nothing is kept") {
  const support::kokkos_stand_in kokkos;
  const std::uint64_t kernel = kokkos.begin("parallel_for", "before", device_id(sycl, 0, 1));
  CHECK(kernel == 0);
  kokkos.begin_copy("Cuda", "x", "Host", "x_host", 1000);
  adaptyst::collector collector(support::options());
  kokkos.end("parallel_for", kernel);
  kokkos.end_copy();
  const adaptyst::profile profile = collector.stop();
  CHECK(profile.regions.empty());
  CHECK(profile.accounting.begun == 0);
}
