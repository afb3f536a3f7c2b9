// Copies to a GPU and back on two streams at once, each told to adaptyst: host code only, linked with the CUDA runtime.
#include <adaptyst/collector.hpp>
#include <adaptyst/cuda.hpp>
#include <adaptyst/offload.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "cuda_copies: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(EXIT_FAILURE);
}

constexpr std::size_t bytes = 32U << 20;

struct pipeline {
  cudaStream_t stream = nullptr;
  void* host = nullptr;
  void* device = nullptr;

  pipeline() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    check(cudaMallocHost(&host, bytes), "host memory");
    check(cudaMalloc(&device, bytes), "device memory");
  }

  void copy(const char* name, adaptyst::operation_kind kind, void* destination, const void* from,
            cudaMemcpyKind direction) {
    const adaptyst::cuda::tracked t = adaptyst::cuda::track(name, stream, kind, adaptyst::work{bytes});
    check(cudaMemcpyAsync(destination, from, bytes, direction, stream), name);
  }  // the stream goes on with what is not ours
};

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return std::puts("cuda_copies: no CUDA device"), 77;
  adaptyst::collector collector;  // prints a report at the end
  pipeline pipelines[2];
  for (int step = 0; step != 10; ++step) {
    ADAPTYST_REGION("step");
    for (pipeline& pipeline : pipelines) {
      pipeline.copy("upload", adaptyst::operation_kind::copy_to, pipeline.device, pipeline.host,
                    cudaMemcpyHostToDevice);
      pipeline.copy("download", adaptyst::operation_kind::copy_from, pipeline.host, pipeline.device,
                    cudaMemcpyDeviceToHost);
    }
    ADAPTYST_WAIT("wait for the copies");
    for (const pipeline& pipeline : pipelines) check(cudaStreamSynchronize(pipeline.stream), "synchronise");
  }
  adaptyst::cuda::collect();  // what has ended since the last track()
}
