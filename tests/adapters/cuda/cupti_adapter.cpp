// libadaptyst-cuda.so against the stub of CUPTI: what is booked where, and what is counted as lost.
#include <adaptyst/adaptyst.hpp>
#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "collecting.hpp"
#include "scripted.hpp"

extern "C" bool cuda_driver_stub_started();

namespace {

constexpr int kernels = 10;
constexpr std::uint8_t to_device = 1, from_device = 2, on_device = 8;

// Loaded as the driver does it, once.
void load_adapter() {
  static const int initialised = [] {
    setenv("ADAPTYST_CUPTI", ADAPTYST_TEST_CUPTI_STUB, 1);
    void* const adapter = dlopen(ADAPTYST_TEST_ADAPTER, RTLD_NOW);
    REQUIRE(adapter != nullptr);
    return reinterpret_cast<int (*)()>(dlsym(adapter, "InitializeInjection"))();
  }();
  REQUIRE(initialised == 1);
}

bool soon(bool expected) {
  for (int tenths = 0; tenths != 100 && cupti_stub_enabled(kernels) != expected; ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return cupti_stub_enabled(kernels) == expected;
}

// An observer is there, and the adapter listens.
struct observation {
  const bool is_loaded = (load_adapter(), true);  // before the collector starts
  adaptyst::collector collector{support::options()};
  observation() {
    REQUIRE(soon(true));
    for (int tenths = 0; tenths != 100 && !cuda_driver_stub_started(); ++tenths)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  adaptyst::profile stop() {
    scripted::call end("cudaProfilerStop", 4'000'000'000U);
    adaptyst::profile all = collector.stop();
    support::check_account(all);
    return all;
  }
  adaptyst::profile stop_with_metrics() {
    adaptyst::profile all = collector.stop();
    support::check_identity(all);
    CHECK(all.accounting.lost.empty());
    return all;
  }
};

const adaptyst::device_usage& usage(const adaptyst::profile& in, std::uint32_t index) {
  for (const adaptyst::device_usage& device : in.devices)
    if (device.kind == adaptyst::device_kind::gpu && device.index == index) return device;
  FAIL("no GPU " << index);
  return in.devices.front();
}

// The sum of a space's metric in a region; 0: there is none.
double bytes(const adaptyst::profile& in, const char* region, const std::string& metric) {
  const auto& all = support::find(in, {region}).attributes;
  const auto found = all.find(metric);
  return found == all.end() ? 0 : found->second.sum;
}

}  // namespace

TEST_CASE("the adapter listens only while an observer is there") {
  load_adapter();
  CHECK_FALSE(cupti_stub_enabled(kernels));
  observation observed;
  for (const int kind : {1, 2, 10, 22}) CHECK(cupti_stub_enabled(kind));
  CHECK_FALSE(cupti_stub_enabled(3));  // would let kernels run one at a time only
  CHECK_FALSE(cupti_stub_call(2, "cudaGetLastError", 1, true));
  observed.stop();
  CHECK(soon(false));
  CHECK_FALSE(cupti_stub_call(2, "cudaLaunchKernel", 1, true));
  CHECK_FALSE(scripted::allocate("cuMemAlloc_v2", 1, 1));
}

TEST_CASE("a kernel is booked below the region that launched it, although its record comes after the region ended") {
  observation observed;
  std::uint64_t before;
  {
    ADAPTYST_REGION("step");
    scripted::call launch("cudaLaunchKernel", 101);
    scripted::call inner("cuLaunchKernel", 101, 1);
    before = cupti_stub_now();
  }
  scripted::kernel(101, "_Z6advectIdEvPKT_PS0_i", {before + 5000, before + 25000});
  const adaptyst::profile profile = observed.stop();
  const adaptyst::region& kernel = support::find(profile, {"step", "void advect<double>(double const*, double*, int)"});
  CHECK(kernel.count == 1);
  CHECK(kernel.total_ns == 20000);
  CHECK(kernel.kind == adaptyst::region_kind::kernel);
  CHECK(*usage(profile, 0).kernel_ns == 20000);
  CHECK(usage(profile, 0).queue_wait->total_ns >= 5000);
  CHECK(usage(profile, 0).queue_wait->total_ns < 1'000'000);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("copies and fills know their bytes and their direction") {
  observation observed;
  std::uint64_t t = 0;
  {
    ADAPTYST_REGION("io");
    for (const std::uint32_t correlation : {200U, 201U, 202U, 203U, 204U}) {
      scripted::call launch(correlation == 204 ? "cudaMemset" : "cudaMemcpyAsync", correlation);
      t = cupti_stub_now();
    }
  }
  scripted::memcpy(200, to_device, 1000, {t + 1000, t + 2000});
  scripted::memcpy(201, from_device, 3000, {t + 2000, t + 3000});
  scripted::memcpy(202, on_device, 500, {t + 3000, t + 4000});
  scripted::peer_memcpy(203, 700, {t + 4000, t + 5000});
  scripted::memset(204, 64, {t + 5000, t + 6000});
  const adaptyst::profile profile = observed.stop();
  const auto check = [&](const char* name, adaptyst::region_kind kind, double bytes) {
    const adaptyst::region& region = support::find(profile, {"io", name});
    CHECK(region.kind == kind);
    CHECK(region.count == 1);
    CHECK(region.attributes.at("bytes").sum == bytes);
  };
  check("memcpy HtoD", adaptyst::region_kind::copy_to, 1000);
  check("memcpy DtoH", adaptyst::region_kind::copy_from, 3000);
  check("memcpy DtoD", adaptyst::region_kind::fill, 500);
  check("memcpy PtoP", adaptyst::region_kind::fill, 700);
  check("memset", adaptyst::region_kind::fill, 64);
  CHECK(*usage(profile, 0).copy_ns == 5000);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("streams that overlap keep their device busy once, and devices are kept apart") {
  observation observed;
  std::uint64_t t = 0;
  for (const std::uint32_t correlation : {300U, 301U, 302U}) {
    scripted::call launch("cudaLaunchKernel", correlation);
    t = cupti_stub_now();
  }
  scripted::kernel(301, "b", {t + 6000, t + 14000, 0, 8});
  scripted::kernel(302, "c", {t + 1000, t + 4000, 1, 7});
  scripted::kernel(300, "a", {t + 1000, t + 9000, 0, 7});
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"a"}).total_ns + support::find(profile, {"b"}).total_ns == 16000);
  CHECK(*usage(profile, 0).busy_ns == 13000);
  CHECK(usage(profile, 0).queues == 2);
  CHECK(*usage(profile, 1).busy_ns == 3000);
  CHECK(usage(profile, 0).name == "stub of a GPU with a very  0000:1B:00.0");
  CHECK(usage(profile, 1).name == "stub of a GPU with a very  0000:1C:00.0");
}

TEST_CASE("every kernel of a graph belongs to the launch of the graph") {
  observation observed;
  std::uint64_t t;
  {
    ADAPTYST_REGION("graph");
    scripted::call launch("cudaGraphLaunch", 400);
    scripted::call inner("cuGraphLaunch", 400, 1);
    t = cupti_stub_now();
  }
  for (std::uint64_t node = 0; node != 50; ++node)
    scripted::kernel(400, node % 2 == 0 ? "even" : "odd", {t + 1000 * (node + 1), t + 1000 * (node + 1) + 800});
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"graph", "even"}).count == 25);
  CHECK(support::find(profile, {"graph", "odd"}).count == 25);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("a number that is used again means the newer call, and numbers may wrap") {
  observation observed;
  const auto launch = [](const char* region, std::uint32_t correlation) {
    ADAPTYST_REGION(region);
    scripted::call launched("cudaLaunchKernel", correlation);
    return cupti_stub_now();
  };
  std::uint64_t t = launch("first", 500);
  scripted::kernel(500, "k", {t + 100, t + 200});
  scripted::call("cudaProfilerStop", 501);
  t = launch("second", 500);
  scripted::kernel(500, "k", {t + 100, t + 200});
  for (const std::uint32_t correlation : {0xFFFFFFFEU, 0xFFFFFFFFU, 0U, 1U}) {
    t = launch("wrap", correlation);
    scripted::kernel(correlation, "k", {t + 100, t + 200});
  }
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"first", "k"}).count == 1);
  CHECK(support::find(profile, {"second", "k"}).count == 1);
  CHECK(support::find(profile, {"wrap", "k"}).count == 4);
}

