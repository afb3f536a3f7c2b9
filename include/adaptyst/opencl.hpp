// Tells of commands that a program gives to OpenCL devices.
//
//   cl_event done;
//   clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, 0, nullptr, &done);
//   adaptyst::opencl::track(done, "advect", adaptyst::work{bytes, flops});
//   clReleaseEvent(done);                            // the tracker keeps it for as long as it needs
//
// The command belongs to the region that is open here, is booked on the queue's device as a kernel or a copy, as OpenCL
// calls it, and completes by itself. When it ran is what the device says, so the queue must be made with
// CL_QUEUE_PROFILING_ENABLE; of commands in others nothing is known, and each is counted as lost (no_times). A program
// that is not to be changed is run with libadaptyst-opencl.so, which does all this for it; then track() does nothing.
// Where the host waits, ADAPTYST_WAIT (offload.hpp) says so. docs/opencl.md
//
// Cost while nothing listens: as submit(). Awake: 1 us a command, part of it in the driver's thread; the first time for
// a device half a millisecond, in which its clock is found. Thread-safe. Programs link with OpenCL. A library with this
// in it must not be unloaded before what it tracks is done.
#ifndef ADAPTYST_OPENCL_HPP
#define ADAPTYST_OPENCL_HPP

#include "operation.hpp"

#ifdef ADAPTYST_DISABLE
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#else
#include "detail/opencl_command.hpp"
#endif

namespace adaptyst { inline namespace v1 { namespace opencl {

#ifdef ADAPTYST_DISABLE

inline namespace disabled {
template <class Name>
void track(cl_event, const Name& name, const work& = {}) noexcept {
  static_cast<void>(detail::to_text(name));
}
template <class Name>
void track(const submission&, cl_event, const Name& name, const work& = {}) noexcept {
  static_cast<void>(detail::to_text(name));
}
}  // namespace disabled

#else

// To be called by the thread that enqueued the command, right after.
template <class Name>
void track(cl_event command, const Name& name, const work& amount = {}, const char* file = __builtin_FILE(),
           const char* function = __builtin_FUNCTION(),
           uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  if (!detail::is_awake() || detail::opencl::is_interposed()) return;
  detail::opencl::track_command(submitting(), command, detail::to_event_text(name), amount, {file, function, line});
}

// The same, with submitting() taken before the command was enqueued.
template <class Name>
void track(const submission& when, cl_event command, const Name& name, const work& amount = {},
           const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
           uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  if (!when || detail::opencl::is_interposed()) return;
  detail::opencl::track_command(when, command, detail::to_event_text(name), amount, {file, function, line});
}

#endif

}}}  // namespace adaptyst::v1::opencl

#endif
