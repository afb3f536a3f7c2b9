// For tests that give a real OpenCL device something to do: a context, a queue, a kernel that takes as long as it is
// told.
#ifndef ADAPTYST_TESTS_ADAPTERS_OPENCL_COMMANDS_HPP
#define ADAPTYST_TESTS_ADAPTERS_OPENCL_COMMANDS_HPP

#include <CL/cl.h>

#include <cstdint>
#include <vector>

#include "catch.hpp"

namespace support {

inline cl_device_id first_device() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  REQUIRE(clGetPlatformIDs(1, &platform, nullptr) == CL_SUCCESS);
  REQUIRE(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS);
  return device;
}

class commands {
 public:
  static constexpr std::size_t items = 256;
  static constexpr std::size_t bytes = items * sizeof(cl_float);

  explicit commands(cl_command_queue_properties flags = CL_QUEUE_PROFILING_ENABLE) : device(first_device()) {
    static const char* const source =
        "kernel void spin(global float* of, int turns) {\n"
        "  size_t at = get_global_id(0);\n"
        "  float x = of[at];\n"
        "  for (int turn = 0; turn < turns; ++turn) x = x * 0.999f + 0.5f;\n"
        "  of[at] = x;\n"
        "}\n";
    cl_int status = 0;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, flags, &status);
    REQUIRE(status == CL_SUCCESS);
    program_ = clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    REQUIRE(clBuildProgram(program_, 1, &device, "", nullptr, nullptr) == CL_SUCCESS);
    kernel_ = clCreateKernel(program_, "spin", &status);
    REQUIRE(status == CL_SUCCESS);
    buffer_ = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    REQUIRE(status == CL_SUCCESS);
    REQUIRE(clSetKernelArg(kernel_, 0, sizeof buffer_, &buffer_) == CL_SUCCESS);
  }
  ~commands() {
    clFinish(queue);
    clReleaseMemObject(buffer_);
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  commands(const commands&) = delete;
  commands& operator=(const commands&) = delete;

  cl_event spin(int turns, const std::vector<cl_event>& after = {}) {
    cl_event made = nullptr;
    const std::size_t global = items;
    REQUIRE(clSetKernelArg(kernel_, 1, sizeof turns, &turns) == CL_SUCCESS);
    REQUIRE(clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &global, nullptr, static_cast<cl_uint>(after.size()),
                                   after.empty() ? nullptr : after.data(), &made) == CL_SUCCESS);
    return made;
  }
  cl_event write() {
    cl_event made = nullptr;
    REQUIRE(clEnqueueWriteBuffer(queue, buffer_, CL_FALSE, 0, bytes, host_.data(), 0, nullptr, &made) == CL_SUCCESS);
    return made;
  }
  cl_event read() {
    cl_event made = nullptr;
    REQUIRE(clEnqueueReadBuffer(queue, buffer_, CL_FALSE, 0, bytes, host_.data(), 0, nullptr, &made) == CL_SUCCESS);
    return made;
  }
  cl_event fill() {
    cl_event made = nullptr;
    const cl_float zero = 0;
    REQUIRE(clEnqueueFillBuffer(queue, buffer_, &zero, sizeof zero, 0, bytes, 0, nullptr, &made) == CL_SUCCESS);
    return made;
  }

  const cl_device_id device;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

 private:
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem buffer_ = nullptr;
  std::vector<cl_float> host_ = std::vector<cl_float>(items);
};

// What the device itself says, in its own clock.
struct device_times {
  explicit device_times(cl_event event)
      : queued(read(event, CL_PROFILING_COMMAND_QUEUED)),
        submitted(read(event, CL_PROFILING_COMMAND_SUBMIT)),
        started(read(event, CL_PROFILING_COMMAND_START)),
        ended(read(event, CL_PROFILING_COMMAND_END)) {}

  std::uint64_t queued, submitted, started, ended;

 private:
  static std::uint64_t read(cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    REQUIRE(clGetEventProfilingInfo(event, what, sizeof time, &time, nullptr) == CL_SUCCESS);
    return time;
  }
};

}  // namespace support

#endif
