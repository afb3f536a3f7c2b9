// Needs a GPU, run by on_gpu.py: durations of kernels by the GPU's own timer, and the cost of a launch for the host. The
// same kernels are in the profile, by libadaptyst-cuda.so or <adaptyst/cuda.hpp>.
//
//   on_gpu launches COUNT [records|callbacks]
//                              ns of the host for a launch, median of COUNT; the kernel is empty. With CUPTI's records of
//                              kernels, or also an empty callback for each launch: the least that CUPTI costs
//   on_gpu spin COUNT          COUNT kernels of some 200 us in a region; ns that the kernels measured themselves, and
//                              ns between two events around each
//   on_gpu tracked COUNT       the same, tracked by <adaptyst/cuda.hpp>, on a stream that is busy before
//   on_gpu streams             two kernels at once, on two streams
//   on_gpu graph COUNT         a graph of COUNT kernels, launched once
//   on_gpu memory              allocates and frees memory of some kinds; prints the bytes of the pitched memory
#include <adaptyst/cuda.hpp>
#include <adaptyst/region.hpp>

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

__global__ void nothing() {}

__device__ unsigned long long spun_ns;  // by all calls of spin()

__device__ unsigned long long timer_ns() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin(long long cycles) {
  const unsigned long long begin_ns = timer_ns();
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
  spun_ns += timer_ns() - begin_ns;
}

__global__ void delay(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "on_gpu: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(77);
}

long long to_cycles(double microseconds) {
  int khz = 0;
  check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), "clock rate");
  return static_cast<long long>(microseconds * khz / 1000);
}

void request_buffer(unsigned char** buffer, size_t* bytes, size_t* max_records) {
  *bytes = 1 << 20;
  *buffer = static_cast<unsigned char*>(std::aligned_alloc(64, *bytes));
  *max_records = 0;
}
void complete_buffer(CUcontext, unsigned, unsigned char* buffer, size_t, size_t) { std::free(buffer); }
void ignore_call(void*, int, unsigned, const void*) {}

// The functions and numbers are those of NVIDIA's cupti_activity.h and cupti_callbacks.h.
void enable_cupti(bool callbacks) {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOW) != nullptr ? dlopen("libcupti.so.13", RTLD_NOW)
                                                                    : dlopen("libcupti.so.12", RTLD_NOW);
  if (cupti == nullptr) return std::fprintf(stderr, "on_gpu: no libcupti.so\n"), std::exit(77);
  constexpr int concurrent_kernel = 10, runtime_domain = 2, launch_kernel = 211;
  void* subscriber = nullptr;
  int result = reinterpret_cast<int (*)(decltype(&request_buffer), decltype(&complete_buffer))>(
      dlsym(cupti, "cuptiActivityRegisterCallbacks"))(request_buffer, complete_buffer);
  result |= reinterpret_cast<int (*)(int)>(dlsym(cupti, "cuptiActivityEnable"))(concurrent_kernel);
  if (callbacks) {
    result |= reinterpret_cast<int (*)(void**, decltype(&ignore_call), void*)>(dlsym(cupti, "cuptiSubscribe"))(
        &subscriber, ignore_call, nullptr);
    result |= reinterpret_cast<int (*)(unsigned, void*, int, unsigned)>(dlsym(cupti, "cuptiEnableCallback"))(
        1, subscriber, runtime_domain, launch_kernel);
  }
  if (result != 0) std::fprintf(stderr, "on_gpu: CUPTI: error %d\n", result), std::exit(77);
}

void launches(int count) {
  nothing<<<1, 1>>>();
  check(cudaDeviceSynchronize(), "first launch");
  std::vector<double> ns;
  for (int at = 0; at != count; ++at) {
    const auto before = std::chrono::steady_clock::now();
    nothing<<<1, 1>>>();
    ns.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - before).count());
    if (at % 64 == 63) check(cudaDeviceSynchronize(), "synchronise");  // the queue of launches must not fill
  }
  check(cudaDeviceSynchronize(), "synchronise");
  std::nth_element(ns.begin(), ns.begin() + count / 2, ns.end());
  std::printf("launch_ns %.1f\n", ns[count / 2]);
}

