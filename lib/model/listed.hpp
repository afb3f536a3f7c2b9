// The parts of a list of a struct's members. A result is described once, by such a list: JSON both ways, the schemas in
// docs/, and, of a profile, merging follow from it.
#ifndef ADAPTYST_LIB_MODEL_LISTED_HPP
#define ADAPTYST_LIB_MODEL_LISTED_HPP

#include <cstdint>
#include <functional>
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
  whole,      // by merge() of the struct that has it
  apart,      // in profile.cpp
};

// Which files have it.
enum presence {
  always,
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
  rows,        // of a list: one line each
  unshown,     // not on a page
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

// A member of a result that is not merged.
template <class Owner, class Value>
constexpr member<Owner, Value> value(const char* name, Value Owner::*at, presence in, const char* says,
                                     form as = plain) {
  return {name, at, same, in, as, says};
}

// A value that is computed from the struct, or from it and the whole result: written, but not read: it is computed again.
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

// An object that has no struct of its own.
template <class... Fields>
struct object_of {
  const char* name;
  presence in;
  const char* says;
  std::tuple<Fields...> fields;
};

template <class... Fields>
constexpr object_of<Fields...> object(const char* name, presence in, const char* says, Fields... fields) {
  return {name, in, says, {fields...}};
}

// The fields of a struct that is computed from this one and the whole, in the same object.
template <class Get>
struct also_of {
  Get get;
};

template <class Get>
constexpr also_of<Get> also(Get get) {
  return {get};
}

// Calls `get` with the struct, or with the struct and the whole result.
template <class Get, class Struct, class Whole>
constexpr decltype(auto) get_of(const Get& get, const Struct& from, const Whole& whole) {
  if constexpr (std::is_invocable_v<const Get&, const Struct&>) return std::invoke(get, from);
  else return std::invoke(get, from, whole);
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

template <class Struct, class = void>
inline constexpr bool is_listed = false;
template <class Struct>
inline constexpr bool is_listed<Struct, std::void_t<decltype(fields(type<Struct>{}))>> = true;

// Calls `visit` with each field in their order, also the derived ones and those that are not members.
template <class Struct, class Visit>
constexpr void for_each(Visit&& visit) {
  std::apply([&](const auto&... one) { (visit(one), ...); }, fields(type<Struct>{}).fields);
}

}  // namespace adaptyst::lib::listed

#endif
