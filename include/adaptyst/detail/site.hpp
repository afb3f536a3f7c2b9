// A marker in the source: what is known of it before it runs, and whether something listens.
#ifndef ADAPTYST_DETAIL_SITE_HPP
#define ADAPTYST_DETAIL_SITE_HPP

#include "object.hpp"
#include "text.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// A marker in the source. Constant-initialised; `record` is found when it is first awake, and refers to a copy that
// outlives this one, which goes with its ELF object. A hidden type, because its objects inside inline functions and
// templates would otherwise be unique symbols (STB_GNU_UNIQUE), and no library that has one is ever unloaded.
struct ADAPTYST_DETAIL_HIDDEN site {
  const char* name;  // null: the name is not a literal, and comes with each event
  size_t name_bytes;
  const char* file;
  const char* function;
  uint32_t line;
  uint32_t kind;
  const adaptyst_site* record;
};

// The numeric members of a payload, its texts as one label, and the level that a marker gives itself. None in a marker
// without payload.
struct payload_values {
  const char* const* names;
  uint32_t count;
  text label;
  double numbers[ADAPTYST_ATTRIBUTES];
  uint32_t level = 0;  // enum adaptyst_level; 0: the marker says none
};

// Replaced by <adaptyst/payload.hpp>.
template <class Payload, bool = true>
struct payload_reader {
  static_assert(sizeof(Payload) == 0, "adaptyst: a marker with a payload needs #include <adaptyst/payload.hpp>");
};

// Whether something listens: all four semaphores of the control block in one comparison. They are read each time, and
// the compiler may not move the read out of a loop. A running loop must notice a collector that starts; and if the
// compiler made two versions of a loop, the one that records would stand among the cold code.
ADAPTYST_DETAIL_INLINE bool is_awake() noexcept {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
  bool awake;
  __asm__ volatile("cmpq $0, %1" : "=@ccne"(awake) : "m"(adaptyst_object_v3));
#else
  using all_four __attribute__((may_alias)) = const volatile uint64_t;
  const bool awake = *reinterpret_cast<all_four*>(&adaptyst_object_v3) != 0;
#endif
  return ADAPTYST_DETAIL_UNLIKELY(awake);
}

// An array that is no literal is a buffer: its text ends at the first NUL.
template <size_t N>
ADAPTYST_DETAIL_INLINE text to_event_text(const char (&buffer)[N]) noexcept {
  const void* const end = __builtin_memchr(buffer, 0, N);
  return {buffer, end != nullptr ? static_cast<size_t>(static_cast<const char*>(end) - buffer) : N};
}
template <class Name>
ADAPTYST_DETAIL_INLINE text to_event_text(const Name& name) noexcept {
  return to_text(name);
}

// `Literal`: the name is in the site. Otherwise it comes with the event.
template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE text get_name(const site& marker, const Name& name) noexcept {
  if constexpr (Literal) return {marker.name, marker.name_bytes};
  return to_event_text(name);
}

}}}  // namespace adaptyst::v1::detail

// Unlikely, but not so much that Clang ignores which of the branches behind it are likely. Stated here, since Clang
// uses this hint only in the function in which the branch is written.
#define ADAPTYST_DETAIL_AWAKE() (__builtin_expect_with_probability(::adaptyst::detail::is_awake(), 0, 0.999) != 0)
#define ADAPTYST_DETAIL_FIRST(first, ...) first
#define ADAPTYST_DETAIL_PASTE_(a, b) a##b
#define ADAPTYST_DETAIL_PASTE(a, b) ADAPTYST_DETAIL_PASTE_(a, b)
#define ADAPTYST_DETAIL_SPELL_(...) #__VA_ARGS__
#define ADAPTYST_DETAIL_SPELL(...) ADAPTYST_DETAIL_SPELL_(__VA_ARGS__)

#define ADAPTYST_DETAIL_IS_LITERAL(name)                                  \
  (::adaptyst::detail::spelled_as_literal(ADAPTYST_DETAIL_SPELL(name)) && \
   ::adaptyst::detail::is_char_array<decltype((name))>)

// Defines a static site. The name enters it only if it is a literal: the other branch is never evaluated, so that the
// initialiser is constant whatever the name is made of.
#define ADAPTYST_DETAIL_SITE(variable, kind, function, name)                                                \
  static ::adaptyst::detail::site variable {                                                                \
    ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::literal_address(name) : nullptr,                 \
        ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::to_text(name).bytes : 0, __FILE__, function, \
        static_cast<uint32_t>(__LINE__), kind, nullptr                                                      \
  }

#endif
