// OpenCL devices of this process: names, and conversion of their times.
#ifndef ADAPTYST_DETAIL_OPENCL_DEVICE_HPP
#define ADAPTYST_DETAIL_OPENCL_DEVICE_HPP

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300  // the default of <CL/cl.h>, without its message in each compilation
#endif
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

#include <atomic>
#include <mutex>
#include <new>

#include "../adapter/device_clock.hpp"
#include "opencl_clock.hpp"

namespace adaptyst { inline namespace v1 { namespace detail { namespace opencl {

// The result of a query; `otherwise` if it fails.
template <class Value, class Query, class Of>
Value get_info(Query query, Of subject, cl_uint what, Value otherwise) noexcept {
  Value answer{};
  return query(subject, what, sizeof answer, &answer, nullptr) == CL_SUCCESS ? answer : otherwise;
}

template <class = void>
uint64_t profiling_time(cl_event event, cl_profiling_info which) noexcept {
  return get_info<cl_ulong>(clGetEventProfilingInfo, event, which, 0);
}

// Its number among the devices of its kind on its platform; for a sub-device, that of its parent.
template <class = void>
uint32_t find_index(cl_device_id id, cl_device_type type) noexcept {
  while (const cl_device_id parent = get_info<cl_device_id>(clGetDeviceInfo, id, CL_DEVICE_PARENT_DEVICE, nullptr))
    id = parent;
  const cl_platform_id platform = get_info<cl_platform_id>(clGetDeviceInfo, id, CL_DEVICE_PLATFORM, nullptr);
  cl_device_id all[64];
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, type, 64, all, &count) != CL_SUCCESS) return 0;
  for (cl_uint at = 0; at != count && at != 64; ++at)
    if (all[at] == id) return at;
  return 0;
}

template <class = void>
device describe(cl_device_id id) noexcept {
  char name[256] = "OpenCL device";
  if (clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof name, name, nullptr) != CL_SUCCESS) name[sizeof name - 1] = '\0';
  const cl_device_type types = get_info<cl_device_type>(clGetDeviceInfo, id, CL_DEVICE_TYPE, 0);
  if ((types & CL_DEVICE_TYPE_GPU) != 0) return {device_kind::gpu, find_index(id, CL_DEVICE_TYPE_GPU), name};
  if ((types & CL_DEVICE_TYPE_CPU) != 0) return {device_kind::cpu, find_index(id, CL_DEVICE_TYPE_CPU), name};
  if ((types & CL_DEVICE_TYPE_ACCELERATOR) != 0)
    return {device_kind::accelerator, find_index(id, CL_DEVICE_TYPE_ACCELERATOR), name};
  return {device_kind::other, find_index(id, CL_DEVICE_TYPE_ALL), name};
}

// clGetDeviceAndHostTimer() of OpenCL 2.1 reads the device's clock. Older headers do not declare it, and older drivers
// must not be called.
using device_timer = cl_int(CL_API_CALL*)(cl_device_id, cl_ulong*, cl_ulong*);
template <class = void>
device_timer find_timer(cl_device_id id) noexcept {
  char version[128] = "";  // "OpenCL 3.0 …"
  if (clGetDeviceInfo(id, CL_DEVICE_VERSION, sizeof version, version, nullptr) != CL_SUCCESS) return nullptr;
  if (strtod(version + 7, nullptr) < 2.1) return nullptr;
  void* const found = dlsym(RTLD_DEFAULT, "clGetDeviceAndHostTimer");
  device_timer timer = nullptr;
  __builtin_memcpy(&timer, &found, sizeof timer);
  cl_ulong of_device = 0;
  cl_ulong of_host = 0;
  return timer != nullptr && timer(id, &of_device, &of_host) == CL_SUCCESS ? timer : nullptr;
}

struct device_state {
  explicit device_state(cl_device_id what) noexcept
      : id(what),
        named(describe(what)),
        shares_memory((get_info<cl_device_type>(clGetDeviceInfo, what, CL_DEVICE_TYPE, 0) & CL_DEVICE_TYPE_CPU) != 0 ||
                      get_info<cl_bool>(clGetDeviceInfo, what, 0x1035 /* CL_DEVICE_HOST_UNIFIED_MEMORY */, CL_FALSE) !=
                          CL_FALSE),
        resolution_ns(get_info<size_t>(clGetDeviceInfo, what, CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1)) {}

