// A processor on which work runs.
//
//   adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "H200"};
//   ADAPTYST_OFFLOAD("stencil", gpu);
//
// Kind, index and name identify a device. An enabled marker registers the device on first use; until then it costs
// nothing. A process has at most 63 devices; work on further devices is counted as lost. Regions without a device
// belong to the host CPU.
#ifndef ADAPTYST_DETAIL_DEVICE_HPP
#define ADAPTYST_DETAIL_DEVICE_HPP

#include <stddef.h>
#include <stdint.h>

#include "config.hpp"

namespace adaptyst { inline namespace v1 {

enum class device_kind : uint32_t { cpu, gpu, fpga, accelerator, other };

// The clock of a device's times. device_clock reads the host's clocks itself.
enum class clock_id : uint32_t { unknown, monotonic, monotonic_raw, realtime, boottime, device };

// 52 bytes, trivially copyable, may be a constant. Thread-safe.
class device {
 public:
  // `name` is copied, up to 39 bytes.
  constexpr device(device_kind kind, uint32_t index, const char* name) noexcept : kind_(kind), index_(index) {
    for (size_t at = 0; at + 1 < sizeof name_ && name != nullptr && name[at] != '\0'; ++at) name_[at] = name[at];
  }

  constexpr device_kind kind() const noexcept { return kind_; }
  constexpr uint32_t index() const noexcept { return index_; }
  constexpr const char* name() const noexcept { return name_; }

 private:
  friend struct device_access;
  device_kind kind_;
  uint32_t index_;
  char name_[40]{};
  mutable uint32_t id_ = 0;  // number in the process; 0: not registered yet
};

}}  // namespace adaptyst::v1

#endif
