// A level in place of a payload, and the test whether a marker is too deep for this run. The test comes first: a
// skipped marker must not pay for its payload.
#ifndef ADAPTYST_DETAIL_LEVEL_PAYLOAD_HPP
#define ADAPTYST_DETAIL_LEVEL_PAYLOAD_HPP

#include "atomic.hpp"
#include "level.hpp"
#include "site.hpp"
#include "site_step.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <>
struct payload_reader<level, true> {
  explicit payload_reader(level on) noexcept : values_{nullptr, 0, {nullptr, 0}, {}, static_cast<uint32_t>(on)} {}
  const payload_values& read() const noexcept { return values_; }

 private:
  payload_values values_;
};

template <class Payload>
struct payload_reader<levelled_payload<Payload>, true> {
  explicit payload_reader(const levelled_payload<Payload>& of) noexcept : own_(of.payload), values_(own_.read()) {
    values_.level = static_cast<uint32_t>(of.on);
  }
  const payload_values& read() const noexcept { return values_; }

 private:
  payload_reader<Payload> own_;  // owns the label
  payload_values values_;
};

// The marker's level is known only with its payload.
constexpr uint32_t unspelled_level = ~uint32_t{0};

// Reads names joined by "::". `last`: the last name; `is_qualified`: there are several.
struct spelled_name {
  const char* end;
  text last;
  bool is_qualified;
};
constexpr const char* skip_spaces(const char* at) noexcept {
  while (*at == ' ' || *at == '\t' || *at == '\n') ++at;
  return at;
}
constexpr bool is_in_name(char letter) noexcept {
  return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
         (letter >= 'A' && letter <= 'Z');
}
constexpr spelled_name read_spelled_name(const char* at) noexcept {
  spelled_name found{skip_spaces(at), {at, 0}, false};
  while (true) {
    const char* const first = found.end;
    while (is_in_name(*found.end)) ++found.end;
    found.last = {first, static_cast<size_t>(found.end - first)};
    found.end = skip_spaces(found.end);
    if (found.end[0] != ':' || found.end[1] != ':') return found;
    found.end = skip_spaces(found.end + 2);
    found.is_qualified = true;
  }
}
template <size_t N>
constexpr bool is_spelled(text name, const char (&literal)[N]) noexcept {
  if (name.bytes != N - 1) return false;
  for (size_t at = 0; at != N - 1; ++at)
    if (name.data[at] != literal[at]) return false;
  return true;
}

// The level in the source text of a payload, `level::layer` or `on_level(level::layer, …)`: known without evaluation.
// `spelling`: the macro's arguments from the payload on.
constexpr uint32_t find_spelled_level(const char* spelling) noexcept {
  spelled_name found = read_spelled_name(spelling);
  if (is_spelled(found.last, "on_level") && *found.end == '(') found = read_spelled_name(found.end + 1);
  if (!found.is_qualified || *found.end != ',') return unspelled_level;
  if (is_spelled(found.last, "application")) return static_cast<uint32_t>(level::application);
  if (is_spelled(found.last, "model")) return static_cast<uint32_t>(level::model);
  if (is_spelled(found.last, "layer")) return static_cast<uint32_t>(level::layer);
  if (is_spelled(found.last, "library")) return static_cast<uint32_t>(level::library);
  if (is_spelled(found.last, "device")) return static_cast<uint32_t>(level::device);
  return is_spelled(found.last, "hardware") ? static_cast<uint32_t>(level::hardware) : unspelled_level;
}

// Ends the arguments of a macro, so that at least one follows the name.
struct last_argument {};

// The type of a payload, and whether it gives a level.
template <class Payload>
struct payload_type {
  static constexpr bool is_present = true, has_level = false;
};
template <>
struct payload_type<void> {
  static constexpr bool is_present = false, has_level = false;
};
template <>
struct payload_type<level> {
  static constexpr bool is_present = true, has_level = true;
};
template <class Payload>
struct payload_type<levelled_payload<Payload>> {
  static constexpr bool is_present = true, has_level = true;
};
// `true ? any_payload_type{} : find_payload_type(payload, last_argument{})` has the type without evaluating the
// payload. decltype() fails for a payload with a lambda.
struct any_payload_type {
  template <class Payload>
  constexpr operator payload_type<Payload>() const noexcept {
    return {};
  }
};
constexpr payload_type<void> find_payload_type(last_argument) noexcept { return {}; }
template <class Payload>
constexpr payload_type<Payload> find_payload_type(const Payload&, last_argument) noexcept {
  return {};
}
template <class... Wrong>
constexpr payload_type<void> find_payload_type(const Wrong&...) noexcept {
  return {};
}

// True if the marker is deeper than the run's level, or the event cannot be recorded (and is counted). `level`: the
// marker's; 0: none. `record`: the member of a site, because the site's address would occupy a saved register of the
// user's function.
template <class = void>
ADAPTYST_DETAIL_COLD bool is_beyond(const adaptyst_site*& record, text name, uint32_t level) noexcept;

template <bool Literal>
ADAPTYST_DETAIL_INLINE text kept_name(const site& marker, text event_name) noexcept {
  if constexpr (Literal) return {marker.name, marker.name_bytes};
  return event_name;
}

// Keeps a name that comes with the event, so that it is evaluated once. A literal is re-read from the marker: a
// register would have to be saved while idle.
template <bool Literal, uint32_t Spelled, class Name, class Payload>
ADAPTYST_DETAIL_INLINE bool is_left_out(text& event_name, site& marker, const Name& name,
                                        payload_type<Payload>) noexcept {
  if constexpr (!Literal) event_name = to_event_text(name);
  if constexpr (payload_type<Payload>::is_present) {
    const adaptyst_site* const record = load_acquire(marker.record);
    if (ADAPTYST_DETAIL_LIKELY(record != nullptr) && load(*record->step) != ADAPTYST_STEP_DEEPER) return false;
    return is_beyond(marker.record, event_name, payload_type<Payload>::has_level ? Spelled : 0);
  }
  return false;
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_DETAIL_REST(first, ...) __VA_ARGS__
// The arguments of a macro after the name.
#define ADAPTYST_DETAIL_PAYLOAD(...) ADAPTYST_DETAIL_REST(__VA_ARGS__, ::adaptyst::detail::last_argument{})

// For `begin` below: the name as a text.
#define ADAPTYST_DETAIL_KEPT_NAME(marker, name) \
  ::adaptyst::detail::kept_name<ADAPTYST_DETAIL_IS_LITERAL(name)>(marker, adaptyst_name)

// `none` for a marker that is too deep, else `begin`; the payload follows. One full expression, because the text may
// belong to a temporary object.
#define ADAPTYST_DETAIL_UNLESS_BEYOND(marker, name, none, begin, ...)                                            \
  __extension__({                                                                                                \
    ::adaptyst::detail::text adaptyst_name{nullptr, 0};                                                          \
    ::adaptyst::detail::is_left_out<ADAPTYST_DETAIL_IS_LITERAL(name),                                            \
                                    ::adaptyst::detail::find_spelled_level(ADAPTYST_DETAIL_SPELL(__VA_ARGS__))>( \
        adaptyst_name, marker, name,                                                                             \
        true ? ::adaptyst::detail::any_payload_type{} : ::adaptyst::detail::find_payload_type(__VA_ARGS__))      \
        ? none                                                                                                   \
        : begin;                                                                                                 \
  })

#endif