  const cl_device_id id;
  const device named;
  const bool shares_memory;  // with the host
  const uint64_t resolution_ns;
  device_timer timer = nullptr;
  std::atomic<bool> has_clock{false};
  std::atomic<uint64_t> next_read_ns{~uint64_t{0}};  // next check of its clock
  std::mutex finding;                                // held by the thread that sets `has_clock`
  std::mutex lock;                                   // for the members below; no call under it waits for the device
  fitted_clock clock;
  uint64_t reported_epoch = 0;
  uint64_t reported_point_ns = 0;
  device_state* next = nullptr;
};

inline std::atomic<device_state*> known_devices{nullptr};
inline std::mutex making_known;

// Null without memory. Never freed: callbacks may come until the process ends.
template <class = void>
device_state* find_device(cl_device_id id) noexcept {
  for (device_state* at = known_devices.load(std::memory_order_acquire); at != nullptr; at = at->next)
    if (at->id == id) return at;
  const std::lock_guard<std::mutex> alone(making_known);
  for (device_state* at = known_devices.load(std::memory_order_acquire); at != nullptr; at = at->next)
    if (at->id == id) return at;
  device_state* const made = new (std::nothrow) device_state(id);
  if (made == nullptr) return nullptr;
  made->next = known_devices.load(std::memory_order_relaxed);
  known_devices.store(made, std::memory_order_release);
  return made;
}

constexpr uint64_t any_width = ~uint64_t{0};

// A marker in a separate queue, between readings of the host's clocks.
struct bracket {
  device_state* of;
  uint64_t max_width_ns;  // as in fitted_clock::bracket()
  host_times before, after;
  cl_event marker;
};

template <class = void>
bool enqueue_bracketed(device_state& on, cl_context in, uint64_t max_width_ns, bracket& made) noexcept {
  cl_int status = CL_SUCCESS;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // OpenCL 2.0 replaced it; all implementations still have it
  const cl_command_queue queue = clCreateCommandQueue(in, on.id, CL_QUEUE_PROFILING_ENABLE, &status);
#pragma GCC diagnostic pop
  if (queue == nullptr || status != CL_SUCCESS) return false;
  made.of = &on;
  made.max_width_ns = max_width_ns;
  made.before = read_host_times();
  status = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &made.marker);
  made.after = read_host_times();
  if (status == CL_SUCCESS) clFlush(queue);
  clReleaseCommandQueue(queue);  // destroyed when the marker is done
  return status == CL_SUCCESS;
}

template <class = void>
void evaluate(const bracket& done) noexcept {
  const uint64_t queued_ns = profiling_time(done.marker, CL_PROFILING_COMMAND_QUEUED);
  clReleaseEvent(done.marker);
  if (queued_ns == 0) return;
  const std::lock_guard<std::mutex> alone(done.of->lock);
  done.of->clock.bracket(done.before, done.after, queued_ns, done.of->resolution_ns, done.max_width_ns);
}

template <class = void>
void CL_CALLBACK evaluate_later(cl_event, cl_int, void* made) noexcept {
  bracket* const done = static_cast<bracket*>(made);
  evaluate(*done);
  delete done;
}

template <class = void>
void evaluate_now(device_state& on, cl_context in, uint64_t max_width_ns) noexcept {
  bracket made{};
  if (!enqueue_bracketed(on, in, max_width_ns, made)) return;
  clWaitForEvents(1, &made.marker);
  evaluate(made);
}

template <class = void>
bool read_timer(device_state& on) noexcept {
  if (on.timer == nullptr) return false;
  uint64_t narrowest_ns = ~uint64_t{0};
  uint64_t device_ns = 0;
  uint64_t host_ns = 0;
  for (unsigned attempt = 0; attempt != 3; ++attempt) {
    cl_ulong of_device = 0;
    cl_ulong of_host = 0;
    const uint64_t before = monotonic_ns();
    if (on.timer(on.id, &of_device, &of_host) != CL_SUCCESS) return false;
    const uint64_t after = monotonic_ns();
    if (after - before >= narrowest_ns) continue;
    narrowest_ns = after - before;
    device_ns = of_device;
    host_ns = before + narrowest_ns / 2;
  }
  const std::lock_guard<std::mutex> alone(on.lock);
  on.clock.set_point(device_ns, host_ns);
  return true;
}

