// Declares a device, and marks regions in which the host hands work to it and waits. Other marker headers use the
// device as well.
//
//   adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "H200"};   // see detail/device.hpp
//
//   ADAPTYST_OFFLOAD("stencil", gpu);                       // to the end of the scope
//   ADAPTYST_OFFLOAD("stencil", gpu, stencil_payload{…});   // with numbers: needs <adaptyst/payload.hpp>
//
// An offload is a region (cost: region.hpp), recorded on the device instead of the CPU. The device counts as busy with
// kernels from begin to end. If the host does not wait, adaptyst::submit() measures more (operation.hpp). If it waits
// later:
//
//   ADAPTYST_WAIT("wait for the GPU");       // to the end of the scope; also with a payload
//
// This is a region on the CPU in which a thread of the host waits for devices. With it, the report contains how much
// device work overlapped with the host's own work.
#ifndef ADAPTYST_OFFLOAD_HPP
#define ADAPTYST_OFFLOAD_HPP

#include "detail/device.hpp"
#include "region.hpp"

#ifdef ADAPTYST_DISABLE
namespace adaptyst { inline namespace v1 { namespace detail {
template <class Name, class... Payload>
constexpr int check_offload(const Name& name, const device&, const Payload&...) noexcept {
  static_assert(sizeof...(Payload) <= 1, "adaptyst: ADAPTYST_OFFLOAD(name, device) or (name, device, payload)");
  return static_cast<void>(to_text(name)), 0;
}
}}}  // namespace adaptyst::v1::detail
#define ADAPTYST_OFFLOAD(...) ADAPTYST_DETAIL_CHECK(check_offload(__VA_ARGS__))
#define ADAPTYST_WAIT(...) ADAPTYST_DETAIL_CHECK(check_region(__VA_ARGS__))
#else
#include "detail/offload_scope.hpp"
#define ADAPTYST_OFFLOAD(...) \
  ADAPTYST_DETAIL_OFFLOAD_SCOPE(__COUNTER__, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~), __VA_ARGS__)
#define ADAPTYST_WAIT(...) ADAPTYST_DETAIL_WAIT_SCOPE(__COUNTER__, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~), __VA_ARGS__)
#endif

#endif