void spins(int count, bool tracked) {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  const long long cycles = to_cycles(200);
  delay<<<1, 1, 0, stream>>>(cycles);
  spin<<<1, 1, 0, stream>>>(0);
  check(cudaStreamSynchronize(stream), "warm up");
  double total_ms = 0;
  for (int at = 0; at != count; ++at) {
    ADAPTYST_REGION("launcher");
    adaptyst::cuda::tracked t;
    // Events on an idle stream would include the time in which the host launches the kernel.
    if (tracked) delay<<<1, 1, 0, stream>>>(cycles);
    check(cudaEventRecord(begin, stream), "record");
    if (tracked) t = adaptyst::cuda::track("tracked spin", stream);
    spin<<<1, 1, 0, stream>>>(cycles);
    t.end();
    check(cudaEventRecord(end, stream), "record");
    check(cudaEventSynchronize(end), "synchronise");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    total_ms += ms;
  }
  if (tracked) adaptyst::cuda::collect();
  unsigned long long ns = 0;
  check(cudaMemcpyFromSymbol(&ns, spun_ns, sizeof ns), "copy");
  std::printf("events_ns %.0f\nkernels_ns %llu\n", total_ms * 1e6, ns);
}

void streams() {
  cudaStream_t both[2];
  const long long cycles = to_cycles(20000);
  for (cudaStream_t& stream : both) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  ADAPTYST_REGION("launcher");
  for (const cudaStream_t stream : both) delay<<<1, 1, 0, stream>>>(cycles);
  check(cudaDeviceSynchronize(), "synchronise");
}

void graph(int count) {
  cudaStream_t stream;
  cudaGraph_t recorded;
  cudaGraphExec_t ready;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int at = 0; at != count; ++at) delay<<<1, 1, 0, stream>>>(10000);
  check(cudaStreamEndCapture(stream, &recorded), "capture");
  check(cudaGraphInstantiateWithFlags(&ready, recorded, 0), "instantiate");
  ADAPTYST_REGION("launcher");
  check(cudaGraphLaunch(ready, stream), "launch");
  check(cudaStreamSynchronize(stream), "synchronise");
}

void allocate_in_graph(cudaStream_t stream) {
  void* inside = nullptr;
  cudaGraph_t recorded;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  check(cudaMallocAsync(&inside, 1 << 20, stream), "captured allocation");
  check(cudaFreeAsync(inside, stream), "captured free");
  check(cudaStreamEndCapture(stream, &recorded), "capture");
}

void memory() {
  cudaStream_t stream;
  void *plain = nullptr, *managed = nullptr, *ordered = nullptr, *pitched = nullptr, *too_large = nullptr;
  size_t pitch = 0;
  check(cudaStreamCreate(&stream), "stream");
  {
    ADAPTYST_REGION("allocate");
    check(cudaMalloc(&plain, 64 << 20), "memory");
    check(cudaMallocManaged(&managed, 1 << 20), "managed memory");
    check(cudaMallocPitch(&pitched, &pitch, 1000, 100), "pitched memory");
    check(cudaMallocAsync(&ordered, 1 << 16, stream), "memory of a stream");
    if (cudaMalloc(&too_large, size_t{1} << 60) == cudaSuccess) std::exit(1);
    cudaGetLastError();
    allocate_in_graph(stream);
  }
  {
    ADAPTYST_REGION("free");
    check(cudaFree(plain), "free");
    check(cudaFreeAsync(ordered, stream), "free");
    check(cudaStreamSynchronize(stream), "synchronise");
  }
  std::printf("pitched_bytes %zu\n", pitch * 100);
}

}  // namespace

int main(int words, char** word) {
  if (words < 2) return std::fprintf(stderr, "usage: on_gpu launches|spin|tracked|streams|graph|memory [COUNT]\n"), 2;
  const int count = words > 2 ? std::atoi(word[2]) : 100;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::fprintf(stderr, "on_gpu: no GPU\n"), 77;
  if (words > 3) enable_cupti(std::strcmp(word[3], "callbacks") == 0);
  if (std::strcmp(word[1], "launches") == 0) launches(count);
  if (std::strcmp(word[1], "spin") == 0) spins(count, false);
  if (std::strcmp(word[1], "tracked") == 0) spins(count, true);
  if (std::strcmp(word[1], "streams") == 0) streams();
  if (std::strcmp(word[1], "graph") == 0) graph(count);
  if (std::strcmp(word[1], "memory") == 0) memory();
}
