// A stub of the CUDA runtime: streams on which time passes, and events that are stamped with a clock of the device's
// own, which drifts, in steps of half a microsecond. Nothing is computed.
#include "cudart_stub.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

struct CUstream_st {
  std::uint64_t busy_until = 0;
  bool capturing = false;
};
struct CUevent_st {
  std::uint64_t at = 0;  // by the host's clock
  int device = 0;
};

namespace {

std::recursive_mutex lock;
CUstream_st default_stream;
std::atomic<std::uint64_t> calls_made{0};
std::atomic<bool> lost{false};
std::atomic<bool> is_held{false};
thread_local int current = 0;
thread_local cudaError_t last_error = cudaSuccess;
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;
std::atomic<int> captures{0};

std::uint64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000U + static_cast<std::uint64_t>(t.tv_nsec);
}

cudaError_t answer(cudaError_t error) {
  ++calls_made;
  if (error != cudaSuccess) last_error = error;
  return error;
}
cudaError_t answer_for_device() { return answer(lost ? cudaErrorLaunchFailure : cudaSuccess); }
// Of calls that another thread's capture does not bear unless told to.
cudaError_t answer_outside_captures() {
  if (captures != 0 && mode_of_thread != cudaStreamCaptureModeRelaxed) return answer(cudaErrorStreamCaptureUnsupported);
  return answer_for_device();
}

CUstream_st& find_stream(cudaStream_t stream) { return stream != nullptr ? *stream : default_stream; }

double on_device(std::uint64_t host_ns) {
  const double ns = static_cast<double>(host_ns) * (1 + cudart_stub::drift) + 210e6;
  return std::floor(ns / cudart_stub::resolution_ns) * cudart_stub::resolution_ns;
}

}  // namespace

cudaError_t cudaPeekAtLastError() {
  ++calls_made;
  return last_error;
}
cudaError_t cudaGetLastError() {
  const cudaError_t last = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return last;
}
cudaError_t cudaGetDevice(int* ordinal) {
  *ordinal = current;
  return answer(cudaSuccess);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  std::snprintf(properties->name, sizeof properties->name, "stub of a GPU");
  return answer(ordinal >= 0 ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetPCIBusId(char* place, int bytes, int ordinal) {
  std::snprintf(place, static_cast<std::size_t>(bytes), "0000:%02X:00.0", static_cast<unsigned>(ordinal) + 0x1B);
  return answer(cudaSuccess);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return answer(cudaSuccess);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return answer_outside_captures();
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard<std::recursive_mutex> held(lock);
  *status = find_stream(stream).capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return answer(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return answer(cudaSuccess);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard<std::recursive_mutex> held(lock);
  event->at = std::max(now() + 2000, find_stream(stream).busy_until);
  return answer_for_device();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard<std::recursive_mutex> held(lock);
  const cudaError_t error = answer_outside_captures();
  if (error != cudaSuccess) return error;
  return answer(now() >= event->at && !is_held ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t end) {
  const std::lock_guard<std::recursive_mutex> held(lock);
  *ms = static_cast<float>((on_device(end->at) - on_device(from->at)) / 1e6);
  return answer_for_device();
}

const char* cudaGetErrorString(cudaError_t) { return "an error of the stub's"; }
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 2;
  return answer(cudaSuccess);
}
cudaError_t cudaMallocHost(void** memory, size_t bytes) {
  static std::list<std::vector<char>> kept;
  const std::lock_guard<std::recursive_mutex> held(lock);
  *memory = kept.emplace_back(bytes).data();
  return answer(cudaSuccess);
}
cudaError_t cudaMalloc(void** memory, size_t bytes) { return cudaMallocHost(memory, bytes); }
// At 10 GB/s, by the device's clock; nothing is copied.
cudaError_t cudaMemcpyAsync(void*, const void*, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  cudart_stub::launch(stream, bytes / 10);
  return answer_for_device();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::uint64_t until;
  {
    const std::lock_guard<std::recursive_mutex> held(lock);
    until = find_stream(stream).busy_until + 10'000;  // the events behind
  }
  while (now() < until) std::this_thread::yield();
  return answer_for_device();
}

namespace cudart_stub {

void launch(cudaStream_t in, std::uint64_t ns) {
  const std::lock_guard<std::recursive_mutex> held(lock);
  CUstream_st& stream = find_stream(in);
  stream.busy_until =
      std::max(now() + 5000, stream.busy_until) + static_cast<std::uint64_t>(static_cast<double>(ns) / (1 + drift));
}
void use_device(int ordinal) { current = ordinal; }
void hold_devices(bool held) { is_held = held; }
void lose_devices(bool now_lost) { lost = now_lost; }
void capture(cudaStream_t in, bool on) {
  find_stream(in).capturing = on;
  captures += on ? 1 : -1;
}
void set_last_error(cudaError_t error) { last_error = error; }
std::uint64_t calls() { return calls_made; }

}  // namespace cudart_stub
