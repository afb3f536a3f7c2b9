// ADAPTYST_FIELDS of payload.hpp: an explicit list of members, for compilers that cannot provide their names.
//
// The macro may be written after a type or inside it: it makes an inline function, which is found by its argument or as
// a member. The function returns a type that has the names and passes the members on.
#ifndef ADAPTYST_DETAIL_FIELDS_HPP
#define ADAPTYST_DETAIL_FIELDS_HPP

#include "text.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

inline constexpr size_t max_fields = 16;

// Number of entries of a preprocessor list such as "a, b, c": commas plus one.
constexpr size_t spelled_fields(const char* list) noexcept {
  size_t fields = 1;
  for (; *list != '\0'; ++list) fields += *list == ',' ? 1 : 0;
  return fields;
}

// Name of entry `wanted` in such a list.
constexpr text spelled_field(const char* list, size_t wanted) noexcept {
  for (; wanted != 0; ++list) wanted -= *list == ',' ? 1 : 0;
  while (*list == ' ') ++list;
  size_t bytes = 0;
  while (list[bytes] != '\0' && list[bytes] != ',' && list[bytes] != ' ') ++bytes;
  return {list, bytes};
}

template <class Type, class Names, class Pass>
struct field_list {
  using type = Type;
  static constexpr const char* names() noexcept { return Names::spelled(); }

  // pass(object, visit) calls visit(0, members of the object…); the 0 simplifies the macro's commas
  Pass pass;
};
template <class Type, class Names, class Pass>
constexpr field_list<Type, Names, Pass> list_fields(const Pass& pass) noexcept {
  return {pass};
}

// The list after or inside a payload's type. Neither function is constexpr, because a member function needs an object.
template <class Payload>
auto get_fields(const Payload& payload) noexcept -> decltype(adaptyst_fields(&payload)) {
  return adaptyst_fields(&payload);
}
template <class Payload>
auto get_fields(const Payload& payload) noexcept -> decltype(const_cast<Payload&>(payload).adaptyst_fields(&payload)) {
  return const_cast<Payload&>(payload).adaptyst_fields(&payload);
}

template <class Type, class Member>
constexpr auto has_field(const Member& member, int) noexcept -> decltype(member(*static_cast<const Type*>(nullptr))) {
  return true;
}
template <class Type, class Member>
constexpr bool has_field(const Member&, long) noexcept {
  return false;
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_DETAIL_FIELDS(of, ...)                                                                            \
  inline auto adaptyst_fields [[maybe_unused]] (const of*) noexcept {                                              \
    static_assert(::adaptyst::detail::spelled_fields(#__VA_ARGS__) <= ::adaptyst::detail::max_fields,              \
                  "adaptyst: ADAPTYST_FIELDS(" #of ", ...) takes at most 16 members");                             \
    ADAPTYST_DETAIL_EACH_FIELD(ADAPTYST_DETAIL_CHECK_FIELD, of, __VA_ARGS__)                                       \
    struct adaptyst_names {                                                                                        \
      static constexpr const char* spelled() noexcept { return #__VA_ARGS__; }                                     \
    };                                                                                                             \
    return ::adaptyst::detail::list_fields<of, adaptyst_names>([](const auto& adaptyst_of, auto&& adaptyst_pass) { \
      return adaptyst_pass(0 ADAPTYST_DETAIL_EACH_FIELD(ADAPTYST_DETAIL_PASS_FIELD, of, __VA_ARGS__));             \
    });                                                                                                            \
  }                                                                                                                \
  static_assert(true, "")

#define ADAPTYST_DETAIL_CHECK_FIELD(of, field)                                                                      \
  static_assert(                                                                                                    \
      ::adaptyst::detail::has_field<of>(                                                                            \
          [](const auto& adaptyst_of) -> decltype(static_cast<void>(adaptyst_of.field), true) { return true; }, 0), \
      "adaptyst: ADAPTYST_FIELDS(" #of ", ...) lists " #field ", which is no member");
#define ADAPTYST_DETAIL_PASS_FIELD(of, field) , adaptyst_of.field
#define ADAPTYST_DETAIL_SKIP_FIELD(of, field)

// what(of, field) for each of up to 16 fields: the remaining arguments are empty and expand to nothing.
#define ADAPTYST_DETAIL_EACH_FIELD(what, of, ...) \
  ADAPTYST_DETAIL_16_FIELDS(what, of, __VA_ARGS__, , , , , , , , , , , , , , , , )
#define ADAPTYST_DETAIL_16_FIELDS(what, of, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...) \
  ADAPTYST_DETAIL_4_FIELDS(what, of, a, b, c, d)                                                 \
  ADAPTYST_DETAIL_4_FIELDS(what, of, e, f, g, h)                                                 \
  ADAPTYST_DETAIL_4_FIELDS(what, of, i, j, k, l) ADAPTYST_DETAIL_4_FIELDS(what, of, m, n, o, p)
#define ADAPTYST_DETAIL_4_FIELDS(what, of, a, b, c, d) \
  ADAPTYST_DETAIL_1_FIELD(what, of, a)                 \
  ADAPTYST_DETAIL_1_FIELD(what, of, b) ADAPTYST_DETAIL_1_FIELD(what, of, c) ADAPTYST_DETAIL_1_FIELD(what, of, d)
// An empty field gives ADAPTYST_DETAIL_NO_FIELD_; its comma makes SKIP_FIELD the third argument. Otherwise the third is
// `what`.
#define ADAPTYST_DETAIL_1_FIELD(what, of, field) \
  ADAPTYST_DETAIL_THIRD(ADAPTYST_DETAIL_NO_FIELD_##field, ADAPTYST_DETAIL_SKIP_FIELD, what, ~)(of, field)
#define ADAPTYST_DETAIL_NO_FIELD_ ~, ~
#define ADAPTYST_DETAIL_THIRD(...) ADAPTYST_DETAIL_THIRD_OF(__VA_ARGS__)
#define ADAPTYST_DETAIL_THIRD_OF(first, second, third, ...) third

#endif
