// The execution spaces and memory spaces of Kokkos, as devices.
#ifndef ADAPTYST_ADAPTERS_KOKKOS_EXECUTION_HPP
#define ADAPTYST_ADAPTERS_KOKKOS_EXECUTION_HPP

#include <adaptyst/offload.hpp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace adaptyst::kokkos {

enum class backend : std::uint32_t { serial, openmp, cuda, hip, openmp_target, hpx, threads, sycl, openacc };

struct execution {
  std::uint32_t type;      // a backend, or an unknown number
  std::uint32_t number;    // of the device among those of its type
  std::uint32_t instance;  // its queue

  static constexpr execution of(std::uint32_t id) noexcept { return {id >> 24, (id >> 17) & 0x7f, id & 0x1ffff}; }

  // The processor that runs the program: a kernel ends when its call returns.
  constexpr bool is_host() const noexcept {
    switch (static_cast<backend>(type)) {
      case backend::serial:
      case backend::openmp:
      case backend::hpx:
      case backend::threads: return true;
      default: return false;
    }
  }
};

inline device make_device(std::uint32_t type, std::uint32_t number) noexcept {
  constexpr const char* names[] = {"Kokkos Serial",  "Kokkos OpenMP",       "Kokkos Cuda",
                                   "Kokkos HIP",     "Kokkos OpenMPTarget", "Kokkos HPX",
                                   "Kokkos Threads", "Kokkos SYCL",         "Kokkos OpenACC"};
  char unknown[32];
  const char* name = unknown;
  if (type < sizeof names / sizeof *names) name = names[type];
  else std::snprintf(unknown, sizeof unknown, "Kokkos, unknown type %u", type);
  const auto as = static_cast<backend>(type);
  const device_kind kind = as == backend::cuda || as == backend::hip ? device_kind::gpu
                           : type <= static_cast<std::uint32_t>(backend::openacc)
                               ? (execution{type, 0, 0}.is_host() ? device_kind::cpu : device_kind::accelerator)
                               : device_kind::other;
  return {kind, number, name};
}

// The owner of a memory space, by its name.
struct space {
  bool is_host;
  bool is_known;
  std::uint32_t type;  // of the backend, if it is known and not the host's

  static space of(std::string_view name) noexcept {
    if (name.find("Host") != name.npos || name == "HBW") return {true, true, 0};  // including CudaHostPinned
    struct named {
      std::string_view begin;
      backend of;
    };
    constexpr named all[] = {{"Cuda", backend::cuda},
                             {"HIP", backend::hip},
                             {"SYCL", backend::sycl},
                             {"OpenMPTarget", backend::openmp_target},
                             {"OpenACC", backend::openacc}};
    for (const named& entry : all)
      if (name.substr(0, entry.begin.size()) == entry.begin) return {false, true, static_cast<std::uint32_t>(entry.of)};
    return {false, false, 0};
  }
};

}  // namespace adaptyst::kokkos

#endif
