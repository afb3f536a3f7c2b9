// How a merge adds optional numbers.
#ifndef ADAPTYST_LIB_MODEL_KNOWN_SUM_HPP
#define ADAPTYST_LIB_MODEL_KNOWN_SUM_HPP

#include <optional>

namespace adaptyst::lib {

// Whether the two sides of a merge have counted nothing: all integers of their structs that are sums are 0, as far as
// the list of fields precedes the number. Such a side changes no sum.
struct empty_sides {
  bool a = true, b = true;
};

// A sum with an unknown part is unknown.
template <class Number>
std::optional<Number> add_known(const std::optional<Number>& a, const std::optional<Number>& b,
                                const empty_sides& empty) {
  if (!a && empty.a) return b;
  if (!b && empty.b) return a;
  return a && b ? std::optional(static_cast<Number>(*a + *b)) : std::nullopt;
}

}  // namespace adaptyst::lib

#endif
