// A C++ symbol as people write it, for adapters that learn the names of kernels and functions as symbols.
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

// Null: not a C++ symbol, or no memory. Without _Z in front, a function of C called `a` would be taken for the type that
// has this code.
inline std::unique_ptr<char, void (*)(void*)> demangled(const char* symbol) noexcept {
  const bool is_mangled = symbol[0] == '_' && symbol[1] == 'Z';
  return {is_mangled ? abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr) : nullptr, std::free};
}

// Whether a text may be what typeid() says of a class. Of other types it says what anybody may call something: "a", "i".
inline bool may_be_type(const char* name) noexcept {
  return (name[0] >= '1' && name[0] <= '9') || name[0] == 'N' || name[0] == 'Z' || (name[0] == 'S' && name[1] == 't');
}

// What typeid() says of a class, as people write it: "app::sweep" of "N3app5sweepE". Null: it is none.
inline std::unique_ptr<char, void (*)(void*)> demangled_type(const char* name) noexcept {
  return {may_be_type(name) ? abi::__cxa_demangle(name, nullptr, nullptr, nullptr) : nullptr, std::free};
}

}}  // namespace adaptyst::v1

#endif
