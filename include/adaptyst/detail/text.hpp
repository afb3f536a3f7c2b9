// Texts without <string_view>, which compiles slowly: names of markers, and a hash that is equal in every process.
#ifndef ADAPTYST_DETAIL_TEXT_HPP
#define ADAPTYST_DETAIL_TEXT_HPP

#include <stddef.h>
#include <stdint.h>

#include "config.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct text {
  const char* data;
  size_t bytes;
};

// For `const char*`. Arrays also match, but need a conversion here, so that the array overload wins: a literal may
// contain NULs.
struct terminated {
  const char* data;
  constexpr terminated(const char* name) noexcept : data(name) {}
};
constexpr text to_text(terminated name) noexcept {
  return {name.data, name.data != nullptr ? __builtin_strlen(name.data) : 0};
}

template <size_t N>
constexpr text to_text(const char (&literal)[N]) noexcept {
  return {literal, N - 1};
}

// Anything with data() and size(): std::string_view, std::string, …
template <class View>
constexpr auto to_text(const View& name) noexcept -> decltype(text{name.data(), name.size()}) {
  return {name.data(), name.size()};
}

// True if a macro argument begins like a string literal; `spelling`: the argument as a text (#argument).
constexpr bool spelled_as_literal(const char* spelling) noexcept { return spelling[0] == '"'; }

template <class T>
inline constexpr bool is_char_array = false;
template <size_t N>
inline constexpr bool is_char_array<const char (&)[N]> = true;

// Address of a literal, for constant initialisation; null for any other name.
template <size_t N>
constexpr const char* literal_address(const char (&literal)[N]) noexcept {
  return literal;
}
template <class T>
constexpr const char* literal_address(const T&) noexcept {
  return nullptr;
}

constexpr uint64_t mix(uint64_t value) noexcept {
  value *= 0x9E3779B97F4A7C15U;  // 2^64 / the golden ratio
  return value ^ (value >> 32);
}

// Depends on the bytes of the text only, not on addresses: equal in every process.
template <class = void>
inline uint64_t hash(uint64_t seed, text what) noexcept {
  const char* at = what.data;
  size_t left = what.bytes;
  uint64_t word = 0;
  for (; left >= sizeof word; at += sizeof word, left -= sizeof word) {
    __builtin_memcpy(&word, at, sizeof word);
    seed = mix(seed ^ word);
  }
  word = 0;
  if (left != 0) __builtin_memcpy(&word, at, left);
  return mix(mix(seed ^ word) + what.bytes);
}

}}}  // namespace adaptyst::v1::detail

#endif
