// Level of a marker in the stack, from the application to the hardware.
//
//   ADAPTYST_REGION("conv1", adaptyst::level::layer);
//   ADAPTYST_REGION("conv1", adaptyst::on_level(adaptyst::level::layer, conv_payload{…}));    // with numbers as well
//
// A level replaces a payload, also in ADAPTYST_OFFLOAD, ADAPTYST_WAIT, ADAPTYST_HANDLE_BEGIN and adaptyst::submit(). A
// run may record some levels only (`level=layer`, `adaptyst levels`) and skip deeper markers (docs/levels.md). A user's
// rule, `--level 'conv*=library'`, overrides the marker. Markers without a level have that of their kind: application,
// or device for operations.
//
// Cost: as a marker with a payload (region.hpp). A marker must always give the same level: its first event decides.
#ifndef ADAPTYST_DETAIL_LEVEL_HPP
#define ADAPTYST_DETAIL_LEVEL_HPP

#include <stdint.h>

#include "config.hpp"

namespace adaptyst { inline namespace v1 {

// From the outermost inwards.
enum class level : uint32_t { application = 1, model, layer, library, device, hardware };

namespace detail {
template <class Payload>
struct levelled_payload {
  level on;
  const Payload& payload;  // valid to the end of the marker's expression
};
}  // namespace detail

// For a marker with a level and a payload.
template <class Payload>
constexpr detail::levelled_payload<Payload> on_level(level on, const Payload& payload) noexcept {
  return {on, payload};
}

}}  // namespace adaptyst::v1

#endif
