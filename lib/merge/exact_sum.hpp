// A sum of doubles without rounding: what comes out is the same for any order and grouping.
//
// A double is an integer times 2^-1074, so a sum of them is a long integer. Of that, the bytes between the lowest and
// the highest that matter are kept, in two's complement: for sums of like numbers some ten.
#ifndef ADAPTYST_LIB_MERGE_EXACT_SUM_HPP
#define ADAPTYST_LIB_MERGE_EXACT_SUM_HPP

#include <array>
#include <cstddef>
#include <cstdint>

namespace adaptyst::lib {

class exact_sum {
 public:
  // Room for 2^64 of the greatest doubles.
  static constexpr std::size_t max_bytes = 272;

  exact_sum() = default;
  explicit exact_sum(double value);

  void add(const exact_sum& more);
  friend exact_sum operator+(exact_sum a, const exact_sum& b) {
    a.add(b);
    return a;
  }
  // Rounded once, to the nearest; NaN where one was added, or infinities of both signs.
  double value() const;

  // As messages have it.
  struct parts {
    unsigned specials = 0;  // bits: a NaN, an infinity, a negative one
    std::size_t first = 0;  // the place of the lowest byte
    std::size_t count = 0;
    std::array<std::uint8_t, max_bytes> bytes;
  };
  const parts& state() const noexcept { return of_; }
  // False: no sum has it.
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
