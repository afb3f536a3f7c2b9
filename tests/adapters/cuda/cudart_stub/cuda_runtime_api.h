// A stub of the CUDA runtime's header, not NVIDIA's: the declarations that <adaptyst/cuda.hpp> and examples/cuda_copies
// use, for machines without the toolkit. Behind them is cudart_stub.cpp, a device that does nothing but take time.
#ifndef ADAPTYST_TESTS_CUDART_STUB_CUDA_RUNTIME_API_H
#define ADAPTYST_TESTS_CUDART_STUB_CUDA_RUNTIME_API_H

#include <stddef.h>

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719
};
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone = 0, cudaStreamCaptureStatusActive = 1 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal = 0, cudaStreamCaptureModeRelaxed = 2 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUstream_st* cudaStream_t;
struct cudaDeviceProp {
  char name[256];
};
#define cudaEventDefault 0x00
#define cudaStreamNonBlocking 0x01

extern "C" {
cudaError_t cudaPeekAtLastError();
cudaError_t cudaGetLastError();
cudaError_t cudaGetDevice(int* ordinal);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal);
cudaError_t cudaDeviceGetPCIBusId(char* place, int bytes, int ordinal);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t end);

// For the example.
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaMallocHost(void** memory, size_t bytes);
cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaMemcpyAsync(void* destination, const void* from, size_t bytes, cudaMemcpyKind direction,
                            cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
}

#endif
