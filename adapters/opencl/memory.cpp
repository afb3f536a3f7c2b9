// Memory of contexts: buffers and images from their creation until OpenCL deletes them. Sub-buffers and memory that the
// program provides (CL_MEM_USE_HOST_PTR) are not counted.
#include "../memory_in_use.hpp"

#include <cstdio>
#include <new>

#include "enqueued.hpp"

using namespace adaptyst::interposer;

namespace {

adaptyst::adapters::memory_in_use memory;

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
  if (made == nullptr || is_ours || (flags & CL_MEM_USE_HOST_PTR) != 0) return;
  const ours now;
  object* const created = new (std::nothrow) object{};
  if (created == nullptr) return;
  created->bytes = adaptyst::detail::opencl::get_info<size_t>(clGetMemObjectInfo, made, CL_MEM_SIZE, 0);
  name_space(context, created->space);
  // Before it can be deleted.
  if (clSetMemObjectDestructorCallback(made, count_deleted, created) == CL_SUCCESS)
    memory.allocate(created->space, created->bytes);
  else delete created;
}

}  // namespace

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host,
                                                    cl_int* status) {
  const cl_mem made = ADAPTYST_REPLACED(clCreateBuffer)(context, flags, size, host, status);
  count_created(context, flags, made);
  return made;
}

ADAPTYST_EXPORTED cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags,
                                                   const cl_image_format* format, const cl_image_desc* what, void* host,
                                                   cl_int* status) {
  const cl_mem made = ADAPTYST_REPLACED(clCreateImage)(context, flags, format, what, host, status);
  // An image of a buffer has no memory.
  if (what == nullptr || what->mem_object == nullptr) count_created(context, flags, made);
  return made;
}
