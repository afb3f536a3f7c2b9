// Adds doubles without rounding, as long integers, so the sum does not depend on the order of ranks.
#include "exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace adaptyst::lib {

namespace {

constexpr int mantissa_bits = 52;
constexpr int lowest_exponent = 1074;  // of the last bit of a double
constexpr unsigned is_nan = 1, is_infinite = 2, is_negative_infinite = 4;

}  // namespace

exact_sum::exact_sum(double value) {
  if (std::isnan(value)) of_.specials = is_nan;
  else if (std::isinf(value)) of_.specials = value > 0 ? is_infinite : is_negative_infinite;
  if (of_.specials != 0 || value == 0) return;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto exponent = static_cast<unsigned>(bits >> static_cast<unsigned>(mantissa_bits) & 0x7ffU);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << static_cast<unsigned>(mantissa_bits)) - 1);
  if (exponent != 0) mantissa |= std::uint64_t{1} << static_cast<unsigned>(mantissa_bits);
  const unsigned place = exponent != 0 ? exponent - 1 : 0;  // of its last bit, above the lowest bit
  std::uint64_t number = mantissa << place % 8;             // 60 bits at most
  if (value < 0) number = -number;
  of_.first = place / 8;
  of_.count = sizeof number;
  for (std::size_t at = 0; at != sizeof number; ++at) of_.bytes[at] = static_cast<std::uint8_t>(number >> 8 * at);
  trim();
}

std::uint8_t exact_sum::byte(std::size_t place) const noexcept {
  if (place < of_.first) return 0;
  return place - of_.first < of_.count ? of_.bytes[place - of_.first] : extension();
}

void exact_sum::add(const exact_sum& more) {
  of_.specials |= more.of_.specials;
  if (more.of_.count == 0) return;
  if (of_.count == 0) {
    of_.first = more.of_.first;
    of_.count = more.of_.count;
    std::copy_n(more.of_.bytes.begin(), of_.count, of_.bytes.begin());
    return;
  }
  exact_sum made;
  made.of_.specials = of_.specials;
  made.of_.first = std::min(of_.first, more.of_.first);
  const std::size_t end = std::max(of_.first + of_.count, more.of_.first + more.of_.count) + 1;
  made.of_.count = std::min(end - made.of_.first, max_bytes);
  unsigned carry = 0;
  for (std::size_t at = 0; at != made.of_.count; ++at) {
    const std::size_t place = made.of_.first + at;
    carry += static_cast<unsigned>(byte(place)) + more.byte(place);
    made.of_.bytes[at] = static_cast<std::uint8_t>(carry);
    carry >>= 8U;
  }
  made.trim();
  of_.first = made.of_.first;
  of_.count = made.of_.count;
  std::copy_n(made.of_.bytes.begin(), of_.count, of_.bytes.begin());
}

double exact_sum::value() const {
  const unsigned both = is_infinite | is_negative_infinite;
  if ((of_.specials & is_nan) != 0 || (of_.specials & both) == both) return std::numeric_limits<double>::quiet_NaN();
  if (of_.specials != 0)
    return (of_.specials & is_infinite) != 0 ? std::numeric_limits<double>::infinity()
                                             : -std::numeric_limits<double>::infinity();
  if (of_.count == 0) return 0;
  const bool is_negative = extension() != 0;
  std::array<std::uint8_t, max_bytes> bytes = of_.bytes;
  if (is_negative) {
    unsigned carry = 1;
    for (std::size_t at = 0; at != of_.count; ++at) {
      carry += static_cast<std::uint8_t>(~bytes[at]);
      bytes[at] = static_cast<std::uint8_t>(carry);
      carry >>= 8U;
    }
  }
  std::size_t top = of_.count;
  while (top != 0 && bytes[top - 1] == 0) --top;
  if (top == 0) return 0;
  // The number consists of the highest eight bytes and the bits of the next byte. The last bit is set if lower bits
  // exist, so that rounding to a double is correct.
  std::uint64_t number = 0;
  std::size_t at = top;
  for (unsigned taken = 0; taken != 8; ++taken) number = number << 8U | (at != 0 ? bytes[--at] : 0);
  const auto spare = static_cast<unsigned>(__builtin_clzll(number));
  const std::uint8_t next = at != 0 ? bytes[--at] : 0;
  std::uint8_t rest = static_cast<std::uint8_t>(static_cast<unsigned>(next) << spare);
  number = number << spare | static_cast<unsigned>(next) >> (8 - spare);
  while (at != 0) rest |= bytes[--at];
  if (rest != 0) number |= 1;
  const int place = 8 * (static_cast<int>(of_.first + top) - 8) - static_cast<int>(spare);
  const double size = std::ldexp(static_cast<double>(number), place - lowest_exponent);
  return is_negative ? -size : size;
}

bool exact_sum::set(const parts& state) {
  if (state.specials > 7 || state.count > max_bytes || state.first > max_bytes || state.first + state.count > max_bytes)
    return false;
  of_.specials = state.specials;
  of_.first = state.first;
  of_.count = state.count;
  std::copy_n(state.bytes.begin(), of_.count, of_.bytes.begin());
  trim();
  return true;
}

// Gives each number a single form.
void exact_sum::trim() {
  while (of_.count > 1) {
    const std::uint8_t last = of_.bytes[of_.count - 1], before = of_.bytes[of_.count - 2];
    if (!((last == 0 && (before & 0x80U) == 0) || (last == 0xff && (before & 0x80U) != 0))) break;
    --of_.count;
  }
  std::size_t low = 0;
  while (low != of_.count && of_.bytes[low] == 0) ++low;
  if (low == of_.count) {
    of_.first = of_.count = 0;
  } else if (low != 0) {
    std::copy(of_.bytes.begin() + static_cast<std::ptrdiff_t>(low),
              of_.bytes.begin() + static_cast<std::ptrdiff_t>(of_.count), of_.bytes.begin());
    of_.first += low;
    of_.count -= low;
  }
}

}  // namespace adaptyst::lib
