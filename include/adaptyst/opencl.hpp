// Measures commands that a program enqueues on OpenCL devices.
//
//   cl_event done;
//   clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, 0, nullptr, &done);
//   adaptyst::opencl::track(done, "advect", adaptyst::work{bytes, flops});
//   clReleaseEvent(done);                            // the tracker keeps a reference while it needs the event
//
// The command belongs to the region that is open in track(). It is recorded on the queue's device as a kernel or copy,
// by OpenCL's type, and completes without further calls. Its times come from the device: create the queue with
// CL_QUEUE_PROFILING_ENABLE. In other queues each command is counted as lost (no_times). libadaptyst-opencl.so does the
// same for an unchanged program; then track() does nothing. Use ADAPTYST_WAIT (offload.hpp) where the host waits. See
// docs/opencl.md.
//
// Cost when idle: as submit(). When enabled: 1 us per command, partly in the driver's thread; 0.5 ms for the first
// command of a device, to relate its clock. Thread-safe. Link with OpenCL. Do not unload a library before the commands
// that it tracks end.
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

// Call it on the thread that enqueued the command, directly afterwards.
template <class Name>
void track(cl_event command, const Name& name, const work& amount = {}, const char* file = __builtin_FILE(),
           const char* function = __builtin_FUNCTION(),
           uint32_t line = static_cast<uint32_t>(__builtin_LINE())) noexcept {
  if (!detail::is_enabled() || detail::opencl::is_interposed()) return;
  detail::opencl::track_command(submitting(), command, detail::to_event_text(name), amount, {file, function, line});
}

// The same, with submitting() called before the command was enqueued.
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
