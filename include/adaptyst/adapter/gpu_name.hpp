// Name of a GPU in profiles: all adapters must give the same device the same name.
#ifndef ADAPTYST_ADAPTER_GPU_NAME_HPP
#define ADAPTYST_ADAPTER_GPU_NAME_HPP

#include "../detail/device.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The first 26 characters of the name, and the place on the bus, because ordinals differ between processes.
inline device gpu_at(int ordinal, const char* kind, const char* name, const char* place) noexcept {
  char text[40];
  size_t length = 0;
  const auto append = [&](const char* what, size_t max_bytes) {
    for (; length != max_bytes && *what != '\0'; ++what) text[length++] = *what;
  };
  append(*name != '\0' ? name : kind, 26);
  if (*place != '\0') append(" ", 27);
  append(place, sizeof text - 1);
  text[length] = '\0';
  return device{device_kind::gpu, static_cast<uint32_t>(ordinal), text};
}

}}}  // namespace adaptyst::v1::detail

#endif
