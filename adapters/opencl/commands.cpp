// Commands in queues: kernels, copies of buffers and images, shared virtual memory.
#include "enqueued.hpp"

using namespace adaptyst::interposer;

// ---- kernels, under their names in the program ---------------------------------------------------------------------

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                            cl_uint dimensions, const size_t* offset,
                                                            const size_t* global, const size_t* local, cl_uint count,
                                                            const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_NDRANGE_KERNEL, "kernel", 0, kernel}, CL_FALSE, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local,
                                                                    count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint count,
                                                   const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_TASK, "kernel", 0, kernel}, CL_FALSE, event,
                 [&](cl_event* made) { return ADAPTYST_REPLACED(clEnqueueTask)(queue, kernel, count, after, made); });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* call)(void*),
                                                           void* arguments, size_t bytes, cl_uint object_count,
                                                           const cl_mem* objects, const void** places, cl_uint count,
                                                           const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_NATIVE_KERNEL, "native kernel", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_REPLACED(clEnqueueNativeKernel)(queue, call, arguments, bytes, object_count, objects, places, count,
                                                    after, made);
  });
}

// ---- buffers -------------------------------------------------------------------------------------------------------

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                         size_t offset, size_t size, void* host, cl_uint count,
                                                         const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_READ_BUFFER, "read buffer", size}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_REPLACED(clEnqueueReadBuffer)(queue, buffer, blocking, offset, size, host, count, after, made);
  });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                             const size_t* buffer_origin, const size_t* host_origin,
                                                             const size_t* region, size_t buffer_row,
                                                             size_t buffer_slice, size_t host_row, size_t host_slice,
                                                             void* host, cl_uint count, const cl_event* after,
                                                             cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_READ_BUFFER_RECT, "read buffer rect", volume(region)}, blocking, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueReadBufferRect)(queue, buffer, blocking, buffer_origin,
                                                                     host_origin, region, buffer_row, buffer_slice,
                                                                     host_row, host_slice, host, count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                          size_t offset, size_t size, const void* host, cl_uint count,
                                                          const cl_event* after, cl_event* event) {
  return enqueue(
      queue, {__func__, CL_COMMAND_WRITE_BUFFER, "write buffer", size}, blocking, event, [&](cl_event* made) {
        return ADAPTYST_REPLACED(clEnqueueWriteBuffer)(queue, buffer, blocking, offset, size, host, count, after, made);
      });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                              const size_t* buffer_origin, const size_t* host_origin,
                                                              const size_t* region, size_t buffer_row,
                                                              size_t buffer_slice, size_t host_row, size_t host_slice,
                                                              const void* host, cl_uint count, const cl_event* after,
                                                              cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_WRITE_BUFFER_RECT, "write buffer rect", volume(region)}, blocking, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueWriteBufferRect)(queue, buffer, blocking, buffer_origin,
                                                                      host_origin, region, buffer_row, buffer_slice,
                                                                      host_row, host_slice, host, count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern,
                                                         size_t pattern_size, size_t offset, size_t size, cl_uint count,
                                                         const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_FILL_BUFFER, "fill buffer", size}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_REPLACED(clEnqueueFillBuffer)(queue, buffer, pattern, pattern_size, offset, size, count, after,
                                                  made);
  });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                         size_t from_offset, size_t to_offset, size_t size,
                                                         cl_uint count, const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_COPY_BUFFER, "copy buffer", size}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_REPLACED(clEnqueueCopyBuffer)(queue, from, to, from_offset, to_offset, size, count, after, made);
  });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to,
                                                             const size_t* from_origin, const size_t* to_origin,
                                                             const size_t* region, size_t from_row, size_t from_slice,
                                                             size_t to_row, size_t to_slice, cl_uint count,
                                                             const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_COPY_BUFFER_RECT, "copy buffer rect", volume(region)}, CL_FALSE, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueCopyBufferRect)(queue, from, to, from_origin, to_origin, region,
                                                                     from_row, from_slice, to_row, to_slice, count,
                                                                     after, made);
                 });
}

ADAPTYST_EXPORTED void* CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                                       cl_map_flags flags, size_t offset, size_t size, cl_uint count,
                                                       const cl_event* after, cl_event* event, cl_int* status) {
  void* mapped = nullptr;
  cl_int own_status = CL_SUCCESS;
  own_status =
      enqueue(queue, {__func__, CL_COMMAND_MAP_BUFFER, "map buffer", size}, blocking, event, [&](cl_event* made) {
        mapped = ADAPTYST_REPLACED(clEnqueueMapBuffer)(queue, buffer, blocking, flags, offset, size, count, after, made,
                                                       &own_status);
        return own_status;
      });
  if (status != nullptr) *status = own_status;
  return mapped;
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem object, void* mapped,
                                                             cl_uint count, const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_UNMAP_MEM_OBJECT, "unmap", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_REPLACED(clEnqueueUnmapMemObject)(queue, object, mapped, count, after, made);
  });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint object_count,
                                                                const cl_mem* objects, cl_mem_migration_flags flags,
                                                                cl_uint count, const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_MIGRATE_MEM_OBJECTS, "migrate", 0}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_REPLACED(clEnqueueMigrateMemObjects)(queue, object_count, objects, flags, count, after, made);
  });
}

