// Copies of buffers, to, from and within a device.
#include "enqueued.hpp"

using namespace adaptyst::interposer;

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                           size_t offset, size_t size, void* host, cl_uint count,
                                                           const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "read buffer", size}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, host, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                               const size_t* buffer_origin, const size_t* host_origin,
                                                               const size_t* region, size_t buffer_row,
                                                               size_t buffer_slice, size_t host_row, size_t host_slice,
                                                               void* host, cl_uint count, const cl_event* after,
                                                               cl_event* event) {
  return enqueue(queue, {__func__, "read buffer rect", volume(region)}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueReadBufferRect)(queue, buffer, blocking, buffer_origin, host_origin, region,
                                                  buffer_row, buffer_slice, host_row, host_slice, host, count, after,
                                                  made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                            size_t offset, size_t size, const void* host, cl_uint count,
                                                            const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "write buffer", size}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, host, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                                const size_t* buffer_origin, const size_t* host_origin,
                                                                const size_t* region, size_t buffer_row,
                                                                size_t buffer_slice, size_t host_row, size_t host_slice,
                                                                const void* host, cl_uint count, const cl_event* after,
                                                                cl_event* event) {
  return enqueue(queue, {__func__, "write buffer rect", volume(region)}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueWriteBufferRect)(queue, buffer, blocking, buffer_origin, host_origin, region,
                                                   buffer_row, buffer_slice, host_row, host_slice, host, count, after,
                                                   made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                                           size_t pattern_size, size_t offset, size_t size,
                                                           cl_uint count, const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "fill buffer", size}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueFillBuffer)(queue, buffer, pattern, pattern_size, offset, size, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                           size_t from_offset, size_t to_offset, size_t size,
                                                           cl_uint count, const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "copy buffer", size}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueCopyBuffer)(queue, from, to, from_offset, to_offset, size, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                                               const size_t* from_origin, const size_t* to_origin,
                                                               const size_t* region, size_t from_row, size_t from_slice,
                                                               size_t to_row, size_t to_slice, cl_uint count,
                                                               const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "copy buffer rect", volume(region)}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueCopyBufferRect)(queue, from, to, from_origin, to_origin, region, from_row, from_slice,
                                                  to_row, to_slice, count, after, made);
  });
}

ADAPTYST_STANDS_FOR void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                         cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                                         const cl_event* after, cl_event* event, cl_int* status) {
  void* mapped = nullptr;
  cl_int own_status = CL_SUCCESS;
  own_status = enqueue(queue, {__func__, "map buffer", size}, blocking, event, [&](cl_event* made) {
    mapped = ADAPTYST_NEXT(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, count, after, made,
                                               &own_status);
    return own_status;
  });
  if (status != nullptr) *status = own_status;
  return mapped;
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void* mapped,
                                                               cl_uint count, const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "unmap", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueUnmapMemObject)(queue, object, mapped, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint object_count,
                                                                  const cl_mem* objects, cl_mem_migration_flags flags,
                                                                  cl_uint count, const cl_event* after,
                                                                  cl_event* event) {
  return enqueue(queue, {__func__, "migrate", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueMigrateMemObjects)(queue, object_count, objects, flags, count, after, made);
  });
}
