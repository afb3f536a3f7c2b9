// adaptyst::opencl::track() on a real device, held against what the device itself tells.
#include <adaptyst/collector.hpp>
#include <adaptyst/opencl.hpp>
#include <adaptyst/profile.hpp>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "collecting.hpp"
#include "commands.hpp"

namespace {

using support::commands;
using support::device_times;

constexpr std::uint64_t reading_ns = 100;  // by which a converted time may be off

// The driver may tell that a command is done a little after clFinish().
adaptyst::profile collect_all(adaptyst::collector& from, std::uint64_t operations) {
  for (int attempt = 0; attempt != 500; ++attempt, usleep(10'000)) {
    const adaptyst::account seen = from.snapshot().accounting;
    if (seen.open == 0 && seen.begun >= operations) break;
  }
  return from.stop();
}

const adaptyst::device_usage& second_device(const adaptyst::profile& in) {
  REQUIRE(in.devices.size() == 2);
  return in.devices[1];
}

void check_near(std::uint64_t a, std::uint64_t b, std::uint64_t tolerance) {
  INFO(a << " and " << b);
  CHECK((a > b ? a - b : b - a) <= tolerance);
}

std::uint64_t time_in_any(std::vector<device_times> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.started < b.started; });
  std::uint64_t sum = 0;
  std::uint64_t until = 0;
  for (const device_times& times : all) {
    const std::uint64_t begin = std::max(times.started, until);
    if (times.ended <= begin) continue;
    sum += times.ended - begin;
    until = times.ended;
  }
  return sum;
}

