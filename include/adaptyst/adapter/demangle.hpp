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

}}  // namespace adaptyst::v1

#endif
