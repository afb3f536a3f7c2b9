// The elements of field lists. A list describes a result once; JSON in both directions, the schemas in docs/, and the
// merge of profiles follow from it.
#ifndef ADAPTYST_LIB_MODEL_LISTED_HPP
#define ADAPTYST_LIB_MODEL_LISTED_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>

namespace adaptyst::lib::listed {

// The method for merging two values.
enum merging {
  same,             // equal in both: part of the identity
  sum,              // sum of values; absent values count as 0; structs are merged member by member
  sum_if_complete,  // for an optional number: absent if a side with events does not have it
  least,            // the smaller value, among sides with events
  greatest,         // the greater value, among sides with events
  part,             // the number of events with it; if absent, all events
  worst,            // the value with the largest error
  joined,           // texts; different texts are joined by " | "
  whole,            // by merge() of its struct
  separate,         // in profile.cpp
};

// The files that contain a field.
enum presence {
  always,
  sometimes,  // if it has a value
};

// The written form, if the type permits several.
enum form {
  plain,
  id,          // 64 bits as text: many readers store numbers as double, which cannot hold them
  id_or_none,  // the same; 0: null
  not_zero,    // 0 means unknown: null
  timed,       // null if no durations were recorded
  root,        // written as its square root, next to "sampled"
  fraction,    // at most 1
  rows,        // a list with one line for each element
  unshown,     // not in an HTML report
};

// The types that sum_if_complete adds.
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
  const char* description;
};

template <class Owner, class Value>
constexpr member<Owner, Value> field(const char* name, Value Owner::*at, merging how, presence in,
                                     const char* description, form as = plain) {
  return {name, at, how, in, as, description};
}

// A member of a result that is not merged.
template <class Owner, class Value>
constexpr member<Owner, Value> value(const char* name, Value Owner::*at, presence in, const char* description,
                                     form as = plain) {
  return {name, at, same, in, as, description};
}

// A value that is computed from the struct, or from the struct and the whole result. It is written, but not read,
// because it is computed again.
template <class Get>
struct derived {
  Get get;
  const char* name;
  presence in;
  form as;
  const char* description;
};

template <class Get>
constexpr derived<Get> follows(const char* name, Get get, presence in, const char* description, form as = plain) {
  return {get, name, in, as, description};
}

// An object without a struct.
template <class... Fields>
struct object_of {
  const char* name;
  presence in;
  const char* description;
  std::tuple<Fields...> fields;
};

template <class... Fields>
constexpr object_of<Fields...> object(const char* name, presence in, const char* description, Fields... fields) {
  return {name, in, description, {fields...}};
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

// A value of a file that is not a member; lib/report writes and reads it.
template <class Value>
struct extra {
  const char* name;
  presence in;
  const char* description;
};

template <class... Fields>
struct described {
  const char* name;
  const char* description;
  std::tuple<Fields...> fields;
};

template <class... Fields>
constexpr described<Fields...> list(const char* name, const char* description, Fields... fields) {
  return {name, description, {fields...}};
}

// Selects the list of a struct: fields(type<region>{}).
template <class Struct>
struct type {};

template <class Struct, class = void>
inline constexpr bool is_listed = false;
template <class Struct>
inline constexpr bool is_listed<Struct, std::void_t<decltype(fields(type<Struct>{}))>> = true;

// Calls `visit` with each field in order, including derived fields and fields that are not members.
template <class Struct, class Visit>
constexpr void for_each(Visit&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, fields(type<Struct>{}).fields);
}

}  // namespace adaptyst::lib::listed

#endif