bool ends_soon(cl_event event) {
  for (int attempt = 0; attempt != 300; ++attempt, usleep(10'000)) {
    cl_int status = CL_QUEUED;
    REQUIRE(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr) == CL_SUCCESS);
    if (status == CL_COMPLETE) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a thousand commands are what the device says they were") {
  commands on;
  adaptyst::collector collector(support::options());
  struct tracked_event {
    const char* name;
    std::uint64_t bytes, before_ns;
    cl_event event;
  };
  std::vector<tracked_event> all;
  {
    ADAPTYST_REGION("step");
    for (int at = 0; at != 250; ++at) {
      const auto add = [&](const char* name, std::uint64_t bytes, cl_event (*enqueue)(commands&)) {
        const std::uint64_t before_ns = adaptyst::now_ns();
        all.push_back({name, bytes, before_ns, enqueue(on)});
        adaptyst::opencl::track(all.back().event, name, adaptyst::work{bytes});
      };
      add("upload", commands::bytes, [](commands& commands) { return commands.write(); });
      add("spin", 0, [](commands& commands) { return commands.spin(100); });
      add("clear", 0, [](commands& commands) { return commands.fill(); });
      add("download", commands::bytes, [](commands& commands) { return commands.read(); });
    }
  }
  clFinish(on.queue);
  const std::uint64_t after_ns = adaptyst::now_ns();
  const adaptyst::profile p = collect_all(collector, 1001);

  support::check_account(p);
  CHECK(p.accounting.lost.empty());
  CHECK(p.accounting.ended == 1001);
  std::vector<device_times> times;
  std::uint64_t waited = 0;
  for (const tracked_event& tracked : all) {
    const device_times raw = times.emplace_back(tracked.event);
    waited += raw.started - raw.queued;
    CHECK(raw.queued <= raw.submitted);
    CHECK(raw.submitted <= raw.started);
    CHECK(raw.started <= raw.ended);
    // The host read its clock around the whole of it.
    adaptyst::detail::opencl::converted_times converted{raw.queued, raw.started, raw.ended, 0};
    REQUIRE(adaptyst::detail::opencl::convert(*adaptyst::detail::opencl::find_device(on.device), 0, converted));
    CHECK(converted.queued_ns + reading_ns >= tracked.before_ns);
    CHECK(converted.queued_ns <= converted.started_ns);
    CHECK(converted.started_ns <= converted.ended_ns);
    CHECK(converted.ended_ns <= after_ns + reading_ns);
  }
  for (const auto& [name, kind] :
       {std::pair<const char*, adaptyst::region_kind>{"upload", adaptyst::region_kind::copy_to},
        {"spin", adaptyst::region_kind::kernel},
        {"clear", adaptyst::region_kind::fill},
        {"download", adaptyst::region_kind::copy_from}}) {
    INFO(name);
    const adaptyst::region& region = support::find(p, {"step", name});
    CHECK(region.kind == kind);
    CHECK(region.device == 1);
    CHECK(region.count == 250);
    std::uint64_t sum = 0;
    std::uint64_t bytes = 0;
    for (std::size_t at = 0; at != all.size(); ++at) {
      if (std::string(all[at].name) != name) continue;
      sum += times[at].ended - times[at].started;
      bytes += all[at].bytes;
    }
    check_near(region.total_ns, sum, 250 * reading_ns);
    if (bytes != 0) CHECK(region.attributes.at("bytes").sum == static_cast<double>(bytes));
  }
  const adaptyst::device_usage& device = second_device(p);
  CHECK(device.operations == 1000);
  CHECK(device.queues == 1);
  REQUIRE(device.busy_ns.has_value());
  check_near(*device.busy_ns, time_in_any(times), 1000 * reading_ns);
  REQUIRE(device.queue_wait.has_value());
  check_near(device.queue_wait->total_ns, waited, 1000 * reading_ns + waited / 1000);
  REQUIRE(device.clock.has_value());
  CHECK(device.clock->sync_points >= 2);
  for (const tracked_event& tracked : all) clReleaseEvent(tracked.event);
}

TEST_CASE("a device has the kind, number and name that OpenCL gives it") {
  commands on;
  adaptyst::collector collector(support::options());
  const cl_event event = on.spin(1);
  adaptyst::opencl::track(event, "spin");
  clReleaseEvent(event);
  clFinish(on.queue);
  const adaptyst::profile p = collect_all(collector, 1);
  cl_device_type type = 0;
  char name[256] = "";
  REQUIRE(clGetDeviceInfo(on.device, CL_DEVICE_TYPE, sizeof type, &type, nullptr) == CL_SUCCESS);
  REQUIRE(clGetDeviceInfo(on.device, CL_DEVICE_NAME, sizeof name, name, nullptr) == CL_SUCCESS);
  const adaptyst::device_usage& device = second_device(p);
  CHECK(device.kind == ((type & CL_DEVICE_TYPE_CPU) != 0   ? adaptyst::device_kind::cpu
                        : (type & CL_DEVICE_TYPE_GPU) != 0 ? adaptyst::device_kind::gpu
                                                           : adaptyst::device_kind::accelerator));
  CHECK(device.index == 0);
  CHECK(device.name == std::string(name).substr(0, 39));
}

TEST_CASE("what the driver does before a first launch is launch latency, not work") {
  commands on;  // with a program of its own, which is compiled for the first launch
  adaptyst::collector collector(support::options());
  const cl_event event = on.spin(1);
  adaptyst::opencl::track(event, "first");
  clFinish(on.queue);
  const adaptyst::profile p = collect_all(collector, 1);
  const device_times raw(event);
  const adaptyst::device_usage& device = second_device(p);
  REQUIRE(device.launch_latency.has_value());
  check_near(device.launch_latency->total_ns, raw.started - raw.queued, reading_ns + (raw.started - raw.queued) / 1000);
  check_near(*device.busy_ns, raw.ended - raw.started, reading_ns);
  clReleaseEvent(event);
}

TEST_CASE("the program may release its event at once, and close the region") {
  commands on;
  adaptyst::collector collector(support::options());
  for (int at = 0; at != 100; ++at) {
    ADAPTYST_REGION("launch");
    const cl_event event = on.spin(1000);
    adaptyst::opencl::track(event, "spin");
    clReleaseEvent(event);
  }
  clFinish(on.queue);
  const adaptyst::profile p = collect_all(collector, 200);
  CHECK(p.accounting.lost.empty());
  CHECK(support::find(p, {"launch", "spin"}).count == 100);
}

TEST_CASE("commands of a queue without profiling are counted as lost, and no time is made up") {
  commands on{0};
  adaptyst::collector collector(support::options());
  for (int at = 0; at != 10; ++at) {
    const cl_event event = on.spin(1);
    adaptyst::opencl::track(event, "spin");
    clReleaseEvent(event);
  }
  clFinish(on.queue);
  const adaptyst::profile p = collect_all(collector, 0);
  support::check_identity(p);
  CHECK(support::lost(p, adaptyst::loss_reason::no_times) == 10);
  CHECK(p.accounting.ended == 0);
  for (const adaptyst::region& region : p.regions) CHECK(region.count == 0);
}

TEST_CASE("an out-of-order queue may finish first what was submitted last") {
  commands on{CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
  adaptyst::collector collector(support::options());
  cl_int status = 0;
  const cl_event gate = clCreateUserEvent(on.context, &status);
  REQUIRE(status == CL_SUCCESS);
  const cl_event late = on.spin(100, {gate});
  adaptyst::opencl::track(late, "late");
  const cl_event early = on.spin(100);
  adaptyst::opencl::track(early, "early");
  adaptyst::opencl::track(gate, "none of the device's");
  clFlush(on.queue);
  // A driver may also run all commands in order: NVIDIA's starts none behind a user event.
  const bool is_out_of_order = ends_soon(early);
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE) == CL_SUCCESS);
  clFinish(on.queue);
  const adaptyst::profile p = collect_all(collector, 2);
  CHECK(p.accounting.lost.empty());
  CHECK(p.accounting.ended == 2);
  if (is_out_of_order) CHECK(device_times(early).ended <= device_times(late).started);
  CHECK(support::find(p, {"late"}).count == 1);
  CHECK(support::find(p, {"early"}).count == 1);
  for (const cl_event event : {gate, late, early}) clReleaseEvent(event);
}

