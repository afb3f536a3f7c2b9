// <adaptyst/cuda.hpp> with NVIDIA's own declarations, compiled as host code.
#include <adaptyst/cuda.hpp>

namespace {

void use(cudaStream_t stream) {
  adaptyst::cuda::tracked t = adaptyst::cuda::track("stencil", stream);
  t.end();
  const auto copy = adaptyst::cuda::track("upload", stream, adaptyst::operation_kind::copy_to, adaptyst::work{100});
  adaptyst::cuda::collect();
}

}  // namespace

void (*const cuda_header_is_used)(cudaStream_t) = use;
