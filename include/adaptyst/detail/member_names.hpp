// Names of a payload's members. Sources: ADAPTYST_FIELDS; in C++20 Boost.PFR from 2.2 on; with an older Boost.PFR the
// compiler, which in C++20 prints a member in __PRETTY_FUNCTION__ if its address is a template argument. In C++17, only
// `bytes` and `flops` are detected, because reports use them.
#ifndef ADAPTYST_DETAIL_MEMBER_NAMES_HPP
#define ADAPTYST_DETAIL_MEMBER_NAMES_HPP

#include <type_traits>
#include <utility>

#include "fields.hpp"
#include "pfr.hpp"

#if (defined(__cpp_nontype_template_args) && __cpp_nontype_template_args >= 201911L) || \
    (defined(__clang__) && __clang_major__ >= 18 && __cplusplus >= 202002L)
#define ADAPTYST_DETAIL_COMPILER_NAMES 1
#else
#define ADAPTYST_DETAIL_COMPILER_NAMES 0
#endif

#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"
#pragma clang diagnostic ignored "-Wundefined-internal"
#endif

namespace adaptyst { inline namespace v1 { namespace detail {

// ADAPTYST_FIELDS of a base class does not apply to derived classes.
template <class Payload, class = void>
constexpr bool has_fields = false;
template <class Payload>
constexpr bool has_fields<Payload, std::void_t<decltype(get_fields(std::declval<const Payload&>()))>> =
    std::is_same_v<typename decltype(get_fields(std::declval<const Payload&>()))::type, Payload>;

template <class Payload, class Visit>
void visit_members(const Payload& payload, Visit&& visit) {
  if constexpr (has_fields<Payload>)
    get_fields(payload).pass(payload, [&visit](int, const auto&... fields) { (visit(fields), ...); });
  else for_each_member(payload, visit);
}

template <class... Members>
struct member_types {
  static constexpr std::size_t count = sizeof...(Members);
  static constexpr bool is_number[count + 1]{std::is_arithmetic_v<Members>...};
};

struct field_member_types {
  template <class... Members>
  member_types<Members...> operator()(int, const Members&...) const noexcept;
};

template <class Payload, std::size_t... I>
constexpr auto list_types(std::index_sequence<I...>) noexcept {
  return member_types<std::decay_t<decltype(member<I>(std::declval<const Payload&>()))>...>{};
}
template <class Payload>
constexpr auto list_types() noexcept {
  if constexpr (has_fields<Payload>) {
    using fields = decltype(get_fields(std::declval<const Payload&>()));
    return decltype(std::declval<fields>().pass(std::declval<const Payload&>(), field_member_types{})){};
  } else {
    return list_types<Payload>(std::make_index_sequence<member_count<Payload>>{});
  }
}

template <class Aggregate>
struct specimen {
  const Aggregate value;
};
template <class Aggregate>
extern const specimen<Aggregate> a_specimen;  // never defined: only addresses within it are formed

template <class Aggregate, std::size_t I>
constexpr const auto* member_address() noexcept {
  return &member<I>(a_specimen<Aggregate>.value);
}

template <class Aggregate, class = void>
constexpr bool has_bytes = false;
template <class Aggregate>
constexpr bool has_bytes<Aggregate, std::void_t<decltype(std::declval<Aggregate&>().bytes)>> = true;
template <class Aggregate, class = void>
constexpr bool has_flops = false;
template <class Aggregate>
constexpr bool has_flops<Aggregate, std::void_t<decltype(std::declval<Aggregate&>().flops)>> = true;

template <class Aggregate, std::size_t I>
constexpr bool is_bytes() noexcept {
  if constexpr (has_bytes<Aggregate>)
    return static_cast<const void*>(&a_specimen<Aggregate>.value.bytes) ==
           static_cast<const void*>(member_address<Aggregate, I>());
  return false;
}
template <class Aggregate, std::size_t I>
constexpr bool is_flops() noexcept {
  if constexpr (has_flops<Aggregate>)
    return static_cast<const void*>(&a_specimen<Aggregate>.value.flops) ==
           static_cast<const void*>(member_address<Aggregate, I>());
  return false;
}

#if ADAPTYST_DETAIL_COMPILER_NAMES
// GCC ends in "…::name)]", clang in "….name]".
template <auto* Member>
constexpr text spelled_member() noexcept {
  const text all = to_text(__PRETTY_FUNCTION__);
  std::size_t end = all.bytes - 1;
  while (all.data[end - 1] == ')') --end;
  std::size_t begin = end;
  while (all.data[begin - 1] != ':' && all.data[begin - 1] != '.') --begin;
  return {all.data + begin, end - begin};
}
#endif

// A member's name, NUL-terminated. Hidden like a site (site.hpp), so that a library can be unloaded.
template <class Payload, std::size_t I>
struct ADAPTYST_DETAIL_HIDDEN stored_name {
  char bytes[64]{};

  constexpr stored_name() noexcept {
    if constexpr (has_fields<Payload>)
      put(spelled_field(decltype(get_fields(std::declval<const Payload&>()))::names(), I));
    else put_name<Payload>();
  }

 private:
  template <class Aggregate>
  constexpr void put_name() noexcept {
#if defined(BOOST_PFR_CORE_NAME_HPP) && defined(BOOST_PFR_CORE_NAME_ENABLED) && BOOST_PFR_CORE_NAME_ENABLED
    constexpr auto name = boost::pfr::get_name<I, Aggregate>();
    put({name.data(), name.size()});
#elif ADAPTYST_DETAIL_COMPILER_NAMES
    put(spelled_member<member_address<Aggregate, I>()>());
#else
    constexpr bool is_standard = is_bytes<Aggregate, I>() || is_flops<Aggregate, I>();
    put(is_bytes<Aggregate, I>() ? to_text("bytes") : is_standard ? to_text("flops") : to_text("member_"));
    if (is_standard) return;
    bytes[7] = static_cast<char>(I + 1 < 10 ? '1' + I : '0' + (I + 1) / 10);
    if (I + 1 >= 10) bytes[8] = static_cast<char>('0' + (I + 1) % 10);
#endif
  }

  constexpr void put(text name) noexcept {
    for (std::size_t at = 0; at != name.bytes && at + 1 < sizeof bytes; ++at) bytes[at] = name.data[at];
  }
};

template <class Payload, std::size_t I>
inline constexpr stored_name<Payload, I> member_name{};

// Names of all members, and of the arithmetic members.
template <class Payload>
struct ADAPTYST_DETAIL_HIDDEN member_name_list {
  using types = decltype(list_types<Payload>());
  const char* of_members[types::count + 1]{};
  const char* of_numbers[types::count + 1]{};
  std::size_t numbers = 0;

  constexpr member_name_list() noexcept { fill(std::make_index_sequence<types::count>{}); }

 private:
  template <std::size_t... I>
  constexpr void fill(std::index_sequence<I...>) noexcept {
    ((of_members[I] = member_name<Payload, I>.bytes,
      types::is_number[I] ? static_cast<void>(of_numbers[numbers++] = of_members[I]) : static_cast<void>(0)),
     ...);
  }
};

template <class Payload>
inline constexpr member_name_list<Payload> member_names{};

}}}  // namespace adaptyst::v1::detail

#ifdef __clang__
#pragma clang diagnostic pop
#endif
#undef ADAPTYST_DETAIL_COMPILER_NAMES

#endif
