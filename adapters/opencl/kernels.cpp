// Kernels, under the names that they have in their program.
#include "enqueued.hpp"

using namespace adaptyst::interposer;

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                              cl_uint dimensions, const size_t* offset,
                                                              const size_t* global, const size_t* local, cl_uint count,
                                                              const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "kernel", 0, kernel}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                                     const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "kernel", 0, kernel}, CL_FALSE, event,
                 [&](cl_event* made) { return ADAPTYST_NEXT(clEnqueueTask)(queue, kernel, count, after, made); });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* call)(void*),
                                                             void* arguments, size_t bytes, cl_uint object_count,
                                                             const cl_mem* objects, const void** places, cl_uint count,
                                                             const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "native kernel", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueNativeKernel)(queue, call, arguments, bytes, object_count, objects, places, count,
                                                after, made);
  });
}
