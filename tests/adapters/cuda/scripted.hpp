// Records as CUPTI 13 lays them out, written by offset, not through the adapter's own declarations.
#ifndef ADAPTYST_TESTS_ADAPTERS_CUDA_SCRIPTED_HPP
#define ADAPTYST_TESTS_ADAPTERS_CUDA_SCRIPTED_HPP

#include <cstring>
#include <vector>

#include "cupti_stub.hpp"

namespace scripted {

struct when_and_where {
  std::uint64_t start, end;
  std::uint32_t device = 0, stream = 7, context = 1;
};

class record {
 public:
  record(std::uint32_t kind, std::size_t bytes) : bytes_(bytes, 0xA5) { put(0, kind); }
  template <class T>
  record& put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  void deliver() const { cupti_stub_record(bytes_.data(), bytes_.size()); }

 private:
  std::vector<unsigned char> bytes_;
};

inline void kernel(std::uint32_t correlation, const char* name, when_and_where at, std::size_t bytes = 216) {
  record(10, bytes)
      .put(16, at.start)
      .put(24, at.end)
      .put(40, at.device)
      .put(44, at.context)
      .put(48, at.stream)
      .put(92, correlation)
      .put(104, name)
      .deliver();
}

inline record transfer(std::uint32_t kind, std::size_t bytes, std::uint64_t amount, when_and_where at) {
  return record(kind, bytes)
      .put(8, amount)
      .put(16, at.start)
      .put(24, at.end)
      .put(32, at.device)
      .put(36, at.context)
      .put(40, at.stream);
}

inline void memcpy(std::uint32_t correlation, std::uint8_t direction, std::uint64_t amount, when_and_where at) {
  transfer(1, 96, amount, at).put(4, direction).put(44, correlation).deliver();
}
inline void peer_memcpy(std::uint32_t correlation, std::uint64_t amount, when_and_where at) {
  transfer(22, 96, amount, at).put(4, std::uint8_t{10}).put(60, correlation).deliver();
}
inline void memset(std::uint32_t correlation, std::uint64_t amount, when_and_where at) {
  transfer(2, 88, amount, at).put(44, correlation).deliver();
}

constexpr std::uint64_t context = 0x1000;  // of device 0; the next is of device 1

// A call of the driver: the address is 0 before an allocation. `inside` runs between begin and end.
template <class Inside>
bool allocate(const char* function, std::uint64_t address, std::uint64_t bytes, std::uint64_t in, int result,
              Inside inside) {
  std::uint64_t pointer = 0;
  const std::uint64_t parameters[5] = {reinterpret_cast<std::uint64_t>(&pointer), bytes, 0xA5A5, 0xA5A5, 0xA5A5};
  cupti_stub_driver_call(function, true, parameters, 0, in);
  inside();
  if (result == 0) pointer = address;
  return cupti_stub_driver_call(function, false, parameters, result, in);
}
inline bool allocate(const char* function, std::uint64_t address, std::uint64_t bytes, std::uint64_t in = context,
                     int result = 0) {
  return allocate(function, address, bytes, in, result, [] {});
}

inline void allocate_pitch(std::uint64_t address, std::uint64_t pitch, std::uint64_t height, std::uint64_t in) {
  std::uint64_t pointer = 0, made_pitch = 0;
  const std::uint64_t parameters[5] = {reinterpret_cast<std::uint64_t>(&pointer),
                                       reinterpret_cast<std::uint64_t>(&made_pitch), pitch - 7, height, 4};
  cupti_stub_driver_call("cuMemAllocPitch_v2", true, parameters, 0, in);
  pointer = address;
  made_pitch = pitch;
  cupti_stub_driver_call("cuMemAllocPitch_v2", false, parameters, 0, in);
}

template <class Inside>
void free(const char* function, std::uint64_t address, int result, std::uint64_t in, Inside inside) {
  const std::uint64_t parameters[2] = {address, 0xA5A5};
  cupti_stub_driver_call(function, true, parameters, 0, in);
  inside();
  cupti_stub_driver_call(function, false, parameters, result, in);
}
inline void free(const char* function, std::uint64_t address, int result = 0, std::uint64_t in = context) {
  free(function, address, result, in, [] {});
}

inline void destroy_context(std::uint64_t which) { cupti_stub_resource(2, which); }
inline void add_graph_node() { cupti_stub_resource(13, context); }

// A call from its beginning to its end; its number.
class call {
 public:
  call(const char* name, std::uint32_t correlation, int domain = 2)
      : name_(name), correlation_(correlation), domain_(domain) {
    cupti_stub_call(domain_, name_, correlation_, true);
  }
  ~call() { cupti_stub_call(domain_, name_, correlation_, false); }
  call(const call&) = delete;
  call& operator=(const call&) = delete;

 private:
  const char* name_;
  std::uint32_t correlation_;
  int domain_;
};

}  // namespace scripted

#endif
