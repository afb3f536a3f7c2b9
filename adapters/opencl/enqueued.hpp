// One command on its way to its queue: tracked if anybody looks, with an event of ours if the program wants none.
#ifndef ADAPTYST_ADAPTERS_OPENCL_ENQUEUED_HPP
#define ADAPTYST_ADAPTERS_OPENCL_ENQUEUED_HPP

#include <adaptyst/offload.hpp>
#include <adaptyst/opencl.hpp>

#include "next.hpp"

namespace adaptyst::interposer {

// While this thread does something for us: its calls of OpenCL are not the program's.
inline thread_local bool is_ours = false;
class ours {
 public:
  ours() noexcept { is_ours = true; }
  ~ours() { is_ours = false; }
  ours(const ours&) = delete;
  ours& operator=(const ours&) = delete;
};

inline bool is_observed() noexcept { return detail::is_awake() && !is_ours; }

struct command {
  const char* function;
  const char* name;  // or the kernel's
  size_t bytes;
  cl_kernel kernel = nullptr;
  cl_mem image = nullptr;  // of which `bytes` counts the elements
};

inline size_t volume(const size_t* region) noexcept {
  return region == nullptr ? 0 : region[0] * region[1] * region[2];
}

// Before the command, which may keep the device busy for long.
inline void prepare(cl_command_queue queue) noexcept {
  const ours now;
  const auto flags =
      detail::opencl::ask<cl_command_queue_properties>(clGetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, 0);
  const auto id = detail::opencl::ask<cl_device_id>(clGetCommandQueueInfo, queue, CL_QUEUE_DEVICE, nullptr);
  if ((flags & CL_QUEUE_PROFILING_ENABLE) == 0 || id == nullptr) return;
  if (detail::opencl::known_device* const on = detail::opencl::device_of(id))
    detail::opencl::prepare_clock(*on, queue, now_ns());
}

inline void track(const submission& when, cl_event made, const command& what) noexcept {
  const ours now;
  char kernel[256] = "kernel";
  detail::text name = detail::text_of(what.name);
  if (what.kernel != nullptr) {
    if (clGetKernelInfo(what.kernel, CL_KERNEL_FUNCTION_NAME, sizeof kernel, kernel, nullptr) != CL_SUCCESS)
      kernel[sizeof kernel - 1] = '\0';
    name = detail::text_of_event(kernel);
  }
  size_t bytes = what.bytes;
  if (what.image != nullptr) bytes *= detail::opencl::ask<size_t>(clGetImageInfo, what.image, CL_IMAGE_ELEMENT_SIZE, 0);
  detail::opencl::track_command(when, made, name, work{bytes}, {"", what.function, 0});
}

// `call(event)` enqueues, and says whether it could.
template <class Call>
cl_int enqueue(cl_command_queue queue, const command& what, cl_bool blocking, cl_event* wanted, Call&& call) {
  if (!is_observed()) return call(wanted);
  prepare(queue);
  cl_event own = nullptr;
  cl_event* const made = wanted != nullptr ? wanted : &own;
  const submission when = submitting();
  cl_int status;
  if (blocking != CL_FALSE) {
    ADAPTYST_WAIT(what.function);
    status = call(made);
  } else {
    status = call(made);
  }
  if (status != CL_SUCCESS) return status;
  track(when, *made, what);
  if (wanted == nullptr) clReleaseEvent(own);
  return status;
}

}  // namespace adaptyst::interposer

#endif
