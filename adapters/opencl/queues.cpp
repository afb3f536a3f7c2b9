// Creates queues, and observes where the host waits for the commands in them.
//
// Queues are created with profiling, also without an attached tool: a collector may start later.
// ADAPTYST_OPENCL_PROFILING=no leaves them as requested by the program.
#include <stdlib.h>
#include <string.h>

#include "../inheritance.hpp"
#include "enqueued.hpp"

using namespace adaptyst::interposer;

namespace {

__attribute__((constructor)) void leave_children() noexcept {
  if (adaptyst::adapters::is_needed_by_others("libOpenCL.so")) adaptyst::adapters::end_inheritance();
}

bool is_profiling_enabled() noexcept {
  const char* const answer = getenv("ADAPTYST_OPENCL_PROFILING");
  return answer == nullptr || strcmp(answer, "no") != 0;
}

// Copies the list with profiling. False: too long, or an on-device queue.
constexpr size_t max_properties = 64;
bool add_profiling(const cl_queue_properties* from, cl_queue_properties (&to)[max_properties]) noexcept {
  size_t count = 0;
  bool has_flags = false;
  for (; from != nullptr && from[count] != 0; count += 2) {
    if (count + 5 > max_properties) return false;
    to[count] = from[count];
    to[count + 1] = from[count + 1];
    if (from[count] != CL_QUEUE_PROPERTIES) continue;
    if ((from[count + 1] & CL_QUEUE_ON_DEVICE) != 0) return false;
    to[count + 1] |= CL_QUEUE_PROFILING_ENABLE;
    has_flags = true;
  }
  if (!has_flags) {
    to[count++] = CL_QUEUE_PROPERTIES;
    to[count++] = CL_QUEUE_PROFILING_ENABLE;
  }
  to[count] = 0;
  return true;
}

}  // namespace

// Informs adaptyst::opencl::track() in the program that all commands are already tracked.
ADAPTYST_EXPORTED const int adaptyst_opencl_interposer;
const int adaptyst_opencl_interposer = 1;

ADAPTYST_EXPORTED cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context, cl_device_id device,
                                                                    cl_command_queue_properties properties,
                                                                    cl_int* status) {
  const auto next = ADAPTYST_REPLACED(clCreateCommandQueue);
  if (is_profiling_enabled() && (properties & CL_QUEUE_PROFILING_ENABLE) == 0)
    if (const cl_command_queue made = next(context, device, properties | CL_QUEUE_PROFILING_ENABLE, status))
      return made;
  return next(context, device, properties, status);
}

ADAPTYST_EXPORTED cl_command_queue CL_API_CALL clCreateCommandQueueWithProperties(cl_context context,
                                                                                  cl_device_id device,
                                                                                  const cl_queue_properties* properties,
                                                                                  cl_int* status) {
  const auto next = ADAPTYST_REPLACED(clCreateCommandQueueWithProperties);
  cl_queue_properties with_profiling[max_properties];
  if (is_profiling_enabled() && add_profiling(properties, with_profiling))
    if (const cl_command_queue made = next(context, device, with_profiling, status)) return made;
  return next(context, device, properties, status);
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clFinish(cl_command_queue queue) {
  if (!is_observed()) return ADAPTYST_REPLACED(clFinish)(queue);
  ADAPTYST_WAIT("clFinish");
  return ADAPTYST_REPLACED(clFinish)(queue);
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clWaitForEvents(cl_uint count, const cl_event* events) {
  if (!is_observed()) return ADAPTYST_REPLACED(clWaitForEvents)(count, events);
  ADAPTYST_WAIT("clWaitForEvents");
  return ADAPTYST_REPLACED(clWaitForEvents)(count, events);
}
