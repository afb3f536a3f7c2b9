// The kernels in OpenCL C, and the little that it takes to run them. With PoCL the device is a thread of this process.
#include "kernels.hpp"

#include <CL/cl.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace where_to_run {

namespace {

constexpr const char* source = R"(
// A work item a row, which is two vectors of 16.
kernel void multiply(global const int* begins, global const int* column, global const float* value,
                     global const float* b, global float* product) {
  const int row = get_global_id(0);
  float16 left = 0, right = 0;
  for (int at = begins[row]; at != begins[row + 1]; ++at) {
    left += value[at] * vload16(2 * column[at], b);
    right += value[at] * vload16(2 * column[at] + 1, b);
  }
  vstore16(left, 2 * row, product);
  vstore16(right, 2 * row + 1, product);
}

// Flows to the neighbours, less across edges.
float16 flow(float16 difference) { return difference / (1 + difference * difference); }

float16 diffuse(global const float* cell) {
  const float16 here = vload16(0, cell);
  return here + 0.125f * (flow(vload16(0, cell - 1) - here) + flow(vload16(0, cell + 1) - here) +
                          flow(vload16(0, cell - 32) - here) + flow(vload16(0, cell + 32) - here));
}

kernel void smooth(global const float* from, global float* to, int rows) {
  const int row = get_global_id(0);
  global const float* const here = from + 32 * row;
  float16 left = vload16(0, here), right = vload16(1, here);
  if (row > 0 && row < rows - 1) {
    const float first = here[0], last = here[31];
    left = diffuse(here);
    right = diffuse(here + 16);
    left.s0 = first;
    right.sf = last;
  }
  vstore16(left, 2 * row, to);
  vstore16(right, 2 * row + 1, to);
}

kernel void reduce(global const float* cells, global float* norms) {
  const int row = get_global_id(0);
  const float16 left = vload16(2 * row, cells), right = vload16(2 * row + 1, cells);
  const float16 squares = left * left + right * right;
  const float8 eight = squares.lo + squares.hi;
  const float4 four = eight.lo + eight.hi;
  norms[row] = sqrt(four.x + four.y + four.z + four.w);
}

// The place of each is the number of those before it: n^2 comparisons, all independent.
kernel void sort(global const float* norms, global float* sorted, int rows) {
  const int own = get_global_id(0);
  const float value = norms[own];
  int before = 0;
  for (int other = 0; other != rows; ++other) before += norms[other] < value || (norms[other] == value && other < own);
  sorted[before] = value;
}
)";

void require(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error("OpenCL: " + std::string(what) + " failed, error " + std::to_string(status));
}

// The cores that this thread may use, the first or the second of them only; false: there are not two.
bool pin(std::size_t which, const cpu_set_t& allowed) {
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  std::size_t seen = 0;
  for (std::size_t core = 0; core != CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed) && seen++ == which) CPU_SET(core, &chosen);
  return CPU_COUNT(&chosen) == 1 && sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

const std::vector<cl_device_id>& find_devices() {
  static const std::vector<cl_device_id> found = [] {
    // PoCL's threads take the affinity of the one that starts them.
    setenv("POCL_MAX_PTHREAD_COUNT", "1", 0);
    setenv("POCL_DEVICES", "pthread basic", 0);
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    pin(1, allowed);
    constexpr cl_uint most = 2;
    cl_platform_id platform = nullptr;
    cl_device_id devices[most] = {};
    cl_uint number = 0;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, most, devices, &number) != CL_SUCCESS)
      throw std::runtime_error("no OpenCL device (Debian: pocl-opencl-icd)");
    pin(0, allowed);
    return std::vector<cl_device_id>(devices, devices + std::min(number, most));
  }();
  return found;
}

}  // namespace

std::size_t count_opencl_devices() { return find_devices().size(); }

struct opencl_device::state {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  cl_kernel kernels[chain.size()] = {};
  cl_mem begins = nullptr, column = nullptr, value = nullptr, b = nullptr, product = nullptr, smooth = nullptr,
         norms = nullptr, sorted = nullptr;
  adaptyst::device device{adaptyst::device_kind::other, 0, ""};

  // What its last region leaves, and how large that is.
  std::pair<cl_mem, std::size_t> find_output(const item& data, std::size_t region) const {
    const std::size_t rows = static_cast<std::size_t>(data.a.rows) * sizeof(float);
    if (region == 1) return {product, rows * columns};
    if (region == 2) return {smooth, rows * columns};
    return {region == 3 ? norms : sorted, rows};
  }

  void release() {
    for (cl_mem* const each : {&begins, &column, &value, &b, &product, &smooth, &norms, &sorted}) {
      if (*each != nullptr) clReleaseMemObject(*each);
      *each = nullptr;
    }
  }