TEST_CASE("while nothing listens, a command is left alone") {
  commands on;
  cl_int status = 0;
  const cl_event gate = clCreateUserEvent(on.context, &status);
  REQUIRE(status == CL_SUCCESS);
  const cl_event event = on.spin(1, {gate});
  const auto references = [&] {
    cl_uint count = 0;
    REQUIRE(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof count, &count, nullptr) == CL_SUCCESS);
    return count;
  };
  const cl_uint before = references();
  adaptyst::opencl::track(event, "unseen");
  CHECK(references() == before);
  {
    adaptyst::collector collector(support::options());
    adaptyst::opencl::track(event, "seen");
    CHECK(references() == before + 1);
  }
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE) == CL_SUCCESS);
  clReleaseEvent(event);
  clReleaseEvent(gate);
}

TEST_CASE("a command that outlives its collector is none of the next one's") {
  commands on;
  cl_int status = 0;
  const cl_event gate = clCreateUserEvent(on.context, &status);
  REQUIRE(status == CL_SUCCESS);
  cl_event late = nullptr;
  {
    adaptyst::collector first(support::options());
    late = on.spin(1, {gate});
    adaptyst::opencl::track(late, "late");
    CHECK(first.stop().accounting.open == 1);
  }
  adaptyst::collector second(support::options());
  CHECK(clSetUserEventStatus(gate, CL_COMPLETE) == CL_SUCCESS);
  clFinish(on.queue);
  const adaptyst::profile p = second.stop();
  support::check_identity(p);
  CHECK(p.accounting.ended == 0);
  clReleaseEvent(late);
  clReleaseEvent(gate);
}
