// What a list of a struct's members is made of.
#ifndef ADAPTYST_LIB_PROFILE_LISTED_HPP
#define ADAPTYST_LIB_PROFILE_LISTED_HPP

#include <tuple>

namespace adaptyst::lib::listed {

// How two become one where profiles are merged.
enum merging {
  same,      // by having it in common, they are known to be of one thing
  sum,       // of what is there; and so on with what is in it
  least,     // of those that have counted anything, if they count
  greatest,  // likewise
  part,      // of what was counted: who has none, has all
  worst,     // the one that was farthest off
  joined,    // texts; different ones by " | "
  apart,     // in profile.cpp
};

// Which files have it.
enum presence {
  always,
  later,      // the first ones did not
  sometimes,  // where there is any
};

// How it stands in a file, where its type leaves that open.
enum form {
  plain,
  id,          // 64 bits as text: many readers keep numbers as double, which they do not fit
  id_or_none,  // likewise; 0: null
  timed,       // null where no durations were counted
  root,        // its square root, beside "sampled"
  fraction,    // at most 1
};

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

// What follows from the members: written, and made again rather than read.
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

// What stands in a file beside the members, for reasons that lib/report knows.
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

// To ask for the list of a struct: fields(type<region>{}).
template <class Struct>
struct type {};

}  // namespace adaptyst::lib::listed

#endif