TEST_CASE("kernels with long names that differ only behind byte 127, or in the middle, are separate rows") {
  observation observed;
  {
    ADAPTYST_REGION("long names");
    scripted::call launch("cudaLaunchKernel", 650);
  }
  const std::string same(130, 'x');
  const std::string names[] = {same + "<1>" + same, same + "<2>" + same, same.substr(0, 127)};
  for (const std::string& name : names)
    scripted::kernel(650, name.c_str(), {cupti_stub_now() - 1000, cupti_stub_now()});
  const adaptyst::profile profile = observed.stop();
  std::set<std::string> found;
  for (const adaptyst::region& row : profile.regions)
    if (row.path.size() == 2 && row.path[0] == "long names") found.insert(row.path[1]);
  CHECK(found.size() == 3);
  CHECK(found.count(names[2]) == 1);
}

TEST_CASE("what is not known is counted, and why") {
  observation observed;
  std::uint64_t t = 0;
  for (std::uint32_t correlation = 600; correlation != 606; ++correlation) {
    scripted::call launch("cudaLaunchKernel", correlation);
    t = cupti_stub_now();
  }
  scripted::kernel(600, "untimed", {0, 0});
  scripted::kernel(601, "unended", {t + 1000, 0});
  scripted::kernel(602, "backwards", {t + 2000, t + 1000});
  scripted::kernel(603, "from the past", {t - 5'000'000, t});
  scripted::kernel(604, "slightly early", {t - 20'000, t + 10'000});
  scripted::kernel(605, nullptr, {t + 1000, t + 2000});
  scripted::kernel(666, "no launch of it", {t + 1000, t + 2000});
  scripted::record(51, 64).deliver();  // of a kind that was not asked for
  cupti_stub_drop(7);
  const adaptyst::profile profile = observed.stop();
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) == 2 + 1 + 7);
  CHECK(support::lost(profile, adaptyst::loss_reason::bad_times) == 2);
  CHECK(support::find(profile, {"slightly early"}).total_ns == 30'000);
  CHECK(support::find(profile, {"(kernel without a name)"}).count == 1);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("records that are longer than the ones we know are read the same") {
  observation observed;
  std::uint64_t t;
  {
    scripted::call launch("cudaLaunchKernel", 700);
    t = cupti_stub_now();
  }
  for (std::uint64_t at = 0; at != 3; ++at) scripted::kernel(700, "longer", {t + 1000 * at, t + 1000 * at + 500}, 472);
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"longer"}).total_ns == 1500);
}

