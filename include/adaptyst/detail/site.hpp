// A marker in the source: what is known of it before it runs, and whether anybody looks.
#ifndef ADAPTYST_DETAIL_SITE_HPP
#define ADAPTYST_DETAIL_SITE_HPP

#include "interning.hpp"
#include "probes.hpp"

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

// The numeric members of a payload, and its texts as one label. None in a marker without payload.
struct payload_values {
  const char* const* names;
  uint32_t count;
  text label;
  double numbers[ADAPTYST_ATTRIBUTES];
};

// Replaced by <adaptyst/payload.hpp>.
template <class Payload, bool = true>
struct payload_reader {
  static_assert(sizeof(Payload) == 0, "adaptyst: a marker with a payload needs #include <adaptyst/payload.hpp>");
};

// Whether anybody looks: all four counters of the control block in one comparison. Asked anew each time, whatever the
// compiler knows: who comes while a loop runs must be seen by the loop, and a loop that was made twice, with and without
// what is behind this, would stand among the cold code in the case that matters.
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

template <class = void>
inline const adaptyst_site* make_record(process& in, const site& marker, text name,
                                        const payload_values* payload) noexcept {
  site_texts texts{};
  texts.name = name;
  texts.file = text_of(marker.file);
  texts.function = text_of(marker.function);
  texts.label = payload != nullptr ? payload->label : text{nullptr, 0};
  texts.attributes = payload != nullptr ? payload->names : nullptr;
  texts.attribute_count = payload != nullptr ? payload->count : 0;
  texts.line = marker.line;
  texts.kind = marker.kind;
  return intern_site(in, texts);
}

// The record of a marker: remembered where name and label cannot change from one event to the next.
template <class = void>
ADAPTYST_DETAIL_INLINE const adaptyst_site* record_of(process& in, site& marker, text name,
                                                      const payload_values* payload) noexcept {
  const bool constant = marker.name != nullptr && (payload == nullptr || payload->label.bytes == 0);
  const adaptyst_site* record = constant ? load_acquire(marker.record) : nullptr;
  if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) {
    record = make_record(in, marker, name, payload);
    if (constant) store_release(marker.record, record);
  }
  return record;
}

ADAPTYST_DETAIL_INLINE bool is_same_text(const char* kept, const char* given) noexcept {
  return kept == given || (given != nullptr && __builtin_strcmp(kept, given) == 0);
}

// Whether a record is of a marker that is made anew for each of its events; else one is made or found, at a price.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_record_of(const adaptyst_site& record, text name, uint32_t kind, const char* file,
                                         const char* function, uint32_t line) noexcept {
  return record.name_bytes == name.bytes && record.kind == kind && record.line == line &&
         __builtin_memcmp(record.name, name.data, name.bytes) == 0 && is_same_text(record.file, file) &&
         is_same_text(record.function, function);
}

// Without texts, which differ from event to event.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_record_with(const adaptyst_site& record, const payload_values* payload) noexcept {
  const uint32_t count = payload != nullptr ? payload->count : 0;
  if (record.attribute_count != count || record.label[0] != '\0' || (payload != nullptr && payload->label.bytes != 0))
    return false;
  for (uint32_t at = 0; at != count; ++at)
    if (!is_same_text(record.attributes[at], payload->names[at])) return false;
  return true;
}

// An array that is no literal is a buffer: its text ends at the first NUL.
template <size_t N>
ADAPTYST_DETAIL_INLINE text text_of_event(const char (&buffer)[N]) noexcept {
  const void* const end = __builtin_memchr(buffer, 0, N);
  return {buffer, end != nullptr ? static_cast<size_t>(static_cast<const char*>(end) - buffer) : N};
}
template <class Name>
ADAPTYST_DETAIL_INLINE text text_of_event(const Name& name) noexcept {
  return text_of(name);
}

// `Literal`: the name is in the site. Otherwise it comes with the event.
template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE text name_of(const site& marker, const Name& name) noexcept {
  if constexpr (Literal) return {marker.name, marker.name_bytes};
  return text_of_event(name);
}

}}}  // namespace adaptyst::v1::detail

// Not so unlikely that Clang could not tell what is likely behind it; and told here, as Clang heeds what is expected of a
// branch only in the function that has the branch from the beginning.
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
        ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::text_of(name).bytes : 0, __FILE__, function, \
        static_cast<uint32_t>(__LINE__), kind, nullptr                                                      \
  }

#endif
