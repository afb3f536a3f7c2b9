// Demangles C++ symbols of kernels and functions, for adapters.
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

// Null if it is no C++ symbol or no memory is free. The prefix _Z is required: `a`, the name of a C function, is also
// the mangled name of signed char.
inline std::unique_ptr<char, void (*)(void*)> demangled(const char* symbol) noexcept {
  const bool is_mangled = symbol[0] == '_' && symbol[1] == 'Z';
  return {is_mangled ? abi::__cxa_demangle(symbol, nullptr, nullptr, nullptr) : nullptr, std::free};
}

// True if the text may be the typeid() name of a class. Built-in types are excluded: "a" and "i" may be names chosen by
// a user.
inline bool may_be_mangled(const char* name) noexcept {
  return (name[0] >= '1' && name[0] <= '9') || name[0] == 'N' || name[0] == 'Z' || (name[0] == 'S' && name[1] == 't');
}

// Demangles the typeid() name of a class: "N3app5sweepE" to "app::sweep". Null if it is no class.
inline std::unique_ptr<char, void (*)(void*)> demangled_type(const char* name) noexcept {
  return {may_be_mangled(name) ? abi::__cxa_demangle(name, nullptr, nullptr, nullptr) : nullptr, std::free};
}

}}  // namespace adaptyst::v1

#endif
