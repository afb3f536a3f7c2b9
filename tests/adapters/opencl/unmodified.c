/* Gives the first OpenCL device commands of every kind, and knows nothing of us. Afterwards it says of each kind how many
 * there were, and how long they took by their events where it has those: "NAME COUNT NANOSECONDS". */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 1024, bytes = numbers * sizeof(float), side = 16, rounds = 20, max_commands = 4096 };

static const char* const source =
    "kernel void scale(global float* of, float by) { of[get_global_id(0)] *= by; }\n"
    "kernel void single(global float* of) { of[0] = 1; }\n";

static struct {
  const char* name;
  cl_event event;
} commands[max_commands];
static int count;
static cl_command_queue queue;

static void require(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  exit(1);
}

static cl_event* expect_event(const char* name) {
  commands[count].name = name;
  return &commands[count++].event;
}

static void no_kernel(void* arguments) { (void)arguments; }

static void kernels(cl_context context, cl_device_id device, cl_mem buffer) {
  cl_int status;
  const size_t global = numbers;
  const float by = 1.5F;
  cl_device_exec_capabilities can = 0;
  const cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &status);
  require(status, "clCreateProgramWithSource");
  require(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  const cl_kernel scale = clCreateKernel(program, "scale", &status);
  require(status, "clCreateKernel");
  const cl_kernel single = clCreateKernel(program, "single", &status);
  require(status, "clCreateKernel");
  require(clSetKernelArg(scale, 0, sizeof buffer, &buffer), "clSetKernelArg");
  require(clSetKernelArg(scale, 1, sizeof by, &by), "clSetKernelArg");
  require(clSetKernelArg(single, 0, sizeof buffer, &buffer), "clSetKernelArg");
  for (int round = 0; round != rounds; ++round) {
    require(clEnqueueNDRangeKernel(queue, scale, 1, NULL, &global, NULL, 0, NULL, expect_event("scale")), "scale");
    require(clEnqueueTask(queue, single, 0, NULL, NULL), "single");
  }
  require(clWaitForEvents(1, &commands[count - 1].event), "clWaitForEvents");
  require(clGetDeviceInfo(device, CL_DEVICE_EXECUTION_CAPABILITIES, sizeof can, &can, NULL), "capabilities");
  if (can & CL_EXEC_NATIVE_KERNEL)
    require(clEnqueueNativeKernel(queue, no_kernel, NULL, 0, 0, NULL, NULL, 0, NULL, expect_event("native kernel")),
            "native");
  clReleaseKernel(scale);
  clReleaseKernel(single);
  clReleaseProgram(program);
}

static void buffers(cl_mem a, cl_mem b) {
  static float host[numbers];
  const float zero = 0;
  const size_t origin[3] = {0, 0, 0};
  const size_t region[3] = {64, 16, 1};
  cl_int status;
  require(clEnqueueWriteBuffer(queue, a, CL_TRUE, 0, bytes, host, 0, NULL, expect_event("write buffer")), "write");
  require(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, bytes, host, 0, NULL, expect_event("write buffer")), "write");
  require(clEnqueueReadBuffer(queue, a, CL_FALSE, 0, bytes / 2, host, 0, NULL, expect_event("read buffer")), "read");
  require(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, bytes / 2, host, 0, NULL, expect_event("read buffer")), "read");
  require(clEnqueueWriteBufferRect(queue, a, CL_FALSE, origin, origin, region, 64, 0, 64, 0, host, 0, NULL,
                                   expect_event("write buffer rect")),
          "write rect");
  require(clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, origin, region, 64, 0, 64, 0, host, 0, NULL,
                                  expect_event("read buffer rect")),
          "read rect");
  require(clEnqueueFillBuffer(queue, a, &zero, sizeof zero, 0, bytes, 0, NULL, expect_event("fill buffer")), "fill");
  require(clEnqueueCopyBuffer(queue, a, b, 0, 0, bytes, 0, NULL, expect_event("copy buffer")), "copy");
  require(clEnqueueCopyBufferRect(queue, a, b, origin, origin, region, 64, 0, 64, 0, 0, NULL,
                                  expect_event("copy buffer rect")),
          "copy rect");
  void* const mapped =
      clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, expect_event("map buffer"), &status);
  require(status, "map");
  require(clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, expect_event("unmap")), "unmap");
  require(clEnqueueMigrateMemObjects(queue, 1, &a, 0, 0, NULL, expect_event("migrate")), "migrate");
}

