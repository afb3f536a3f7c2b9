// <adaptyst/cuda.hpp> with NVIDIA's own declarations, compiled as host code.
#include <adaptyst/cuda.hpp>

void use_cuda_header(cudaStream_t stream);

void use_cuda_header(cudaStream_t stream) {
  adaptyst::cuda::tracked t = adaptyst::cuda::track("stencil", stream);
  t.end();
  const auto copy = adaptyst::cuda::track("upload", stream, adaptyst::operation_kind::copy_to, adaptyst::work{100});
  adaptyst::cuda::collect();
}
