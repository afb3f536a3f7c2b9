// Computes a block of rows with OpenCL, in double precision where the device can. The block has the memory layout of a
// field, so rows are copied without rearranging them.
#include "opencl_rows.hpp"

#include <adaptyst/offload.hpp>

#include <adaptyst/opencl.hpp>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include "opencl_kernels.hpp"

namespace shallow_water {
namespace {

void require(cl_int status, const char* what) {
  if (status != CL_SUCCESS)
    throw std::runtime_error("OpenCL: " + std::string(what) + " failed, error " + std::to_string(status));
}

bool computes_in_double(cl_device_id device) {
  cl_device_fp_config how = 0;
  return clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof how, &how, nullptr) == CL_SUCCESS && how != 0;
}

cl_device_id find_device() {
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint platform_count = 0;
  if (clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) return nullptr;
  for (const cl_device_type type : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ALL}})
    for (cl_uint platform = 0; platform != std::min(platform_count, 16U); ++platform) {
      cl_uint count = 0;
      if (clGetDeviceIDs(platforms[platform], type, 16, devices, &count) != CL_SUCCESS) continue;
      for (cl_uint at = 0; at != std::min(count, 16U); ++at)
        if (computes_in_double(devices[at])) return devices[at];
    }
  return nullptr;
}

