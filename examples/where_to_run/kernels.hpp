// The four regions of the chain, for the host and for OpenCL devices. A kernel reads what the one before it has
// left on its side; copies between the sides are for the caller to make.
#ifndef WHERE_TO_RUN_KERNELS_HPP
#define WHERE_TO_RUN_KERNELS_HPP

#include <adaptyst/offload.hpp>

#include <array>
#include <memory>
#include <string>

#include "item.hpp"

namespace where_to_run {

constexpr std::array<const char*, 4> chain = {"multiply", "smooth", "reduce", "sort"};

// Kernel `region` of the chain, on this thread.
void run_on_host(item& data, std::size_t region);

// The first two devices of the first OpenCL platform. PoCL's are both processors: `pthread` computes with one thread, on a core
// of its own where there are two; `basic` computes in the thread that waits. Throws std::runtime_error.
std::size_t count_opencl_devices();

// One of them. Throws std::runtime_error.
class opencl_device {
 public:
  explicit opencl_device(std::size_t number);
  ~opencl_device();

  const adaptyst::device& device() const;
  // Room for such an item; what was on the device is gone.
  void prepare(const item& data);
  // Returns when the device is done.
  void run(const item& data, std::size_t region);
  // What this region takes, chain.size(): what the last one leaves; returns how many bytes. Blocks.
  std::size_t copy_to(const item& data, std::size_t region);
  std::size_t copy_from(item& data, std::size_t region);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace where_to_run

#endif
