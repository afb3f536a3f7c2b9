// Names of constructs: the kind, and its place in the program.
#ifndef ADAPTYST_ADAPTERS_OMPT_NAMES_HPP
#define ADAPTYST_ADAPTERS_OMPT_NAMES_HPP

#include <adaptyst/adapter/code_name.hpp>
#include <cstdint>
#include <string_view>

#include "../name_cache.hpp"

namespace adaptyst::ompt {

enum class construct : std::uint32_t { parallel, teams, loop, sections, target, enter_data, exit_data, update, kernel };

namespace names_detail {
inline adapters::name_cache made;
}  // namespace names_detail

// "loop @solver+0x1234", as in <adaptyst/adapter/code_name.hpp>. Each name is made once; any thread may call. Only
// "loop" without an address, or beyond 1,000 constructs.
inline std::string_view find_name(construct what, const void* code) noexcept {
  static constexpr const char* kinds[] = {"parallel",         "teams",         "loop",
                                          "sections",         "target",        "target enter data",
                                          "target exit data", "target update", "kernel"};
  const char* const kind = kinds[static_cast<std::uint32_t>(what)];
  if (code == nullptr) return kind;
  // Addresses have 47 bits.
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(code) | ((static_cast<std::uint64_t>(what) + 1) << 56);
  const char* const name =
      names_detail::made.find(key, [&](adapters::name_cache::text& text) { write_code_name(text, kind, code); });
  return name != nullptr ? name : kind;
}

}  // namespace adaptyst::ompt

#endif
