// y = a x + y on the first OpenCL device, ten times; the report says how long the device worked, and how long it did not.
#include <adaptyst/collector.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/opencl.hpp>

#include <cstdio>
#include <vector>

namespace {

constexpr const char* source =
    "kernel void saxpy(float a, global const float* x, global float* y) {\n"
    "  size_t at = get_global_id(0);\n"
    "  y[at] = a * x[at] + y[at];\n"
    "}\n";

constexpr std::size_t items = 1 << 20;
constexpr std::size_t bytes = items * sizeof(float);

// The event is the tracker's from here on.
void track(cl_event done, const char* name, const adaptyst::work& amount) {
  adaptyst::opencl::track(done, name, amount);
  clReleaseEvent(done);
}

}  // namespace

int main() {
  const adaptyst::collector collector;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    std::fprintf(stderr, "no OpenCL device (Debian: pocl-opencl-icd)\n");
    return 77;
  }
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  // Profiling: without it the device does not report when it worked.
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, nullptr);
  cl_program program = clCreateProgramWithSource(context, 1, const_cast<const char**>(&source), nullptr, nullptr);
  clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  cl_kernel saxpy = clCreateKernel(program, "saxpy", nullptr);
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, nullptr, nullptr);
  cl_mem y = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  const float a = 2;
  std::vector<float> ones(items, 1);
  std::vector<float> result(items);
  clSetKernelArg(saxpy, 0, sizeof a, &a);
  clSetKernelArg(saxpy, 1, sizeof x, &x);
  clSetKernelArg(saxpy, 2, sizeof y, &y);

  cl_event done = nullptr;
  {
    ADAPTYST_REGION("upload");
    clEnqueueWriteBuffer(queue, x, CL_FALSE, 0, bytes, ones.data(), 0, nullptr, &done);
    track(done, "x", adaptyst::work{bytes});
    clEnqueueWriteBuffer(queue, y, CL_FALSE, 0, bytes, ones.data(), 0, nullptr, &done);
    track(done, "y", adaptyst::work{bytes});
  }
  for (int step = 0; step != 10; ++step) {
    ADAPTYST_REGION("step");
    clEnqueueNDRangeKernel(queue, saxpy, 1, nullptr, &items, nullptr, 0, nullptr, &done);
    track(done, "saxpy", adaptyst::work{3 * bytes, 2.0 * items});
  }
  clEnqueueReadBuffer(queue, y, CL_FALSE, 0, bytes, result.data(), 0, nullptr, &done);
  track(done, "download", adaptyst::work{bytes});
  {
    ADAPTYST_WAIT("wait for the result");
    clFinish(queue);
  }
  std::printf("%.0f\n", static_cast<double>(result[items / 2]));

  clReleaseMemObject(x);
  clReleaseMemObject(y);
  clReleaseKernel(saxpy);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return result[items / 2] == 21 ? 0 : 1;
}
