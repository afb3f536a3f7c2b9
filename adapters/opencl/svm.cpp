// Shared virtual memory.
#include "enqueued.hpp"

using namespace adaptyst::interposer;

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void* to,
                                                          const void* from, size_t size, cl_uint count,
                                                          const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "copy shared memory", size}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueSVMMemcpy)(queue, blocking, to, from, size, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void* memory, const void* pattern,
                                                           size_t pattern_size, size_t size, cl_uint count,
                                                           const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "fill shared memory", size}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueSVMMemFill)(queue, memory, pattern, pattern_size, size, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                                                       void* memory, size_t size, cl_uint count, const cl_event* after,
                                                       cl_event* event) {
  return enqueue(queue, {__func__, "map shared memory", size}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueSVMMap)(queue, blocking, flags, memory, size, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void* memory, cl_uint count,
                                                         const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "unmap shared memory", 0}, CL_FALSE, event,
                 [&](cl_event* made) { return ADAPTYST_NEXT(clEnqueueSVMUnmap)(queue, memory, count, after, made); });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint memory_count,
                                                              const void** memory, const size_t* sizes,
                                                              cl_mem_migration_flags flags, cl_uint count,
                                                              const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "migrate shared memory", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueSVMMigrateMem)(queue, memory_count, memory, sizes, flags, count, after, made);
  });
}