TEST_CASE("a launch that was overwritten by a later one is counted, not put elsewhere") {
  observation observed;
  constexpr std::uint32_t slots = 1U << 16;
  std::uint64_t t = 0;
  for (const std::uint32_t correlation : {800U, 800U + slots}) {
    scripted::call launch("cudaLaunchKernel", correlation);
    t = cupti_stub_now();
  }
  scripted::kernel(800, "forgotten", {t + 1000, t + 2000});
  scripted::kernel(800 + slots, "remembered", {t + 2000, t + 3000});
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"remembered"}).count == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) == 1);
}

TEST_CASE("many kernels of two streams, buffer by buffer: all are there, and none comes late") {
  observation observed;
  constexpr std::uint32_t count = 20'000;  // several buffers
  std::uint64_t last_end[2] = {};
  std::uint64_t sum = 0;
  for (std::uint32_t at = 0; at != count; ++at) {
    {
      ADAPTYST_REGION("launcher");
      scripted::call launch("cudaLaunchKernel", 10'000 + at);
    }
    const std::uint32_t stream = at % 2;
    const std::uint64_t start = std::max(cupti_stub_now(), last_end[stream]) + 100;
    last_end[stream] = start + 400;
    sum += 400;
    scripted::kernel(10'000 + at, "k", {start, start + 400, 0, stream});
  }
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"launcher", "k"}).count == count);
  CHECK(support::find(profile, {"launcher", "k"}).total_ns == sum);
  CHECK(usage(profile, 0).late == 0);
  CHECK(*usage(profile, 0).busy_ns <= sum);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("a long kernel whose record comes behind those of a thousand short ones is not late") {
  observation observed;
  std::uint64_t t;
  {
    scripted::call launch("cudaGraphLaunch", 900);
    t = cupti_stub_now();
  }
  constexpr std::uint64_t count = 1000;
  for (std::uint64_t at = 1; at <= count; ++at)
    scripted::kernel(900, "short", {t + 1000 * at, t + 1000 * at + 500, 0, 8});
  scripted::kernel(900, "long", {t + 500, t + 1000 * count + 2000});
  const adaptyst::profile profile = observed.stop();
  CHECK(usage(profile, 0).late == 0);
  CHECK(*usage(profile, 0).busy_ns == 1000 * count + 1500);
}

