// The checksum of RFC 1950, which zlib and every language's binding to it have: one byte that differs is always noticed.
#ifndef ADAPTYST_LIB_SUPPORT_ADLER32_HPP
#define ADAPTYST_LIB_SUPPORT_ADLER32_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace adaptyst::lib {

inline std::uint32_t adler32(std::string_view bytes) noexcept {
  constexpr std::uint32_t modulus = 65521;
  constexpr std::size_t before_overflow = 5552;
  std::uint32_t sum = 1, sum_of_sums = 0;
  while (!bytes.empty()) {
    const std::size_t some = std::min(bytes.size(), before_overflow);
    for (const char one : bytes.substr(0, some)) {
      sum += static_cast<unsigned char>(one);
      sum_of_sums += sum;
    }
    sum %= modulus;
    sum_of_sums %= modulus;
    bytes.remove_prefix(some);
  }
  return sum_of_sums << 16U | sum;
}

}  // namespace adaptyst::lib

#endif
