// What tracking a kernel of 100 us costs, from its launch to when the host has seen it end: tracked and untracked launches
// take turns, on the first OpenCL device, with a collector that looks.
#include <adaptyst/collector.hpp>
#include <adaptyst/opencl.hpp>

#include <cstdio>
#include <cstdlib>

#include "../measure.hpp"

namespace {

void require(cl_int status) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "OpenCL error %d\n", status);
  std::exit(1);
}

class spinner {
 public:
  spinner() {
    static const char* const source =
        "kernel void spin(global float* of, int turns) {\n"
        "  float x = of[0];\n"
        "  for (int turn = 0; turn < turns; ++turn) x = x * 0.999f + 0.5f;\n"
        "  of[0] = x;\n"
        "}\n";
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_int status = 0;
    require(clGetPlatformIDs(1, &platform, nullptr));
    require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    require(status);
    queue_ = clCreateCommandQueue(context_, device, CL_QUEUE_PROFILING_ENABLE, &status);
    require(status);
    program_ = clCreateProgramWithSource(context_, 1, const_cast<const char**>(&source), nullptr, &status);
    require(status);
    require(clBuildProgram(program_, 1, &device, "", nullptr, nullptr));
    kernel_ = clCreateKernel(program_, "spin", &status);
    require(status);
    buffer_ = clCreateBuffer(context_, CL_MEM_READ_WRITE, sizeof(cl_float), nullptr, &status);
    require(status);
    require(clSetKernelArg(kernel_, 0, sizeof buffer_, &buffer_));
    // As many turns as take 100 us.
    constexpr int trial = 100'000;
    run(trial, false);
    std::vector<double> times;
    for (int at = 0; at != 25; ++at) {
      run(trial, false);
      times.push_back(device_ns_);
    }
    turns_ = static_cast<int>(trial * 100e3 / bench::median(times));
  }
  ~spinner() {
    clReleaseMemObject(buffer_);
    clReleaseKernel(kernel_);
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  spinner(const spinner&) = delete;
  spinner& operator=(const spinner&) = delete;

  double launch_ns(bool tracked) { return run(turns_, tracked); }
  double device_ns() const { return device_ns_; }  // of the last

 private:
  double run(int turns, bool tracked) {
    constexpr std::size_t work_items = 1;
    cl_event done = nullptr;
    cl_ulong started = 0;
    cl_ulong ended = 0;
    require(clSetKernelArg(kernel_, 1, sizeof turns, &turns));
    const double begin = bench::now_ns();
    require(clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &work_items, nullptr, 0, nullptr, &done));
    if (tracked) adaptyst::opencl::track(done, "spin");
    require(clFinish(queue_));
    const double end = bench::now_ns();
    require(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof started, &started, nullptr));
    require(clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr));
    device_ns_ = static_cast<double>(ended - started);
    require(clReleaseEvent(done));
    return end - begin;
  }

  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
  cl_kernel kernel_ = nullptr;
  cl_mem buffer_ = nullptr;
  int turns_ = 0;
  double device_ns_ = 0;
};

}  // namespace

int main() {
  constexpr int rounds = 15;
  constexpr int launches = 1000;
  spinner device;
  const adaptyst::collector collector("engine=inline,overhead=none,report=none");
  std::vector<double> percent;
  std::vector<double> kernel;
  std::vector<double> extra;
  for (int round = 0; round != rounds; ++round) {
    std::vector<double> tracked;
    std::vector<double> plain;
    for (int at = 0; at != launches; ++at) {  // which of a pair comes first takes turns, too
      for (const bool is_tracked : {at % 2 == 0, at % 2 != 0})
        (is_tracked ? tracked : plain).push_back(device.launch_ns(is_tracked));
      kernel.push_back(device.device_ns());
    }
    extra.push_back(bench::median(tracked) - bench::median(plain));
    percent.push_back(100 * extra.back() / bench::median(plain));
  }
  std::printf("opencl_kernel_ns %.1f\n", bench::median(kernel));
  std::printf("opencl_track_ns %.1f\n", bench::median(extra));
  std::printf("opencl_track_overhead_percent %.3f\n", bench::median(percent));
}
