// Numbers in few bytes: seven bits per byte, the lowest first, the top bit set in all but the last (LEB128).
#ifndef ADAPTYST_LIB_SUPPORT_VARINT_HPP
#define ADAPTYST_LIB_SUPPORT_VARINT_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace adaptyst::lib {

constexpr std::size_t max_varint_bytes = 10;

// Returns the end of the written bytes, at most max_varint_bytes.
inline char* write_varint(char* to, std::uint64_t value) noexcept {
  while (value >= 128) {
    *to++ = static_cast<char>((value & 127U) | 128U);
    value >>= 7U;
  }
  *to++ = static_cast<char>(value);
  return to;
}

inline void append_varint(std::string& to, std::uint64_t value) {
  char bytes[max_varint_bytes];
  to.append(bytes, static_cast<std::size_t>(write_varint(bytes, value) - bytes));
}

// A signed difference: 0, -1, 1, -2 become 0, 1, 2, 3.
inline std::uint64_t zigzag(std::uint64_t from, std::uint64_t to) noexcept {
  const std::uint64_t by = to - from;
  return by >> 63U != 0 ? ~by << 1U | 1U : by << 1U;
}

// The number at this difference from `from`.
inline std::uint64_t undo_zigzag(std::uint64_t from, std::uint64_t difference) noexcept {
  return from + ((difference & 1U) != 0 ? ~(difference >> 1U) : difference >> 1U);
}

}  // namespace adaptyst::lib

#endif
