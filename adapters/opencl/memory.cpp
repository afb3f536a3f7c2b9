// Memory of contexts: buffers, images and pipes from their creation until OpenCL deletes them. Sub-buffers and memory
// that the program provides (CL_MEM_USE_HOST_PTR) are not counted.
#include "../memory_in_use.hpp"

#include <cstdio>
#include <new>

#include "enqueued.hpp"

using namespace adaptyst::interposer;

namespace {

adaptyst::adapters::memory_in_use memory;

thread_local bool is_creating = false;  // this thread is in create()

struct object {
  size_t bytes;
  char space[64];
};

// OpenCL places an object on any device of its context.
void name_space(cl_context context, char (&name)[64]) noexcept {
  cl_device_id only = nullptr;
  size_t bytes = 0;
  std::snprintf(name, sizeof name, "OpenCL");
  if (clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes) != CL_SUCCESS) return;
  if (bytes != sizeof(cl_device_id)) {
    std::snprintf(name, sizeof name, "OpenCL, %zu devices", bytes / sizeof(cl_device_id));
    return;
  }
  if (clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof(cl_device_id), &only, nullptr) != CL_SUCCESS) return;
  if (const adaptyst::detail::opencl::device_state* const on = adaptyst::detail::opencl::find_device(only))
    std::snprintf(name, sizeof name, "%.46s, device %u", on->named.name(), on->named.index());
}

void CL_CALLBACK count_deleted(cl_mem, void* data) {
  const object* const deleted = static_cast<const object*>(data);
  memory.free(deleted->space, deleted->bytes);
  delete deleted;
}

void count_created(cl_context context, cl_mem_flags flags, cl_mem made) noexcept {
  if (made == nullptr || (flags & CL_MEM_USE_HOST_PTR) != 0) return;
  const ours now;
  object* const created = new (std::nothrow) object{};
  if (created == nullptr) return memory.add_unknown("OpenCL");
  name_space(context, created->space);
  // The callback is registered before the program can delete the object.
  if (clGetMemObjectInfo(made, CL_MEM_SIZE, sizeof created->bytes, &created->bytes, nullptr) == CL_SUCCESS &&
      clSetMemObjectDestructorCallback(made, count_deleted, created) == CL_SUCCESS)
    return memory.allocate(created->space, created->bytes);
  memory.add_unknown(created->space);
  delete created;
}

// `call` creates an object by a function of OpenCL, which may call others of these functions. Null: OpenCL has no such
// function.
template <class Function, class... Argument>
cl_mem create(Function* call, cl_context context, cl_mem_flags flags, bool has_memory, cl_int* status,
              Argument... arguments) noexcept {
  if (call == nullptr) {
    if (status != nullptr) *status = CL_INVALID_OPERATION;
    return nullptr;
  }
  const bool is_counted = has_memory && !is_creating && !is_ours;
  const bool was_creating = is_creating;
  is_creating = true;
  const cl_mem made = call(arguments..., status);
  is_creating = was_creating;
  if (is_counted) count_created(context, flags, made);
  return made;
}

// An image of a buffer has no memory.
bool has_own_memory(const cl_image_desc* what) noexcept { return what == nullptr || what->mem_object == nullptr; }

}  // namespace

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                                    cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreateBuffer), context, flags, true, status, context, flags, size, host);
}

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                                   const cl_image_format* format, const cl_image_desc* what, void* host,
                                                   cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreateImage), context, flags, has_own_memory(what), status, context, flags, format,
                what, host);
}

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
                                                     const cl_image_format* format, size_t width, size_t height,
                                                     size_t row, void* host, cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreateImage2D), context, flags, true, status, context, flags, format, width, height,
                row, host);
}

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
                                                     const cl_image_format* format, size_t width, size_t height,
                                                     size_t depth, size_t row, size_t slice, void* host,
                                                     cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreateImage3D), context, flags, true, status, context, flags, format, width, height,
                depth, row, slice, host);
}

#ifdef CL_VERSION_2_0
ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet_bytes,
                                                  cl_uint max_packets, const cl_pipe_properties* properties,
                                                  cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreatePipe), context, flags, true, status, context, flags, packet_bytes,
                max_packets, properties);
}
#endif

#ifdef CL_VERSION_3_0
ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context,
                                                                  const cl_mem_properties* properties,
                                                                  cl_mem_flags flags, size_t size, void* host,
                                                                  cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreateBufferWithProperties), context, flags, true, status, context, properties,
                flags, size, host);
}

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context,
                                                                 const cl_mem_properties* properties,
                                                                 cl_mem_flags flags, const cl_image_format* format,
                                                                 const cl_image_desc* what, void* host,
                                                                 cl_int* status) {
  return create(ADAPTYST_REPLACED(clCreateImageWithProperties), context, flags, has_own_memory(what), status, context,
                properties, flags, format, what, host);
}
#endif