// Takes a sync point of a clock that is not a host clock. Early attempts accept narrow brackets only.
template <class = void>
void take_point(device_state& on, cl_context in) noexcept {
  if (read_timer(on)) return;
  const uint64_t before_ns = on.clock.last_point_ns();
  for (unsigned attempt = 0; attempt != 10 && on.clock.last_point_ns() == before_ns; ++attempt)
    evaluate_now(on, in, attempt < 8 ? uint64_t{40'000} << (attempt / 2) : any_width);
}

// Checks the clock again if due, without waiting for the device.
template <class = void>
void read_device_clock(device_state& on, cl_command_queue like, uint64_t now_ns) noexcept {
  bool of_host;
  {
    const std::lock_guard<std::mutex> alone(on.lock);
    of_host = on.clock.is_host_clock();
    if (of_host && !on.clock.is_ambiguous()) return;
  }
  on.next_read_ns.store(now_ns + (of_host ? 1'000'000'000 : 100'000'000), std::memory_order_relaxed);
  if (!of_host && read_timer(on)) return;
  bracket* const made = new (std::nothrow) bracket{};
  const cl_context in = get_info<cl_context>(clGetCommandQueueInfo, like, CL_QUEUE_CONTEXT, nullptr);
  if (made == nullptr || !enqueue_bracketed(on, in, on.timer == nullptr ? any_width : 0, *made)) return delete made;
  if (clSetEventCallback(made->marker, CL_COMPLETE, &evaluate_later<>, made) == CL_SUCCESS) return;
  clReleaseEvent(made->marker);
  delete made;
}

template <class = void>
bool is_ready(device_state& on) noexcept {
  const std::lock_guard<std::mutex> alone(on.lock);
  on.clock.keep_synchronised(monotonic_ns());
  return on.clock.is_ready();
}

template <class = void>
void find_clock(device_state& on, cl_command_queue like) noexcept {
  const std::lock_guard<std::mutex> alone(on.finding);
  if (on.has_clock.load(std::memory_order_relaxed)) return;
  const cl_context in = get_info<cl_context>(clGetCommandQueueInfo, like, CL_QUEUE_CONTEXT, nullptr);
  on.timer = find_timer(on.id);
  for (unsigned attempt = 0; attempt != 3; ++attempt) evaluate_now(on, in, 0);
  if (on.clock.is_host_clock()) {
    while (!is_ready(on)) {  // until two points are far enough from each other
    }
  } else {
    take_point(on, in);
    for (unsigned attempt = 0; attempt != 3 && !on.clock.is_ready(); ++attempt) {
      // After this time, is_useful() permits a bracket of the same width, up to 200 us.
      const uint64_t wide_ns = 250 * on.clock.last_width_ns();
      timespec left{0, wide_ns < 10'000'000   ? 10'000'000
                       : wide_ns > 50'000'000 ? 50'000'000
                                              : static_cast<long>(wide_ns)};
      while (nanosleep(&left, &left) != 0) {  // after a signal
      }
      take_point(on, in);
    }
  }
  on.next_read_ns.store(monotonic_ns() + 100'000'000, std::memory_order_relaxed);
  on.has_clock.store(true, std::memory_order_release);
}

// Call it before times of the queue are converted, on threads of the program only. The first call for a device waits
// for several markers in a separate queue.
template <class = void>
void prepare_clock(device_state& on, cl_command_queue queue, uint64_t now_ns) noexcept {
  if (!on.has_clock.load(std::memory_order_acquire)) return find_clock(on, queue);
  uint64_t due_ns = on.next_read_ns.load(std::memory_order_relaxed);
  if (now_ns < due_ns) return;
  if (on.next_read_ns.compare_exchange_strong(due_ns, ~uint64_t{0})) read_device_clock(on, queue, now_ns);
}

}}}}  // namespace adaptyst::v1::detail::opencl

#endif
