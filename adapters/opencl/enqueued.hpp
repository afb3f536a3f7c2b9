// Enqueues one command. If a tool is attached, also tracks the command, with a new event if the program requests none.
// Finds the function of OpenCL that a function of this library replaces.
#ifndef ADAPTYST_ADAPTERS_OPENCL_ENQUEUED_HPP
#define ADAPTYST_ADAPTERS_OPENCL_ENQUEUED_HPP

#include <adaptyst/offload.hpp>
#include <adaptyst/opencl.hpp>
#include <dlfcn.h>

namespace adaptyst::interposer {

// This library is linked with OpenCL's, so there is always such a function.
template <class Function>
Function* next(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

// True while this thread works for this library: its calls of OpenCL are not the program's.
inline thread_local bool is_ours = false;
class ours {
 public:
  ours() noexcept { is_ours = true; }
  ~ours() { is_ours = false; }
  ours(const ours&) = delete;
  ours& operator=(const ours&) = delete;

 private:
  const detail::system::errno_kept unchanged_;
};

inline bool is_observed() noexcept { return detail::is_enabled() && !is_ours; }

struct command {
  const char* function;
  cl_command_type type;
  const char* name;  // or that of the kernel
  size_t bytes;
  cl_kernel kernel = nullptr;
  cl_mem image = nullptr;  // then `bytes` is a number of its elements
};

inline size_t volume(const size_t* region) noexcept {
  return region == nullptr ? 0 : region[0] * region[1] * region[2];
}

inline void track(const submission& when, cl_event made, const detail::opencl::observed_queue& in,
                  const command& what) noexcept {
  const ours now;
  char kernel[256] = "kernel";
  detail::text name = detail::to_text(what.name);
  if (what.kernel != nullptr) {
    if (clGetKernelInfo(what.kernel, CL_KERNEL_FUNCTION_NAME, sizeof kernel, kernel, nullptr) != CL_SUCCESS)
      kernel[sizeof kernel - 1] = '\0';
    name = detail::to_event_text(kernel);
  }
  size_t bytes = what.bytes;
  if (what.image != nullptr)
    bytes *= detail::opencl::get_info<size_t>(clGetImageInfo, what.image, CL_IMAGE_ELEMENT_SIZE, 0);
  detail::opencl::track_command(when, made, what.type, in, name, work{bytes}, {"", what.function, 0});
}

// `call(event)` enqueues, and returns the status.
template <class Call>
cl_int enqueue(cl_command_queue queue, const command& what, cl_bool blocking, cl_event* wanted, Call&& call) {
  if (!is_observed()) return call(wanted);
  const detail::opencl::observed_queue in = detail::opencl::look_up(queue);
  if (in.on != nullptr && in.reports_times) {
    const ours now;  // before the command, which may keep the device busy for long
    detail::opencl::prepare_clock(*in.on, queue, now_ns());
  }
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
  track(when, *made, in, what);
  if (wanted == nullptr) clReleaseEvent(own);
  return status;
}

}  // namespace adaptyst::interposer

// For use in a function of this library: the function of OpenCL that it replaces.
#define ADAPTYST_REPLACED(function)                                                                           \
  ([]() noexcept {                                                                                            \
    static decltype(&::function) const found = ::adaptyst::interposer::next<decltype(::function)>(#function); \
    return found;                                                                                             \
  }())

// Makes a function visible, so that it replaces OpenCL's function of that name.
#define ADAPTYST_EXPORTED extern "C" __attribute__((visibility("default")))

#endif
