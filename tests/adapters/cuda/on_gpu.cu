// What only a GPU can show, run by on_gpu.py where one is: how long kernels take according to CUDA's events, and what a
// launch costs the host. The same kernels are in the profile, by libadaptyst-cuda.so or <adaptyst/cuda.hpp>.
//
//   on_gpu launches COUNT      ns that the host needs for a launch, median of COUNT; the kernel is empty
//   on_gpu spin COUNT          COUNT kernels of some 200 us in a region, timed by events of the program's own
//   on_gpu tracked COUNT       the same, tracked by <adaptyst/cuda.hpp>
//   on_gpu streams             two kernels at once, on two streams
//   on_gpu graph COUNT         a graph of COUNT kernels, launched once
#include <adaptyst/cuda.hpp>
#include <adaptyst/region.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

__global__ void nothing() {}

__global__ void spin(long long cycles) {
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
  spin<<<1, 1, 0, stream>>>(cycles);
  check(cudaStreamSynchronize(stream), "warm up");
  double total_ms = 0;
  for (int at = 0; at != count; ++at) {
    ADAPTYST_REGION("launcher");
    adaptyst::cuda::tracked t;
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
  std::printf("events_ns %.0f\n", total_ms * 1e6);
}

void streams() {
  cudaStream_t both[2];
  const long long cycles = to_cycles(20000);
  for (cudaStream_t& stream : both) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
  ADAPTYST_REGION("launcher");
  for (const cudaStream_t stream : both) spin<<<1, 1, 0, stream>>>(cycles);
  check(cudaDeviceSynchronize(), "synchronise");
}

void graph(int count) {
  cudaStream_t stream;
  cudaGraph_t recorded;
  cudaGraphExec_t ready;
  check(cudaStreamCreate(&stream), "stream");
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
  for (int at = 0; at != count; ++at) spin<<<1, 1, 0, stream>>>(10000);
  check(cudaStreamEndCapture(stream, &recorded), "capture");
  check(cudaGraphInstantiateWithFlags(&ready, recorded, 0), "instantiate");
  ADAPTYST_REGION("launcher");
  check(cudaGraphLaunch(ready, stream), "launch");
  check(cudaStreamSynchronize(stream), "synchronise");
}

}  // namespace

int main(int words, char** word) {
  if (words < 2) return std::fprintf(stderr, "usage: on_gpu launches|spin|tracked|streams|graph [COUNT]\n"), 2;
  const int count = words > 2 ? std::atoi(word[2]) : 100;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::fprintf(stderr, "on_gpu: no GPU\n"), 77;
  if (std::strcmp(word[1], "launches") == 0) launches(count);
  if (std::strcmp(word[1], "spin") == 0) spins(count, false);
  if (std::strcmp(word[1], "tracked") == 0) spins(count, true);
  if (std::strcmp(word[1], "streams") == 0) streams();
  if (std::strcmp(word[1], "graph") == 0) graph(count);
}
