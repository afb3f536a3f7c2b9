// How parts of profiles are merged that are no sums: texts, numbers that may be unknown, machines.
#ifndef ADAPTYST_LIB_MODEL_MERGING_HPP
#define ADAPTYST_LIB_MODEL_MERGING_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

// The number of keys kept in a map of texts, the first by the alphabet.
constexpr std::size_t max_joined_keys = 256;

// A set of words, " | " between them, in order: the order of merging leaves no trace. If there are more than 16, the first, and
// "…": each of many ranks may have another text.
std::string joined(const std::string& a, const std::string& b);

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

// Each host once, up to profile::max_machines: those that come first by the alphabet. Of two descriptions, as of a job
// that may use a part of the machine only, that which says more. `all` has been made so; the order of adding leaves no trace.
void add_machines(std::vector<machine>& all, const std::vector<machine>& more);

}  // namespace adaptyst::lib

#endif
