/* Adds vectors on the first OpenCL device, as often as its argument says; knows nothing of us. Every call is counted by
 * a reader: for n rounds n x clEnqueueNDRangeKernel, n x clFinish, 3 x clCreateBuffer, … */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { numbers = 1024 };

static const char* const source =
    "kernel void add(global const float* a, global const float* b, global float* sum) {\n"
    "  size_t i = get_global_id(0);\n"
    "  sum[i] = a[i] + b[i];\n"
    "}\n";

static void require(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  exit(status == -1001 /* no platform */ || status == CL_DEVICE_NOT_FOUND ? 77 : 1);
}

int main(int count, char** arguments) {
  const int rounds = count > 1 ? atoi(arguments[1]) : 1;
  const size_t global = numbers;
  static float a[numbers], b[numbers], sum[numbers];
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  cl_mem of_a, of_b, of_sum;
  double total = 0;
  for (int i = 0; i != numbers; ++i) {
    a[i] = (float)i;
    b[i] = 1;
  }
  require(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  require(status, "clCreateContext");
  const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  require(status, "clCreateCommandQueue");
  const cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &status);
  require(status, "clCreateProgramWithSource");
  require(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  const cl_kernel kernel = clCreateKernel(program, "add", &status);
  require(status, "clCreateKernel");
  of_a = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof a, a, &status);
  require(status, "clCreateBuffer");
  of_b = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof b, b, &status);
  require(status, "clCreateBuffer");
  of_sum = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof sum, NULL, &status);
  require(status, "clCreateBuffer");
  require(clSetKernelArg(kernel, 0, sizeof of_a, &of_a), "clSetKernelArg");
  require(clSetKernelArg(kernel, 1, sizeof of_b, &of_b), "clSetKernelArg");
  require(clSetKernelArg(kernel, 2, sizeof of_sum, &of_sum), "clSetKernelArg");
  for (int round = 0; round != rounds; ++round) {
    require(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    require(clFinish(queue), "clFinish");
  }
  require(clEnqueueReadBuffer(queue, of_sum, CL_TRUE, 0, sizeof sum, sum, 0, NULL, NULL), "clEnqueueReadBuffer");
  for (int i = 0; i != numbers; ++i) total += sum[i];
  printf("%.0f\n", total);
  clReleaseMemObject(of_a);
  clReleaseMemObject(of_b);
  clReleaseMemObject(of_sum);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