TEST_CASE("where the host waits is a region of that kind") {
  observation observed;
  {
    ADAPTYST_REGION("step");
    std::uint64_t t = 0;
    {
      scripted::call copy("cudaMemcpy", 901);
      scripted::call inner("cuMemcpyDtoH_v2", 901, 1);
      t = cupti_stub_now();
    }
    scripted::memcpy(901, from_device, 8, {t + 1, t + 2});
    scripted::call wait("cudaDeviceSynchronize", 902);
    scripted::call("cuCtxSynchronize", 902, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  std::thread([] { scripted::call wait("cuCtxSynchronize", 903, 1); }).join();
  const adaptyst::profile profile = observed.stop();
  CHECK(support::find(profile, {"step", "cudaDeviceSynchronize"}).kind == adaptyst::region_kind::wait);
  CHECK(support::find(profile, {"step", "cudaDeviceSynchronize"}).total_ns >= 3'000'000);
  CHECK(support::find(profile, {"step", "cudaMemcpy"}).count == 1);
  CHECK(support::find(profile, {"step", "memcpy DtoH"}).count == 1);
  CHECK(support::find(profile, {"cuCtxSynchronize"}).count == 1);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("threads that launch at once do not mix up their kernels") {
  observation observed;
  constexpr std::uint32_t each = 2000;
  static constexpr const char* names[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread != 4; ++thread) {
    threads.emplace_back([thread] {
      const char* const name = names[thread];
      for (std::uint32_t at = 0; at != each; ++at) {
        const std::uint32_t correlation = 100'000 + at * 4 + thread;
        ADAPTYST_REGION(name);
        scripted::call launch("cudaLaunchKernel", correlation);
        const std::uint64_t t = cupti_stub_now();
        scripted::kernel(correlation, name, {t + 10, t + 20, 0, thread});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const adaptyst::profile profile = observed.stop();
  for (const char* const name : names) CHECK(support::find(profile, {name, name}).count == each);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("memory is counted in the region that allocates or frees it, by device") {
  observation observed;
  {
    ADAPTYST_REGION("allocate");
    scripted::allocate("cuMemAlloc_v2", 0x10000, 1000);
    scripted::allocate("cuMemAlloc_v2", 0x20000, 200, scripted::context + 1);
    scripted::allocate_pitch(0x30000, 512, 10, scripted::context + 1);
    scripted::allocate("cuMemAllocAsync", 0x40000, 64, scripted::context + 1);  // the stream's device is unknown
    scripted::allocate("cuMemAllocAsync_ptsz", 0x50000, 36);
    scripted::allocate("cuMemAllocManaged", 0x60000, 300);
    scripted::allocate("cuMemAllocFromPoolAsync", 0x70000, 77);
    CHECK_FALSE(scripted::allocate("cuMemAllocHost_v2", 0x80000, 5000));  // is no memory of a device
  }
  {
    ADAPTYST_REGION("free");
    scripted::free("cuMemFree_v2", 0x10000);
    scripted::free("cuMemFree_v2", 0x30000, 0, scripted::context);  // while another context is current
    scripted::free("cuMemFreeAsync", 0x40000);
    scripted::free("cuMemFreeAsync_ptsz", 0x50000);
    scripted::free("cuMemFree_v2", 0x60000);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "allocate", "bytes allocated in CUDA, device 0") == 1000);
  CHECK(bytes(profile, "allocate", "bytes allocated in CUDA, device 1") == 200 + 5120);
  CHECK(bytes(profile, "allocate", "bytes allocated in CUDA, managed") == 300);
  CHECK(bytes(profile, "allocate", "bytes allocated in CUDA, memory pools") == 64 + 36 + 77);
  CHECK(support::find(profile, {"allocate"}).attributes.at("bytes in use in CUDA, device 1").max == 5320);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, device 0") == 1000);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, device 1") == 5120);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, managed") == 300);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, memory pools") == 64 + 36);
  // The adapter was loaded without an observer: there may be earlier memory.
  CHECK(bytes(profile, "allocate", "unknown changes in CUDA, device 0") == 1);
}

TEST_CASE("calls that fail change nothing, and frees of unknown memory have no bytes") {
  observation observed;
  {
    ADAPTYST_REGION("allocate");
    scripted::allocate("cuMemAlloc_v2", 0x11000, 1000);
    scripted::allocate("cuMemAlloc_v2", 0x21000, 1'000'000, scripted::context, 2);
    scripted::allocate("cuMemAlloc_v2", 0x21000, 50, 0);  // no context is current
  }
  {
    ADAPTYST_REGION("free");
    scripted::free("cuMemFree_v2", 0x11000, 1);  // fails, so it can be freed later
    scripted::free("cuMemFree_v2", 0x11000);
    scripted::free("cuMemFree_v2", 0x11000, 1);  // twice
    scripted::free("cuMemFree_v2", 0);
    scripted::free("cuMemFree_v2", 0x31000, 1);
    scripted::free("cuMemFree_v2", 0x41000, 0, scripted::context + 1);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "allocate", "bytes allocated in CUDA, device 0") == 1000);
  CHECK(bytes(profile, "allocate", "bytes allocated in CUDA") == 50);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, device 0") == 1000);
  CHECK(bytes(profile, "free", "unknown changes in CUDA, device 0") == 0);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, device 1") == 0);
  CHECK(bytes(profile, "free", "unknown changes in CUDA, device 1") == 1);
}

TEST_CASE("the memory of a context is freed with it, but none of pools") {
  observation observed;
  {
    ADAPTYST_REGION("allocate");
    scripted::allocate("cuMemAlloc_v2", 0x12000, 1000);
    scripted::allocate("cuMemAllocAsync", 0x22000, 64);
    scripted::allocate("cuMemAlloc_v2", 0x32000, 200, scripted::context + 1);
    scripted::allocate("cuMemAllocManaged", 0x42000, 300);
  }
  {
    ADAPTYST_REGION("reset");
    scripted::destroy_context(0);
    scripted::destroy_context(scripted::context);
    scripted::destroy_context(scripted::context);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "reset", "bytes freed in CUDA, device 0") == 1000);
  CHECK(bytes(profile, "reset", "bytes freed in CUDA, device 1") == 0);
  CHECK(bytes(profile, "reset", "bytes freed in CUDA, managed") == 300);
  CHECK(bytes(profile, "reset", "bytes freed in CUDA, memory pools") == 0);
}

TEST_CASE("calls that become nodes of a graph neither allocate nor free") {
  observation observed;
  {
    ADAPTYST_REGION("capture");
    scripted::allocate("cuMemAllocAsync", 0x13000, 64, scripted::context, 0, scripted::add_graph_node);
    scripted::free("cuMemFreeAsync", 0x13000, 0, scripted::context, scripted::add_graph_node);
    scripted::add_graph_node();
    scripted::allocate("cuMemAllocAsync", 0x23000, 36);
    scripted::free("cuMemFreeAsync", 0x23000, 0, scripted::context, scripted::add_graph_node);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "capture", "bytes allocated in CUDA, memory pools") == 36);
  CHECK(bytes(profile, "capture", "bytes freed in CUDA, memory pools") == 0);
}