  void make(cl_mem& memory, std::size_t bytes) {
    cl_int status = CL_SUCCESS;
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    require(status, "clCreateBuffer");
  }
  void write(cl_mem to, const void* from, std::size_t bytes) {
    require(clEnqueueWriteBuffer(queue, to, CL_TRUE, 0, bytes, from, 0, nullptr, nullptr), "clEnqueueWriteBuffer");
  }
  template <class... Values>
  void launch(std::size_t region, std::size_t items, const Values&... values) {
    cl_uint at = 0;
    (require(clSetKernelArg(kernels[region], at++, sizeof values, &values), "clSetKernelArg"), ...);
    require(clEnqueueNDRangeKernel(queue, kernels[region], 1, nullptr, &items, nullptr, 0, nullptr, nullptr),
            chain[region]);
  }
};

opencl_device::opencl_device(std::size_t number) : state_(std::make_unique<state>()) {
  cl_device_id device = find_devices().at(number);
  cl_int status = CL_SUCCESS;
  char name[256] = "";
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr);
  cl_device_type type = 0;
  clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  state_->device = {(type & CL_DEVICE_TYPE_GPU) != 0 ? adaptyst::device_kind::gpu : adaptyst::device_kind::cpu,
                    static_cast<std::uint32_t>(number), name};
  state_->context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  require(status, "clCreateContext");
  state_->queue = clCreateCommandQueue(state_->context, device, 0, &status);
  require(status, "clCreateCommandQueue");
  const char* text = source;
  state_->program = clCreateProgramWithSource(state_->context, 1, &text, nullptr, &status);
  require(status, "clCreateProgramWithSource");
  require(clBuildProgram(state_->program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  for (std::size_t region = 0; region != chain.size(); ++region) {
    state_->kernels[region] = clCreateKernel(state_->program, chain[region], &status);
    require(status, "clCreateKernel");
  }
}

opencl_device::~opencl_device() {
  clFinish(state_->queue);
  state_->release();
  for (cl_kernel each : state_->kernels) clReleaseKernel(each);
  clReleaseProgram(state_->program);
  clReleaseCommandQueue(state_->queue);
  clReleaseContext(state_->context);
}

const adaptyst::device& opencl_device::device() const { return state_->device; }

void opencl_device::prepare(const item& data) {
  state& on = *state_;
  on.release();
  const std::size_t rows = static_cast<std::size_t>(data.a.rows) * sizeof(float);
  on.make(on.begins, rows + sizeof(int));
  on.make(on.column, data.a.entries() * sizeof(int));
  on.make(on.value, data.a.entries() * sizeof(float));
  for (cl_mem* const each : {&on.b, &on.product, &on.smooth}) on.make(*each, rows * columns);
  for (cl_mem* const each : {&on.norms, &on.sorted}) on.make(*each, rows);
}

void opencl_device::run(const item& data, std::size_t region) {
  state& on = *state_;
  const auto rows = static_cast<std::size_t>(data.a.rows);
  const cl_int row_count = data.a.rows;
  switch (region) {
    case 0: on.launch(0, rows, on.begins, on.column, on.value, on.b, on.product); break;
    case 1:
      for (int turn = 0; turn != sweeps; ++turn)
        if (turn % 2 == 0) on.launch(1, rows, on.product, on.smooth, row_count);
        else on.launch(1, rows, on.smooth, on.product, row_count);
      std::swap(on.product, on.smooth);
      break;
    case 2: on.launch(2, rows, on.smooth, on.norms); break;
    default: on.launch(3, rows, on.norms, on.sorted, row_count);
  }
  require(clFinish(on.queue), "clFinish");
}

std::size_t opencl_device::copy_to(const item& data, std::size_t region) {
  state& on = *state_;
  if (region == 0) {
    const std::size_t begins = data.a.begins.size() * sizeof(int), entries = data.a.entries() * sizeof(int),
                      dense = data.b.size() * sizeof(float);
    on.write(on.begins, data.a.begins.data(), begins);
    on.write(on.column, data.a.column.data(), entries);
    on.write(on.value, data.a.value.data(), entries);
    on.write(on.b, data.b.data(), dense);
    return begins + 2 * entries + dense;
  }
  const auto [memory, bytes] = on.find_output(data, region);
  const std::vector<float>* const from[] = {nullptr, &data.product, &data.smooth, &data.norms};
  on.write(memory, from[region]->data(), bytes);
  return bytes;
}

std::size_t opencl_device::copy_from(item& data, std::size_t region) {
  const auto [memory, bytes] = state_->find_output(data, region);
  std::vector<float>* const to[] = {nullptr, &data.product, &data.smooth, &data.norms, &data.sorted};
  require(clEnqueueReadBuffer(state_->queue, memory, CL_TRUE, 0, bytes, to[region]->data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  return bytes;
}

}  // namespace where_to_run