static void images(cl_context context, cl_mem buffer) {
  static float host[side * side * 4];
  const float black[4] = {0, 0, 0, 0};
  const size_t origin[3] = {0, 0, 0};
  const size_t region[3] = {side, side, 1};
  const cl_image_format format = {CL_RGBA, CL_FLOAT};
  cl_image_desc what;
  size_t row;
  cl_int status;
  memset(&what, 0, sizeof what);
  what.image_type = CL_MEM_OBJECT_IMAGE2D;
  what.image_width = what.image_height = side;
  const cl_mem a = clCreateImage(context, CL_MEM_READ_WRITE, &format, &what, NULL, &status);
  require(status, "clCreateImage");
  const cl_mem b = clCreateImage2D(context, CL_MEM_READ_WRITE, &format, side, side, 0, NULL, &status);
  require(status, "clCreateImage2D");
  require(clEnqueueWriteImage(queue, a, CL_TRUE, origin, region, 0, 0, host, 0, NULL, expect_event("write image")),
          "write image");
  require(clEnqueueReadImage(queue, a, CL_FALSE, origin, region, 0, 0, host, 0, NULL, expect_event("read image")),
          "read image");
  require(clEnqueueFillImage(queue, a, black, origin, region, 0, NULL, expect_event("fill image")), "fill image");
  require(clEnqueueCopyImage(queue, a, b, origin, origin, region, 0, NULL, expect_event("copy image")), "copy image");
  require(
      clEnqueueCopyImageToBuffer(queue, a, buffer, origin, region, 0, 0, NULL, expect_event("copy image to buffer")),
      "copy");
  require(
      clEnqueueCopyBufferToImage(queue, buffer, a, 0, origin, region, 0, NULL, expect_event("copy buffer to image")),
      "copy");
  void* const mapped = clEnqueueMapImage(queue, a, CL_TRUE, CL_MAP_READ, origin, region, &row, NULL, 0, NULL,
                                         expect_event("map image"), &status);
  require(status, "map image");
  require(clEnqueueUnmapMemObject(queue, a, mapped, 0, NULL, expect_event("unmap")), "unmap");
  require(clFinish(queue), "clFinish");
  clReleaseMemObject(a);
  clReleaseMemObject(b);
}

static void shared_memory(cl_context context) {
  const float zero = 0;
  float* const a = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
  float* const b = clSVMAlloc(context, CL_MEM_READ_WRITE, bytes, 0);
  require(a != NULL && b != NULL ? CL_SUCCESS : -1, "clSVMAlloc");
  require(clEnqueueSVMMemFill(queue, a, &zero, sizeof zero, bytes, 0, NULL, expect_event("fill shared memory")),
          "fill");
  require(clEnqueueSVMMemcpy(queue, CL_TRUE, b, a, bytes, 0, NULL, expect_event("copy shared memory")), "copy");
  require(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, b, bytes, 0, NULL, expect_event("map shared memory")), "map");
  require(clEnqueueSVMUnmap(queue, b, 0, NULL, expect_event("unmap shared memory")), "unmap");
  require(clFinish(queue), "clFinish");
  clSVMFree(context, a);
  clSVMFree(context, b);
}

int main(void) {
  const cl_queue_properties none[] = {CL_QUEUE_PROPERTIES, 0, 0};
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  require(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  require(status, "clCreateContext");
  queue = clCreateCommandQueueWithProperties(context, device, none, &status);
  require(status, "clCreateCommandQueueWithProperties");
  const cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
  require(status, "clCreateBuffer");
#ifdef CL_VERSION_3_0
  const cl_mem b = clCreateBufferWithProperties(context, NULL, CL_MEM_READ_WRITE, bytes, NULL, &status);
#else
  const cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
#endif
  require(status, "clCreateBuffer");
  kernels(context, device, a);
  buffers(a, b);
  images(context, a);
  shared_memory(context);
  for (int at = 0; at != count; ++at) {
    unsigned long long sum = 0;
    int times = 0;
    int is_first = 1;
    for (int before = 0; before != at; ++before)
      is_first = is_first && strcmp(commands[before].name, commands[at].name) != 0;
    for (int each = at; is_first && each != count; ++each) {
      cl_ulong started = 0, ended = 0;
      if (strcmp(commands[each].name, commands[at].name) != 0) continue;
      clGetEventProfilingInfo(commands[each].event, CL_PROFILING_COMMAND_START, sizeof started, &started, NULL);
      clGetEventProfilingInfo(commands[each].event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL);
      sum += ended - started;
      ++times;
    }
    if (is_first) printf("%s %d %llu\n", commands[at].name, times, sum);
  }
  printf("single %d 0\n", rounds);
  for (int at = 0; at != count; ++at) clReleaseEvent(commands[at].event);
  clReleaseMemObject(a);
  clReleaseMemObject(b);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
