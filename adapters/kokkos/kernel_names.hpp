// Names of kernels. If the program has not named a kernel, Kokkos uses the mangled type of its functor. If the kernel
// has a tag, a slash and the mangled type of the tag follow. This file demangles these types.
#ifndef ADAPTYST_ADAPTERS_KOKKOS_KERNEL_NAMES_HPP
#define ADAPTYST_ADAPTERS_KOKKOS_KERNEL_NAMES_HPP

#include <adaptyst/adapter/demangle.hpp>
#include <adaptyst/region.hpp>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "../name_cache.hpp"

namespace adaptyst::kokkos {

inline void write_demangled(adapters::name_cache::text& text, const char* name) noexcept {
  const char* const tag = std::strchr(name, '/');
  char functor[2048];
  std::snprintf(functor, sizeof functor, "%.*s",
                tag != nullptr ? static_cast<int>(tag - name) : static_cast<int>(sizeof functor), name);
  const auto type = demangled_type(functor);
  if (type == nullptr) return adapters::write_shortened(text, name);  // no type: the program has given this name
  const auto tag_type = demangled_type(tag != nullptr ? tag + 1 : "");
  char all[4096];
  std::snprintf(all, sizeof all, "%s%s%s", type.get(), tag != nullptr ? "/" : "",
                tag == nullptr        ? ""
                : tag_type != nullptr ? tag_type.get()
                                      : tag + 1);
  adapters::write_shortened(text, all);
}

// Cached. Thread-safe. `symbol` must end with NUL.
inline std::string_view find_kernel_name(std::string_view symbol) noexcept {
  static adapters::name_cache cache;
  if (!may_be_mangled(symbol.data())) return symbol;
  const std::uint64_t key = detail::hash(0, {symbol.data(), symbol.size()}) | 1;
  const char* const name =
      cache.find(key, [&](adapters::name_cache::text& text) { write_demangled(text, symbol.data()); });
  return name != nullptr ? name : symbol;
}

}  // namespace adaptyst::kokkos

#endif