TEST_CASE("an address that another thread gets before the free has returned is another block") {
  observation observed;
  {
    ADAPTYST_REGION("both");
    scripted::allocate("cuMemAlloc_v2", 0x14000, 1000);
    scripted::free("cuMemFree_v2", 0x14000, 0, scripted::context,
                   [] { std::thread([] { scripted::allocate("cuMemAlloc_v2", 0x14000, 24); }).join(); });
    scripted::free("cuMemFree_v2", 0x14000);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "both", "bytes freed in CUDA, device 0") == 1024);
}

TEST_CASE("memory of an earlier observation is unknown in the next one") {
  {
    observation observed;
    scripted::allocate("cuMemAlloc_v2", 0x15000, 1'000'000);
    observed.stop_with_metrics();
    REQUIRE(soon(false));
  }
  observation observed;
  {
    ADAPTYST_REGION("next");
    scripted::free("cuMemFree_v2", 0x15000);
    scripted::allocate("cuMemAlloc_v2", 0x25000, 8);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "next", "bytes freed in CUDA, device 0") == 0);
  CHECK(bytes(profile, "next", "unknown changes in CUDA, device 0") == 1);
  CHECK(support::find(profile, {"next"}).attributes.at("bytes in use in CUDA, device 0").max == 8);
}

