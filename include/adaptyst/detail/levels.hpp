// Selection of markers by level, which comes from the marker (level.hpp), or from user rules on its name or function. A
// marker deeper than requested gets a step that skips all its events: see intern_site().
#ifndef ADAPTYST_DETAIL_LEVELS_HPP
#define ADAPTYST_DETAIL_LEVELS_HPP

#include "../probe_abi.h"
#include "config.hpp"
#include "text.hpp"

// From the outermost inwards.
enum adaptyst_level {
  ADAPTYST_LEVEL_APPLICATION = 1,
  ADAPTYST_LEVEL_MODEL = 2,
  ADAPTYST_LEVEL_LAYER = 3,
  ADAPTYST_LEVEL_LIBRARY = 4,
  ADAPTYST_LEVEL_DEVICE = 5,
  ADAPTYST_LEVEL_HARDWARE = 6,
  ADAPTYST_LEVEL_OWN = 7,  // in rules: from here on, the marker's own level takes precedence
};

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr size_t level_rules_bytes = 3072;

struct level_settings {
  uint64_t deepest;  // enum adaptyst_level; 0: all markers are recorded
  // Rules, each a level byte and a NUL-terminated name pattern; level 0 ends the list. The first match applies. A
  // pattern after '@' is for functions, by which adapters identify their events.
  char rules[level_rules_bytes];
};

// Data that decide the level of a marker. `level`: the marker's own, or 0.
struct levelled_marker {
  text name, function;
  uint32_t kind, level;
};

// '*' matches any letters, '?' one.
template <class = void>
inline bool fits_pattern(text pattern, text name) noexcept {
  size_t in_pattern = 0, in_name = 0, behind_star = 0, tried = 0;
  while (in_name != name.bytes) {
    if (in_pattern != pattern.bytes && pattern.data[in_pattern] == '*') {
      behind_star = ++in_pattern;
      tried = in_name;
    } else if (in_pattern != pattern.bytes &&
               (pattern.data[in_pattern] == '?' || pattern.data[in_pattern] == name.data[in_name])) {
      ++in_pattern;
      ++in_name;
    } else if (behind_star != 0) {
      in_pattern = behind_star;
      in_name = ++tried;
    } else {
      return false;
    }
  }
  while (in_pattern != pattern.bytes && pattern.data[in_pattern] == '*') ++in_pattern;
  return in_pattern == pattern.bytes;
}

// The default by kind, without a rule or own level.
ADAPTYST_DETAIL_INLINE uint32_t level_of_kind(uint32_t kind) noexcept {
  if (kind >= ADAPTYST_SITE_KERNEL) return ADAPTYST_LEVEL_DEVICE;
  return kind == ADAPTYST_SITE_FUNCTION ? ADAPTYST_LEVEL_LIBRARY : ADAPTYST_LEVEL_APPLICATION;
}

// Never reads beyond the rules, whatever they contain.
template <class = void>
inline uint32_t find_level(const level_settings& in, const levelled_marker& of) noexcept {
  for (size_t at = 0; at + 1 < level_rules_bytes && in.rules[at] != 0;) {
    const auto level = static_cast<unsigned char>(in.rules[at++]);
    if (level == ADAPTYST_LEVEL_OWN && of.level != 0) return of.level;
    const size_t begin = at;
    while (at != level_rules_bytes && in.rules[at] != 0) ++at;
    const bool by_function = begin != at && in.rules[begin] == '@';
    const size_t first = by_function ? begin + 1 : begin;
    if (level != ADAPTYST_LEVEL_OWN &&
        fits_pattern({in.rules + first, at - first}, by_function ? of.function : of.name))
      return level;
    if (at != level_rules_bytes) ++at;
  }
  return of.level != 0 ? of.level : level_of_kind(of.kind);
}

template <class = void>
inline bool is_too_deep(const level_settings& in, const levelled_marker& of) noexcept {
  return in.deepest != 0 && find_level(in, of) > in.deepest;
}

}}}  // namespace adaptyst::v1::detail

#endif
