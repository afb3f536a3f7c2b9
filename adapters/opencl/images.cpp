// Copies of images, to, from and within a device.
#include "enqueued.hpp"

using namespace adaptyst::interposer;

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                          const size_t* origin, const size_t* region, size_t row,
                                                          size_t slice, void* host, cl_uint count,
                                                          const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "read image", volume(region), nullptr, image}, blocking, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueReadImage)(queue, image, blocking, origin, region, row, slice, host, count, after,
                                             made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                           const size_t* origin, const size_t* region, size_t row,
                                                           size_t slice, const void* host, cl_uint count,
                                                           const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "write image", volume(region), nullptr, image}, blocking, event,
                 [&](cl_event* made) {
                   return ADAPTYST_NEXT(clEnqueueWriteImage)(queue, image, blocking, origin, region, row, slice, host,
                                                             count, after, made);
                 });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color,
                                                          const size_t* origin, const size_t* region, cl_uint count,
                                                          const cl_event* after, cl_event* event) {
  return enqueue(queue, {__func__, "fill image", volume(region), nullptr, image}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueFillImage)(queue, image, color, origin, region, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                                          const size_t* from_origin, const size_t* to_origin,
                                                          const size_t* region, cl_uint count, const cl_event* after,
                                                          cl_event* event) {
  return enqueue(queue, {__func__, "copy image", volume(region), nullptr, from}, CL_FALSE, event, [&](cl_event* made) {
    return ADAPTYST_NEXT(clEnqueueCopyImage)(queue, from, to, from_origin, to_origin, region, count, after, made);
  });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to,
                                                                  const size_t* origin, const size_t* region,
                                                                  size_t offset, cl_uint count, const cl_event* after,
                                                                  cl_event* event) {
  return enqueue(
      queue, {__func__, "copy image to buffer", volume(region), nullptr, from}, CL_FALSE, event, [&](cl_event* made) {
        return ADAPTYST_NEXT(clEnqueueCopyImageToBuffer)(queue, from, to, origin, region, offset, count, after, made);
      });
}

ADAPTYST_STANDS_FOR cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to,
                                                                  size_t offset, const size_t* origin,
                                                                  const size_t* region, cl_uint count,
                                                                  const cl_event* after, cl_event* event) {
  return enqueue(
      queue, {__func__, "copy buffer to image", volume(region), nullptr, to}, CL_FALSE, event, [&](cl_event* made) {
        return ADAPTYST_NEXT(clEnqueueCopyBufferToImage)(queue, from, to, offset, origin, region, count, after, made);
      });
}

ADAPTYST_STANDS_FOR void* CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking,
                                                        cl_map_flags flags, const size_t* origin, const size_t* region,
                                                        size_t* row, size_t* slice, cl_uint count,
                                                        const cl_event* after, cl_event* event, cl_int* status) {
  void* mapped = nullptr;
  cl_int own_status = CL_SUCCESS;
  own_status =
      enqueue(queue, {__func__, "map image", volume(region), nullptr, image}, blocking, event, [&](cl_event* made) {
        mapped = ADAPTYST_NEXT(clEnqueueMapImage)(queue, image, blocking, flags, origin, region, row, slice, count,
                                                  after, made, &own_status);
        return own_status;
      });
  if (status != nullptr) *status = own_status;
  return mapped;
}