TEST_CASE("a free without a begin does not get the block of another free without an end") {
  observation observed;
  {
    ADAPTYST_REGION("free");
    scripted::allocate("cuMemAlloc_v2", 0x1A000, 1000);
    scripted::allocate("cuMemAlloc_v2", 0x2A000, 24);
    const std::uint64_t first[2] = {0x1A000}, second[2] = {0x2A000};
    cupti_stub_driver_call("cuMemFree_v2", true, first, 0, scripted::context);
    cupti_stub_driver_call("cuMemFree_v2", false, second, 0, scripted::context);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "free", "bytes allocated in CUDA, device 0") == 1024);
  CHECK(bytes(profile, "free", "bytes freed in CUDA, device 0") == 0);
}

TEST_CASE("an address that is allocated twice was freed unseen") {
  observation observed;
  scripted::allocate("cuMemAlloc_v2", 0x19000, 1000);
  {
    ADAPTYST_REGION("again");
    scripted::allocate("cuMemAllocManaged", 0x19000, 30);
    scripted::free("cuMemFree_v2", 0x19000);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "again", "bytes freed in CUDA, device 0") == 0);
  CHECK(bytes(profile, "again", "bytes freed in CUDA, managed") == 30);
}

TEST_CASE("a full table has room for another block at the address of an earlier block") {
  constexpr std::uint64_t max_blocks = std::uint64_t{1} << 20;
  observation observed;
  for (std::uint64_t at = 1; at <= max_blocks; ++at) scripted::allocate("cuMemAlloc_v2", at * 256, 1);
  {
    ADAPTYST_REGION("full");
    scripted::allocate("cuMemAllocManaged", 256, 30);
    scripted::free("cuMemFree_v2", 256);
    scripted::allocate("cuMemAlloc_v2", 512 * max_blocks, 7);
    scripted::allocate("cuMemAlloc_v2", 1024 * max_blocks, 8);  // has no room
    scripted::free("cuMemFree_v2", 512 * max_blocks);
    scripted::free("cuMemFree_v2", 1024 * max_blocks);
  }
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "full", "bytes freed in CUDA, managed") == 30);
  CHECK(bytes(profile, "full", "bytes freed in CUDA, device 0") == 7);
}

TEST_CASE("threads that allocate and free at once lose no byte") {
  observation observed;
  constexpr std::uint64_t each = 2000;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread != 4; ++thread) {
    threads.emplace_back([thread] {
      ADAPTYST_REGION("work");
      for (std::uint64_t at = 0; at != each; ++at) {
        scripted::allocate("cuMemAllocAsync", (thread * each + at + 1) * 256, 10 + thread);
        if (at % 2 == 0) scripted::free("cuMemFreeAsync", (thread * each + at + 1) * 256);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const adaptyst::profile profile = observed.stop_with_metrics();
  CHECK(bytes(profile, "work", "bytes allocated in CUDA, memory pools") == each * (10 + 11 + 12 + 13));
  CHECK(bytes(profile, "work", "bytes freed in CUDA, memory pools") == each / 2 * (10 + 11 + 12 + 13));
}
