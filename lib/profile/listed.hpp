// The parts of a list of a struct's members.
#ifndef ADAPTYST_LIB_PROFILE_LISTED_HPP
#define ADAPTYST_LIB_PROFILE_LISTED_HPP

#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>

namespace adaptyst::lib::listed {

// How two values are merged.
enum merging {
  same,       // equal in both: part of the identity of what is merged
  sum,        // sums of values, absent ones are none; structs are merged member by member
  known_sum,  // of an optional number: absent where one side has counted something and does not know this number
  least,      // the smaller one, of those that have counted anything
  greatest,   // likewise
  part,       // how many of the counted; if absent, all of them
  worst,      // the one that was farthest off
  joined,     // texts; different ones by " | "
  apart,      // in profile.cpp
};

// Which files have it.
enum presence {
  always,
  later,      // the first ones did not
  sometimes,  // if there is a value
};

// How it is written, if its type leaves that open.
enum form {
  plain,
  id,          // 64 bits as text: many readers keep numbers as double, which they do not fit
  id_or_none,  // likewise; 0: null
  not_zero,    // 0 means unknown: null
  timed,       // null where no durations were counted
  root,        // its square root, next to "sampled"
  fraction,    // at most 1
};

// The types that known_sum adds.
template <class Value>
inline constexpr bool is_number =
    std::is_same_v<Value, std::optional<double>> || std::is_same_v<Value, std::optional<std::uint64_t>>;

template <class Owner, class Value>
struct member {
  const char* name;
  Value Owner::*at;
  merging how;
  presence in;
  form as;
  const char* says;
};

template <class Owner, class Value>
constexpr member<Owner, Value> field(const char* name, Value Owner::*at, merging how, presence in, const char* says,
                                     form as = plain) {
  return {name, at, how, in, as, says};
}

// A value that is computed from the members: written, but not read: it is computed again.
template <class Get>
struct derived {
  Get get;
  const char* name;
  presence in;
  form as;
  const char* says;
};

template <class Get>
constexpr derived<Get> follows(const char* name, Get get, presence in, const char* says, form as = plain) {
  return {get, name, in, as, says};
}

// A value that a file has in addition to the members, which lib/report writes and reads.
template <class Value>
struct extra {
  const char* name;
  presence in;
  const char* says;
};

template <class... Fields>
struct described {
  const char* name;
  const char* says;
  std::tuple<Fields...> fields;
};

template <class... Fields>
constexpr described<Fields...> list(const char* name, const char* says, Fields... fields) {
  return {name, says, {fields...}};
}

// Selects the list of a struct: fields(type<region>{}).
template <class Struct>
struct type {};

}  // namespace adaptyst::lib::listed

#endif
