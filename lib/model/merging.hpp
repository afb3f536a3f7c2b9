// Merges parts of profiles that are not sums: texts, numbers that may be unknown, machines.
#ifndef ADAPTYST_LIB_MODEL_MERGING_HPP
#define ADAPTYST_LIB_MODEL_MERGING_HPP

#include <adaptyst/profile.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace adaptyst::lib {

// The number of keys kept in a map of texts: the first in alphabetical order.
constexpr std::size_t max_joined_keys = 256;

// A sorted set of words, separated by " | ", independent of the order of merging. Keeps the first 16 and adds "…": each
// of many ranks may have a different text.
std::string joined(const std::string& a, const std::string& b);

// Whether the sides of a merge have no events: all summed integers of their structs, up to this number in the list of
// fields, are 0. Such a side changes no sum.
struct empty_sides {
  bool a = true, b = true;
};

// A sum with an unknown part is unknown.
template <class Number>
std::optional<Number> add_if_known(const std::optional<Number>& a, const std::optional<Number>& b,
                                   const empty_sides& empty) {
  if (!a && empty.a) return b;
  if (!b && empty.b) return a;
  return a && b ? std::optional(static_cast<Number>(*a + *b)) : std::nullopt;
}

// Each host once, up to profile::max_machines, in alphabetical order. The description with more information is kept,
// for example if a job may use only a part of the machine. `all` must be a result of this function; the order of adding
// does not matter.
void add_machines(std::vector<machine>& all, const std::vector<machine>& more);

}  // namespace adaptyst::lib

#endif
