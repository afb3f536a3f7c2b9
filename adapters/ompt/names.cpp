#include "names.hpp"

#include <adaptyst/adapter/code_name.hpp>

#include "../name_cache.hpp"

namespace adaptyst::ompt {

namespace {

constexpr const char* kinds[] = {"parallel",         "teams",         "loop",
                                 "sections",         "target",        "target enter data",
                                 "target exit data", "target update", "kernel"};

adapters::name_cache names;

}  // namespace

std::string_view find_name(construct what, const void* code) noexcept {
  const char* const kind = kinds[static_cast<std::uint32_t>(what)];
  if (code == nullptr) return kind;
  // Addresses have 47 bits.
  const std::uint64_t key = reinterpret_cast<std::uintptr_t>(code) | ((static_cast<std::uint64_t>(what) + 1) << 56);
  const char* const name =
      names.find(key, [&](adapters::name_cache::text& text) { write_code_name(text, kind, code); });
  return name != nullptr ? name : kind;
}

}  // namespace adaptyst::ompt
