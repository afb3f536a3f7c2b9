/* A program without markers: ranks of MPI that compute on an OpenCL device, rank 1 three times as often, and add up what they got. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const char* const source =
    "kernel void square(global float* x) {\n"
    "  float y = x[get_global_id(0)];\n"
    "  for (int step = 0; step != 200; ++step) y = y * 0.5f + 0.5f;\n"
    "  x[get_global_id(0)] = y;\n"
    "}\n";

enum { items = 1 << 18 };

static cl_kernel kernel_of(cl_context context, cl_device_id device) {
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, NULL);
  return clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS ? clCreateKernel(program, "square", NULL)
                                                                           : NULL;
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 77);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
  cl_kernel square = kernel_of(context, device);
  float* const ones = malloc(items * sizeof *ones);
  for (int at = 0; at != items; ++at) ones[at] = 1;
  cl_mem x = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, items * sizeof *ones, ones, NULL);
  clSetKernelArg(square, 0, sizeof x, &x);
  const size_t all = items;
  for (int step = 0; step != 5; ++step) {
    for (int part = 0; part != (rank == 1 ? 3 : 1); ++part)
      clEnqueueNDRangeKernel(queue, square, 1, NULL, &all, NULL, 0, NULL, NULL);
    clFinish(queue);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  clEnqueueReadBuffer(queue, x, CL_TRUE, 0, items * sizeof *ones, ones, 0, NULL, NULL);
  double sum = 0, total = 0;
  for (int at = 0; at != items; ++at) sum += ones[at];
  MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %.0f\n", total);
  free(ones);
  clReleaseMemObject(x);
  clReleaseKernel(square);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  MPI_Finalize();
  return 0;
}
