// The parts of CUPTI, NVIDIA's interface for tools, that the adapter uses. They are declared here: CUPTI's headers come
// with the CUDA toolkit, and this library is built without it. If the toolkit is installed,
// tests/adapters/cuda/layouts.cpp compares these declarations with its headers.
//
// Only the beginning of each record is declared. From CUDA 9 (Kernel4) to CUDA 13 (Kernel10), CUPTI has appended
// members and left these at their offsets, so one declaration fits all versions.
#ifndef ADAPTYST_ADAPTERS_CUDA_CUPTI_ABI_HPP
#define ADAPTYST_ADAPTERS_CUDA_CUPTI_ABI_HPP

#include <cstddef>
#include <cstdint>

namespace cupti {

using result = int;
constexpr result success = 0;
constexpr std::uint32_t oldest_version = 12;  // since CUDA 9.2

enum class activity : int { memcpy = 1, memset = 2, concurrent_kernel = 10, peer_memcpy = 22 };
constexpr int domain_driver = 1;
constexpr int domain_runtime = 2;
constexpr int domain_resource = 3;
constexpr std::uint32_t context_destroyed = 2;    // in domain_resource
constexpr std::uint32_t graph_node_created = 13;  // in domain_resource
constexpr int site_enter = 0;
constexpr int site_exit = 1;
constexpr std::uint32_t flush_forced = 1;

// From and to: h is the host, d a device, a an array on a device.
enum class copy : std::uint8_t {
  unknown,
  h_to_d,
  d_to_h,
  h_to_a,
  a_to_h,
  a_to_a,
  a_to_d,
  d_to_a,
  d_to_d,
  h_to_h,
  peer
};

// All records begin with their kind.
struct kernel_record {
  int kind;
  std::uint32_t before_times[3];
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::uint32_t sizes[10];
  std::uint32_t correlation;
  std::int64_t grid;
  const char* name;
};

struct memcpy_record {
  int kind;
  copy direction;
  std::uint8_t between[3];
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};

struct peer_memcpy_record {
  int kind;
  copy direction;
  std::uint8_t between[3];
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream;
  std::uint32_t from_device, from_context, to_device, to_context;
  std::uint32_t correlation;
};

struct memset_record {
  int kind;
  std::uint32_t value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};

// Data that CUPTI passes when a call of the runtime or the driver is entered or left.
struct call {
  int site;
  const char* function;
  const void* parameters;
  void* returned;
  const char* kernel;
  const void* context;
  std::uint32_t context_id;
  std::uint64_t* shared;
  std::uint32_t correlation;
};

// Data that CUPTI passes in domain_resource.
struct resource {
  const void* context;
};

// Parameters of the driver's functions. All allocations begin with the place for the address; then the requested bytes
// follow, except with a pitch.
struct allocate_parameters {
  const std::uint64_t* pointer;
  std::size_t bytes;
};
struct allocate_pitch_parameters {
  const std::uint64_t* pointer;
  const std::size_t* pitch;
  std::size_t width, height;
};
struct free_parameters {
  std::uint64_t pointer;
};

static_assert(offsetof(kernel_record, start) == 16 && offsetof(kernel_record, correlation) == 92 &&
              offsetof(kernel_record, name) == 104);
static_assert(offsetof(memcpy_record, correlation) == 44 && offsetof(peer_memcpy_record, correlation) == 60 &&
              offsetof(memset_record, correlation) == 44);
static_assert(offsetof(call, correlation) == 64);

extern "C" {
using timestamp_function = std::uint64_t();
using request_function = void(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records);
using complete_function = void(void* context, std::uint32_t stream, std::uint8_t* buffer, std::size_t bytes,
                               std::size_t valid_bytes);
using call_function = void(void* data, int domain, std::uint32_t function, const void* what);
}

}  // namespace cupti

#endif
