// The direction of a copy, for readers of traces and for analyses. A copy without one has an unknown direction.
#ifndef ADAPTYST_LIB_MODEL_COPY_DIRECTION_HPP
#define ADAPTYST_LIB_MODEL_COPY_DIRECTION_HPP

#include <cstdint>

namespace adaptyst::lib {

enum class copy_direction : std::uint8_t { to_device, to_host, between_devices };

}  // namespace adaptyst::lib

#endif
