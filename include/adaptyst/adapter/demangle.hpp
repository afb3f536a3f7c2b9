// Demangles C++ symbols, for adapters that are given the symbols of kernels and functions.
//
//   const auto text = adaptyst::demangled("_Z5solveR4grid");   // "solve(grid&)"
//   use(text ? text.get() : symbol);
//
// Allocates; thread-safe; never throws.
#ifndef ADAPTYST_ADAPTER_DEMANGLE_HPP
#define ADAPTYST_ADAPTER_DEMANGLE_HPP

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace adaptyst { inline namespace v1 {

// Null: not a C++ symbol, or no memory. Only with _Z in front: `a`, the name of a C function, is also the mangled name
// of the type signed char.
inline std::unique_ptr<char, void (*)(void*)> demangled(const char* symbol) noexcept {
  const bool is_mangled = symbol[0] == '_' && symbol[1] == 'Z';
  return {is_mangled ? abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr) : nullptr, std::free};
}

// Whether a text may be what typeid() returns for a class. For built-in types it returns "a" or "i", which may as well
// be names that a user has chosen.
inline bool may_be_type(const char* name) noexcept {
  return (name[0] >= '1' && name[0] <= '9') || name[0] == 'N' || name[0] == 'Z' || (name[0] == 'S' && name[1] == 't');
}

// Demangles what typeid() returns for a class: "N3app5sweepE" to "app::sweep". Null: it is no class.
inline std::unique_ptr<char, void (*)(void*)> demangled_type(const char* name) noexcept {
  return {may_be_type(name) ? abi::__cxa_demangle(name, nullptr, nullptr, nullptr) : nullptr, std::free};
}

}}  // namespace adaptyst::v1

#endif
