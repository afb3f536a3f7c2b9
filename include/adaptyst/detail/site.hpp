// A marker in the source: its static data, and the test whether a tool is attached.
#ifndef ADAPTYST_DETAIL_SITE_HPP
#define ADAPTYST_DETAIL_SITE_HPP

#include "object.hpp"
#include "text.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// A marker in the source. Constant-initialised. `record` is set when it is first enabled, and refers to a copy that
// outlives the ELF object. Hidden, because objects in inline functions and templates would otherwise be unique symbols
// (STB_GNU_UNIQUE), which prevent unloading.
struct ADAPTYST_DETAIL_HIDDEN site {
  const char* name;  // null: not a literal; each event brings a name
  size_t name_bytes;
  const char* file;
  const char* function;
  uint32_t line;
  uint32_t kind;
  const adaptyst_site* record;
};

// The numeric members of a payload, its texts as one label, and the marker's level.
struct payload_values {
  const char* const* names;
  uint32_t count;
  text label;
  double numbers[ADAPTYST_ATTRIBUTES];
  uint32_t level = 0;  // enum adaptyst_level; 0: none
};

// Specialised by <adaptyst/payload.hpp>.
template <class Payload, bool = true>
struct payload_reader {
  static_assert(sizeof(Payload) == 0, "adaptyst: a marker with a payload needs #include <adaptyst/payload.hpp>");
};

// True while a tool is attached: all four semaphores of the control block in one comparison. The read must stay inside
// a loop, so that a running loop detects a new collector. With two versions of a loop, the recording version would be
// cold code.
ADAPTYST_DETAIL_INLINE bool is_enabled() noexcept {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
  bool is_enabled;
  __asm__ volatile("cmpq $0, %1" : "=@ccne"(is_enabled) : "m"(adaptyst_object_v5));
#else
  using all_four __attribute__((may_alias)) = const volatile uint64_t;
  const bool is_enabled = *reinterpret_cast<all_four*>(&adaptyst_object_v5) != 0;
#endif
  return ADAPTYST_DETAIL_UNLIKELY(is_enabled);
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

// `Literal`: the name is in the site. Otherwise each event brings it.
template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE text get_name(const site& marker, const Name& name) noexcept {
  if constexpr (Literal) return {marker.name, marker.name_bytes};
  return to_event_text(name);
}

}}}  // namespace adaptyst::v1::detail

// Unlikely, but not so unlikely that Clang ignores the probabilities of later branches. It is a macro, because Clang
// uses this hint only in the function that contains the branch.
#define ADAPTYST_DETAIL_ENABLED() (__builtin_expect_with_probability(::adaptyst::detail::is_enabled(), 0, 0.999) != 0)
#define ADAPTYST_DETAIL_FIRST(first, ...) first
#define ADAPTYST_DETAIL_PASTE_(a, b) a##b
#define ADAPTYST_DETAIL_PASTE(a, b) ADAPTYST_DETAIL_PASTE_(a, b)
#define ADAPTYST_DETAIL_SPELL_(...) #__VA_ARGS__
#define ADAPTYST_DETAIL_SPELL(...) ADAPTYST_DETAIL_SPELL_(__VA_ARGS__)

#define ADAPTYST_DETAIL_IS_LITERAL(name)                                  \
  (::adaptyst::detail::spelled_as_literal(ADAPTYST_DETAIL_SPELL(name)) && \
   ::adaptyst::detail::is_char_array<decltype((name))>)

// Defines a static site. Only a literal name enters it: the other branch is never evaluated, so that the initialiser is
// constant for any name.
#define ADAPTYST_DETAIL_SITE(variable, kind, function, name)                                                \
  static ::adaptyst::detail::site variable {                                                                \
    ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::literal_address(name) : nullptr,                 \
        ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::to_text(name).bytes : 0, __FILE__, function, \
        static_cast<uint32_t>(__LINE__), kind, nullptr                                                      \
  }

#endif
