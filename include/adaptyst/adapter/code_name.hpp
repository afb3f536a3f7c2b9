// A name for code that an adapter knows only by its address: kind, file and offset.
//
//   char name[128];
//   adaptyst::write_code_name(name, "parallel", code);       // "parallel @solver+0x4c5c"
//
// If the file has debug information, the collector converts it to "solve solver.cc:2240 parallel". The program avoids
// this look-up, which would take milliseconds. Without a collector the name stays unchanged. `code` is the return
// address of a call, as OpenMP's runtime passes it. Calls the loader: 1 us; call it once per address. Never throws.
#ifndef ADAPTYST_ADAPTER_CODE_NAME_HPP
#define ADAPTYST_ADAPTER_CODE_NAME_HPP

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace adaptyst { inline namespace v1 {

template <std::size_t Bytes>
void write_code_name(char (&to)[Bytes], const char* what, const void* code) noexcept {
  Dl_info found{};
  if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) {
    std::snprintf(to, Bytes, "%s", what);
    return;
  }
  const char* const slash = std::strrchr(found.dli_fname, '/');
  std::snprintf(to, Bytes, "%s @%.80s+0x%zx", what, slash != nullptr ? slash + 1 : found.dli_fname,
                static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(code) -
                                         reinterpret_cast<std::uintptr_t>(found.dli_fbase)));
}

struct code_name {
  std::string_view what, file;
  std::uint64_t offset = 0;  // from the start of the file's mapping
};

// Empty if the name has another form.
inline std::optional<code_name> read_code_name(std::string_view name) noexcept {
  const std::size_t sign = name.find(" @");
  const std::size_t plus = name.rfind("+0x");
  if (sign == std::string_view::npos || plus == std::string_view::npos || plus <= sign + 2) return std::nullopt;
  code_name made{name.substr(0, sign), name.substr(sign + 2, plus - sign - 2), 0};
  const std::string_view digits = name.substr(plus + 3);
  if (digits.empty() || digits.size() > 16) return std::nullopt;
  for (const char digit : digits) {
    const bool is_letter = digit >= 'a' && digit <= 'f';
    if (!is_letter && (digit < '0' || digit > '9')) return std::nullopt;
    made.offset = made.offset * 16 + static_cast<std::uint64_t>(is_letter ? digit - 'a' + 10 : digit - '0');
  }
  return made;
}

}}  // namespace adaptyst::v1

#endif