// ---- images --------------------------------------------------------------------------------------------------------

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                        const size_t* origin, const size_t* region, size_t row,
                                                        size_t slice, void* host, cl_uint count, const cl_event* after,
                                                        cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_READ_IMAGE, "read image", volume(region), nullptr, image}, blocking,
                 event, [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueReadImage)(queue, image, blocking, origin, region, row, slice,
                                                                host, count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                         const size_t* origin, const size_t* region, size_t row,
                                                         size_t slice, const void* host, cl_uint count,
                                                         const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_WRITE_IMAGE, "write image", volume(region), nullptr, image}, blocking,
                 event, [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueWriteImage)(queue, image, blocking, origin, region, row, slice,
                                                                 host, count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color,
                                                        const size_t* origin, const size_t* region, cl_uint count,
                                                        const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_FILL_IMAGE, "fill image", volume(region), nullptr, image}, CL_FALSE,
                 event, [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueFillImage)(queue, image, color, origin, region, count, after,
                                                                made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                                        const size_t* from_origin, const size_t* to_origin,
                                                        const size_t* region, cl_uint count, const cl_event* after,
                                                        cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_COPY_IMAGE, "copy image", volume(region), nullptr, from}, CL_FALSE, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueCopyImage)(queue, from, to, from_origin, to_origin, region, count,
                                                                after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                                const size_t* origin, const size_t* region,
                                                                size_t offset, cl_uint count, const cl_event* after,
                                                                cl_event* event) {
  return enqueue(queue,
                 {__func__, CL_COMMAND_COPY_IMAGE_TO_BUFFER, "copy image to buffer", volume(region), nullptr, from},
                 CL_FALSE, event, [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueCopyImageToBuffer)(queue, from, to, origin, region, offset, count,
                                                                        after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                                                size_t offset, const size_t* origin,
                                                                const size_t* region, cl_uint count,
                                                                const cl_event* after, cl_event* event) {
  return enqueue(queue,
                 {__func__, CL_COMMAND_COPY_BUFFER_TO_IMAGE, "copy buffer to image", volume(region), nullptr, to},
                 CL_FALSE, event, [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueCopyBufferToImage)(queue, from, to, offset, origin, region, count,
                                                                        after, made);
                 });
}

ADAPTYST_EXPORTED void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                      cl_map_flags flags, const size_t* origin, const size_t* region,
                                                      size_t* row, size_t* slice, cl_uint count, const cl_event* after,
                                                      cl_event* event, cl_int* status) {
  void* mapped = nullptr;
  cl_int own_status = CL_SUCCESS;
  own_status = enqueue(queue, {__func__, CL_COMMAND_MAP_IMAGE, "map image", volume(region), nullptr, image}, blocking,
                       event, [&](cl_event* made) {
                         mapped = ADAPTYST_REPLACED(clEnqueueMapImage)(queue, image, blocking, flags, origin, region,
                                                                       row, slice, count, after, made, &own_status);
                         return own_status;
                       });
  if (status != nullptr) *status = own_status;
  return mapped;
}

// ---- shared virtual memory -----------------------------------------------------------------------------------------

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void* to,
                                                        const void* from, size_t size, cl_uint count,
                                                        const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_SVM_MEMCPY, "copy shared memory", size}, blocking, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueSVMMemcpy)(queue, blocking, to, from, size, count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void* memory, const void* pattern,
                                                         size_t pattern_size, size_t size, cl_uint count,
                                                         const cl_event* after, cl_event* event) {
  return enqueue(
      queue, {__func__, CL_COMMAND_SVM_MEMFILL, "fill shared memory", size}, CL_FALSE, event, [&](cl_event* made) {
        return ADAPTYST_REPLACED(clEnqueueSVMMemFill)(queue, memory, pattern, pattern_size, size, count, after, made);
      });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags,
                                                     void* memory, size_t size, cl_uint count, const cl_event* after,
                                                     cl_event* event) {
  return enqueue(queue, {__func__, CL_COMMAND_SVM_MAP, "map shared memory", size}, blocking, event,
                 [&](cl_event* made) {
                   return ADAPTYST_REPLACED(clEnqueueSVMMap)(queue, blocking, flags, memory, size, count, after, made);
                 });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void* memory, cl_uint count,
                                                       const cl_event* after, cl_event* event) {
  return enqueue(
      queue, {__func__, CL_COMMAND_SVM_UNMAP, "unmap shared memory", 0}, CL_FALSE, event,
      [&](cl_event* made) { return ADAPTYST_REPLACED(clEnqueueSVMUnmap)(queue, memory, count, after, made); });
}

ADAPTYST_EXPORTED cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint memory_count,
                                                            const void** memory, const size_t* sizes,
                                                            cl_mem_migration_flags flags, cl_uint count,
                                                            const cl_event* after, cl_event* event) {
  return enqueue(
      queue, {__func__, CL_COMMAND_SVM_MIGRATE_MEM, "migrate shared memory", 0}, CL_FALSE, event, [&](cl_event* made) {
        return ADAPTYST_REPLACED(clEnqueueSVMMigrateMem)(queue, memory_count, memory, sizes, flags, count, after, made);
      });
}
