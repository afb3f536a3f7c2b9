// A sum of doubles without rounding: the result is the same for any order and grouping.
//
// A double is an integer times 2^-1074, so a sum of doubles is a long integer. Only the bytes between its lowest and
// highest significant byte are kept, in two's complement: about ten for sums of similar numbers.
#ifndef ADAPTYST_LIB_MERGE_EXACT_SUM_HPP
#define ADAPTYST_LIB_MERGE_EXACT_SUM_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace adaptyst::lib {

class exact_sum {
 public:
  // Enough for 2^64 of the greatest doubles.
  static constexpr std::size_t max_bytes = 272;

  exact_sum() = default;
  explicit exact_sum(double value);

  void add(const exact_sum& more);
  friend exact_sum operator+(exact_sum a, const exact_sum& b) {
    a.add(b);
    return a;
  }
  // Rounded once, to the nearest; NaN if a NaN or infinities of both signs were added.
  double value() const;

  // The form in messages.
  struct parts {
    unsigned specials = 0;  // bits: NaN, infinity, negative infinity
    std::size_t first = 0;  // position of the lowest byte
    std::size_t count = 0;
    std::array<std::uint8_t, max_bytes> bytes;
  };
  const parts& state() const noexcept { return of_; }
  // False: invalid parts.
  bool set(const parts& state);

 private:
  std::uint8_t extension() const noexcept {
    return of_.count != 0 && (of_.bytes[of_.count - 1] & 0x80U) != 0 ? 0xff : 0;
  }
  std::uint8_t byte(std::size_t place) const noexcept;
  void trim();

  parts of_;
};

}  // namespace adaptyst::lib

#endif
