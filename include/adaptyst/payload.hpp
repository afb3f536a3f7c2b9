// Markers with numbers: the members of any aggregate, by reflection.
//
//   struct sweep { std::uint64_t bytes; double flops; int cells; const char* scheme; };
//   ADAPTYST_REGION("sweep", sweep{8 * n, 6.0 * n, n, "upwind"});
//
// Numbers (arithmetic members) are summed per call path, with minimum and maximum. `bytes` and `flops` are also
// reported as rates. Texts (const char*, std::string_view) and enumerations form a label. Each label has its own row:
// use few labels. At most 8 numbers, kept as doubles: integers are exact up to 2^53. A label keeps 127 bytes.
//
// Member names come from Boost.PFR (2.2 or later, C++20), else from the compiler (GCC, and clang from 18 on, in C++20).
// In C++17, only `bytes` and `flops` are recognised; others are member_1, member_2, … A list gives names with any
// compiler, and takes precedence:
//
//   ADAPTYST_FIELDS(sweep, bytes, flops, cells, scheme);
//
// Write it inside the type (also for private members), or after it in the same namespace, before the first marker with
// the payload. At most 16 members; unlisted members are ignored and may have any type. With a list, the type need not
// be an aggregate.
//
// The payload expression is evaluated only while the marker is enabled. Events that an overhead budget skips evaluate
// it only if it has texts. This header costs 0.3 s of compile time (Boost.PFR).
#ifndef ADAPTYST_PAYLOAD_HPP
#define ADAPTYST_PAYLOAD_HPP

#include "detail/fields.hpp"
#include "region.hpp"

#define ADAPTYST_FIELDS(type, ...) ADAPTYST_DETAIL_FIELDS(type, __VA_ARGS__)

#ifndef ADAPTYST_DISABLE

#include <type_traits>

#include "detail/member_names.hpp"
#include "detail/pfr.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class T, class = void>
constexpr bool is_text_view = false;
template <class T>
constexpr bool
    is_text_view<T, std::void_t<decltype(text{std::declval<const T&>().data(), std::declval<const T&>().size()})>> =
        true;

template <class T>
constexpr bool is_text = std::is_same_v<T, const char*> || std::is_same_v<T, char*> || is_text_view<T>;

template <class T>
constexpr bool is_member = std::is_arithmetic_v<T> || std::is_enum_v<T> || is_text<T>;

// Text of bounded length, without <string>.
struct label_buffer {
  char bytes[ADAPTYST_TEXT_BYTES];
  std::size_t used = 0;

  void add(text what) noexcept {
    for (std::size_t at = 0; at != what.bytes && used + 1 < sizeof bytes; ++at) bytes[used++] = what.data[at];
  }
  void add(long long number) noexcept {
    char digits[24];
    std::size_t at = sizeof digits;
    const bool negative = number < 0;
    unsigned long long left =
        negative ? 0ULL - static_cast<unsigned long long>(number) : static_cast<unsigned long long>(number);
    do digits[--at] = static_cast<char>('0' + left % 10);
    while ((left /= 10) != 0);
    if (negative) digits[--at] = '-';
    add({digits + at, sizeof digits - at});
  }
};

template <class Payload>
struct payload_reader<Payload, true> {
  static_assert(has_fields<Payload> || std::is_aggregate_v<Payload>,
                "adaptyst: a payload is an aggregate: a struct without constructors, bases or private members; others "
                "list their members with ADAPTYST_FIELDS");

  explicit payload_reader(const Payload& payload) noexcept {
    static_assert(member_names<Payload>.numbers <= ADAPTYST_ATTRIBUTES, "adaptyst: a payload has at most 8 numbers");
    values_.names = member_names<Payload>.of_numbers;
    std::size_t member = 0;
    visit_members(payload, [&](const auto& value) {
      using type = std::remove_cv_t<std::remove_reference_t<decltype(value)>>;
      static_assert(
          is_member<type>,
          "adaptyst: members of a payload are numbers, enumerations, const char* or std::string_view; convert "
          "others, e.g. size() of a container");
      if constexpr (std::is_arithmetic_v<type>) {
        values_.numbers[values_.count++] = static_cast<double>(value);
      } else if constexpr (is_member<type>) {
        if (label_.used != 0) label_.add(to_text(","));
        label_.add(to_text(member_names<Payload>.of_members[member]));
        label_.add(to_text("="));
        if constexpr (std::is_enum_v<type>) label_.add(static_cast<long long>(value));
        else label_.add(to_text(value));
      }
      ++member;
    });
    values_.label = {label_.bytes, label_.used};
  }

  const payload_values& read() const noexcept { return values_; }

 private:
  payload_values values_{};
  label_buffer label_;
};

}}}  // namespace adaptyst::v1::detail

#endif

#endif