// Released when it goes, whatever it is.
template <class Handle, cl_int(CL_API_CALL* Release)(Handle)>
class owned {
 public:
  owned() = default;
  ~owned() {
    if (handle_ != nullptr) Release(handle_);
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;

  void take(Handle made, cl_int status, const char* what) {
    require(status, what);
    handle_ = made;
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using buffer = owned<cl_mem, clReleaseMemObject>;
using kernel = owned<cl_kernel, clReleaseKernel>;

// The planes of a block are as those of a field that holds it, so that rows are copied as they lie.
class opencl_rows : public row_device {
 public:
  opencl_rows(const row_block& block, cl_device_id device)
      : block_(block),
        pitch_(block.columns + 2 * stencil),
        plane_(pitch_ * block.with_halo().size()),
        sums_(3 * static_cast<std::size_t>(block.rows.size())) {
    cl_int status = CL_SUCCESS;
    require(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name_, name_, nullptr), "clGetDeviceInfo");
    context_.take(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status), status, "clCreateContext");
    // Profiling: for adaptyst::opencl::track().
    queue_.take(clCreateCommandQueue(context_.get(), device, CL_QUEUE_PROFILING_ENABLE, &status), status,
                "clCreateCommandQueue");
    const char* source = opencl_kernels;
    program_.take(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &status), status,
                  "clCreateProgramWithSource");
    build(device);
    for (auto [kernel_member, name] : {std::pair{&velocities_, "velocities"},
                                       {&fluxes_, "fluxes"},
                                       {&update_, "update"},
                                       {&fill_sides_, "fill_sides"},
                                       {&sum_rows_, "sum_rows"}})
      kernel_member->take(clCreateKernel(program_.get(), name, &status), status, "clCreateKernel");
    for (auto [buffer_member, planes] :
         {std::pair{&now_, 3}, {&predicted_, 3}, {&next_, 3}, {&moving_, 2}, {&through_, 6}})
      buffer_member->take(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE,
                                         static_cast<std::size_t>(planes * plane_) * sizeof(double), nullptr, &status),
                          status, "clCreateBuffer");
    row_sums_.take(clCreateBuffer(context_.get(), CL_MEM_WRITE_ONLY, sums_.size() * sizeof(double), nullptr, &status),
                   status, "clCreateBuffer");
  }
  ~opencl_rows() override { clFinish(queue_.get()); }

  const char* name() const override { return name_; }

  void begin_step(const field& now, field& next, const stage& predictor, const stage& corrector) override {
    upload(now, block_.with_halo());
    update("predictor", now_, now_, predicted_, block_.predicted(), predictor);
    fill_sides(block_.predicted());
    update("corrector", predicted_, now_, next_, block_.rows, corrector);
    for (const quantity each : quantities) {
      double* const destination = next.row(each, block_.rows.first) - stencil;
      const std::size_t bytes = bytes_in(block_.rows);
      require(clEnqueueReadBuffer(queue_.get(), next_.get(), CL_FALSE, byte_offset(each, block_.rows.first), bytes,
                                  destination, 0, nullptr, &event_),
              "clEnqueueReadBuffer");
      track_event("download rows", {bytes});
    }
    require(clFlush(queue_.get()), "clFlush");
  }

  void wait() override { require(clFinish(queue_.get()), "clFinish"); }

  void sum_rows(const field& now, std::vector<totals>& of_rows) override {
    upload(now, block_.rows);
    set_arguments(sum_rows_, now_.get(), row_sums_.get(), row_in_block(block_.rows.first), cl_long{pitch_},
                  cl_long{plane_}, cl_long{block_.columns});
    run("sum rows", sum_rows_, std::size(quantities), block_.rows,
        {3 * bytes_in(block_.rows), 3.0 * block_.columns * block_.rows.size()});
    const std::size_t bytes = sums_.size() * sizeof(double);
    require(clEnqueueReadBuffer(queue_.get(), row_sums_.get(), CL_FALSE, 0, bytes, sums_.data(), 0, nullptr, &event_),
            "clEnqueueReadBuffer");
    track_event("download sums", {bytes});
    {
      ADAPTYST_WAIT("wait for device");
      wait();
    }
    const double* sum = sums_.data();
    for (int row = block_.rows.first; row != block_.rows.last; ++row, sum += 3)
      of_rows[static_cast<std::size_t>(row)] = {sum[0], sum[1], sum[2]};
  }

 private:
  void build(cl_device_id device) {
    if (clBuildProgram(program_.get(), 1, &device, "", nullptr, nullptr) == CL_SUCCESS) return;
    std::string log(10000, '\0');
    clGetProgramBuildInfo(program_.get(), device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
    throw std::runtime_error("OpenCL: " + std::string(name_) + " cannot compile the kernels:\n" + log.c_str());
  }

  cl_long row_in_block(int number) const { return number - block_.with_halo().first; }
  std::size_t bytes_in(row_range rows) const {
    return static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(rows.size()) * sizeof(double);
  }
  std::size_t byte_offset(quantity which, int row) const {
    return (static_cast<std::size_t>(which) * static_cast<std::size_t>(plane_) +
            static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(row_in_block(row))) *
           sizeof(double);
  }

  // The event of the last command is the tracker's from here on.
  void track_event(const char* what, const adaptyst::work& amount) {
    adaptyst::opencl::track(event_, what, amount);
    clReleaseEvent(event_);
  }

  template <class... Values>
  void set_arguments(const kernel& compiled, const Values&... values) {
    cl_uint at = 0;
    (require(clSetKernelArg(compiled.get(), at++, sizeof values, &values), "clSetKernelArg"), ...);
  }

  void run(const char* what, const kernel& function, std::size_t columns, row_range rows,
           const adaptyst::work& amount) {
    const std::size_t items[] = {columns, static_cast<std::size_t>(rows.size())};
    require(clEnqueueNDRangeKernel(queue_.get(), function.get(), 2, nullptr, items, nullptr, 0, nullptr, &event_),
            what);
    track_event(what, amount);
  }

  void upload(const field& from, row_range rows) {
    for (const quantity each : quantities) {
      const std::size_t bytes = bytes_in(rows);
      require(clEnqueueWriteBuffer(queue_.get(), now_.get(), CL_FALSE, byte_offset(each, rows.first), bytes,
                                   from.row(each, rows.first) - stencil, 0, nullptr, &event_),
              "clEnqueueWriteBuffer");
      track_event("upload rows", {bytes});
    }
  }

  void update(const char* what, const buffer& from, const buffer& base, const buffer& result, row_range rows,
              const stage& by) {
    const auto columns = static_cast<std::size_t>(block_.columns);
    const row_range around = widened(rows, stencil), with_far_faces{rows.first, rows.last + 1};
    set_arguments(velocities_, from.get(), moving_.get(), row_in_block(around.first), cl_long{pitch_}, cl_long{plane_},
                  block_.water.dry);
    run("velocities", velocities_, static_cast<std::size_t>(pitch_), around,
        work_in(around, 5 * sizeof(double), flops_per_velocities));
    set_arguments(fluxes_, from.get(), moving_.get(), through_.get(), row_in_block(rows.first), cl_long{pitch_},
                  cl_long{plane_}, block_.water.gravity);
    run("fluxes", fluxes_, columns + 1, with_far_faces, work_in(rows, 9 * sizeof(double), flops_per_fluxes));
    set_arguments(update_, from.get(), base.get(), result.get(), through_.get(), row_in_block(rows.first),
                  cl_long{pitch_}, cl_long{plane_}, by.dt_over_dx, by.dt_over_dy, by.keep);
    run(what, update_, columns, rows, work_in(rows, 15 * sizeof(double), flops_per_sums));
  }

  adaptyst::work work_in(row_range rows, std::size_t bytes_per_cell, double flops_per_cell) const {
    const auto cells = static_cast<std::size_t>(rows.size()) * static_cast<std::size_t>(block_.columns);
    return {cells * bytes_per_cell, static_cast<double>(cells) * flops_per_cell};
  }

  void fill_sides(row_range rows) {
    set_arguments(fill_sides_, predicted_.get(), row_in_block(rows.first), cl_long{pitch_}, cl_long{plane_},
                  cl_long{block_.columns}, cl_int{block_.edges == boundary::wall});
    run("fill sides", fill_sides_, std::size(quantities), rows, {});
  }

  row_block block_;
  int pitch_, plane_;
  std::vector<double> sums_;
  char name_[256] = "";
  cl_event event_ = nullptr;
  owned<cl_context, clReleaseContext> context_;
  owned<cl_command_queue, clReleaseCommandQueue> queue_;
  owned<cl_program, clReleaseProgram> program_;
  kernel velocities_, fluxes_, update_, fill_sides_, sum_rows_;
  buffer now_, predicted_, next_;
  buffer moving_, through_;  // velocities, and fluxes through the west and the south faces
  buffer row_sums_;
};

}  // namespace

std::unique_ptr<row_device> make_opencl_rows(const row_block& block) {
  const cl_device_id device = find_device();
  if (device == nullptr) return nullptr;
  return std::make_unique<opencl_rows>(block, device);
}

}  // namespace shallow_water
