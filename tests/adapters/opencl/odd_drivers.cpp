// track() on drivers that are not as one would wish: a real device, and between it and us a stand-in that changes what
// the driver says.
#include <adaptyst/collector.hpp>
#include <adaptyst/opencl.hpp>
#include <adaptyst/profile.hpp>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>

#include "collecting.hpp"
#include "commands.hpp"

namespace {

enum class oddity { own_clock, readable_clock, no_clock, unavailable, zero, backwards, failed };
std::atomic<oddity> now{oddity::own_clock};

constexpr cl_ulong ahead_ns = 210'000'000'000;

// Of a clock of its own, 210 s ahead of MONOTONIC_RAW and 200 millionths faster.
cl_ulong by_own_clock(cl_ulong raw_ns) { return raw_ns + raw_ns / 5000 + ahead_ns; }

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

cl_int CL_API_CALL clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t bytes, void* value,
                                           size_t* needed) {
  const cl_int status = real<decltype(clGetEventProfilingInfo)>(__func__)(event, what, bytes, value, needed);
  if (status != CL_SUCCESS || value == nullptr) return status;
  cl_ulong& time = *static_cast<cl_ulong*>(value);
  switch (now) {
    case oddity::own_clock:
    case oddity::readable_clock: time = by_own_clock(time); break;
    case oddity::no_clock: time *= 2; break;  // of whatever unit it is
    case oddity::unavailable: return CL_PROFILING_INFO_NOT_AVAILABLE;
    case oddity::zero: time = 0; break;
    case oddity::backwards:
      if (what == CL_PROFILING_COMMAND_END) time -= 1'000'000'000;
      break;
    case oddity::failed: break;
  }
  return status;
}

// Where OpenCL 2.1's is asked for by its name.
cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id, cl_ulong* of_device, cl_ulong* of_host) {
  if (now != oddity::readable_clock) return CL_INVALID_OPERATION;
  *of_host = adaptyst::now_ns();
  *of_device = by_own_clock(adaptyst::detail::read_clock(4));
  return CL_SUCCESS;
}

// PoCL 3.1 does not tell of commands that fail.
cl_int CL_API_CALL clSetEventCallback(cl_event event, cl_int when, void(CL_CALLBACK* call)(cl_event, cl_int, void*),
                                      void* data) {
  if (now != oddity::failed) return real<decltype(clSetEventCallback)>(__func__)(event, when, call, data);
  clWaitForEvents(1, &event);
  call(event, -5 /* CL_OUT_OF_RESOURCES */, data);
  return CL_SUCCESS;
}
}

namespace {

constexpr std::uint64_t each = 200;

adaptyst::profile run_with(oddity oddity, std::vector<support::device_times>* times = nullptr) {
  static auto& forgotten = *new std::vector<adaptyst::detail::opencl::device_state*>;  // no leaks
  forgotten.push_back(adaptyst::detail::opencl::known_devices.exchange(nullptr));      // another device, as it were
  now = oddity;
  support::commands on;
  adaptyst::collector collector(support::options());
  for (std::uint64_t at = 0; at != each; ++at) {
    const cl_event event = on.spin(1000);
    adaptyst::opencl::track(event, "spin");
    clWaitForEvents(1, &event);
    if (times != nullptr) times->emplace_back(event);
    clReleaseEvent(event);
    usleep(1000);
  }
  clFinish(on.queue);
  for (int attempt = 0; attempt != 500 && collector.snapshot().accounting.open != 0; ++attempt) usleep(10'000);
  adaptyst::profile p = collector.stop();
  support::check_identity(p);
  return p;
}

void check_lost(oddity oddity, adaptyst::loss_reason reason) {
  const adaptyst::profile p = run_with(oddity);
  CHECK(p.accounting.open == 0);
  CHECK(p.accounting.ended == 0);
  CHECK(support::lost(p, reason) == each);
}

}  // namespace

TEST_CASE("times of a clock that is none of the host's are converted by when commands were enqueued, or by its timer") {
  const oddity driver = GENERATE(oddity::own_clock, oddity::readable_clock);
  INFO(static_cast<int>(driver));
  std::vector<support::device_times> times;
  const std::uint64_t before_ns = adaptyst::now_ns();
  const adaptyst::profile p = run_with(driver, &times);
  const std::uint64_t observed_ns = adaptyst::now_ns() - before_ns;
  CHECK(p.accounting.lost.empty());
  REQUIRE(p.devices.size() == 2);
  const adaptyst::device_usage& device = p.devices[1];
  REQUIRE(device.clock.has_value());
  CHECK(device.clock->clock == adaptyst::clock_id::device);
  // The adapter takes two sync points before the first command, and then reads the timer every 100 ms.
  CHECK(device.clock->sync_points >= (driver == oddity::readable_clock ? 3 : 2));
  CHECK(device.operations == each);
  std::uint64_t sum = 0;
  for (const support::device_times& time : times) sum += time.ended - time.started;
  INFO(sum << " by the device, " << *device.work_ns << " converted");
  CHECK(*device.work_ns <= sum + sum / 100);
  CHECK(*device.work_ns >= sum - sum / 100);
  CHECK(*device.busy_ns <= observed_ns);
}

TEST_CASE("times of a clock that makes no sense are not converted") {
  check_lost(oddity::no_clock, adaptyst::loss_reason::unknown_clock);
}

TEST_CASE("commands whose times the driver does not tell are counted, and no time is made up") {
  check_lost(oddity::unavailable, adaptyst::loss_reason::no_times);
  check_lost(oddity::zero, adaptyst::loss_reason::no_times);
}

TEST_CASE("a command that ends before it starts has bad times") {
  check_lost(oddity::backwards, adaptyst::loss_reason::bad_times);
}

TEST_CASE("a command that fails is lost with its device") {
  check_lost(oddity::failed, adaptyst::loss_reason::device_lost);
}
