// Expansion of ADAPTYST_PHASES and ADAPTYST_NEXT: a local object that holds the running phase.
#ifndef ADAPTYST_DETAIL_PHASES_HPP
#define ADAPTYST_DETAIL_PHASES_HPP

#include "scope.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Cold, like the functions of a scope. They end the scope of `token`, and begin another at the same instant.
template <class = void>
ADAPTYST_DETAIL_COLD uint64_t next_named(site& marker, uint64_t token) noexcept;
template <class = void>
ADAPTYST_DETAIL_COLD uint64_t next_with(site& marker, uint64_t token, text name,
                                        const payload_values* payload) noexcept;

template <class = void>
class phases {
 public:
  explicit ADAPTYST_DETAIL_INLINE phases(uint64_t token) noexcept : token_(token) {}
  ADAPTYST_DETAIL_INLINE ~phases() { end(); }
  phases(const phases&) = delete;
  phases& operator=(const phases&) = delete;
  static void* operator new(size_t) = delete;
  static void* operator new[](size_t) = delete;

  ADAPTYST_DETAIL_INLINE uint64_t token() const noexcept { return token_; }
  ADAPTYST_DETAIL_INLINE void set_token(uint64_t token) noexcept { token_ = token; }
  ADAPTYST_DETAIL_INLINE uint64_t end() noexcept {
    if (__builtin_expect_with_probability(token_ != 0, 0, 1.0)) {
      if (token_ == closed_token) end_left_out();
      else leave_scope(token_);
      token_ = 0;
    }
    return 0;
  }
  // As detail::leave_out() for the next phase, if the running phase is not recorded; else `undecided`.
  ADAPTYST_DETAIL_INLINE uint64_t leave_out(const site& marker, uint32_t zero) noexcept {
    if (token_ != 0 && token_ != closed_token) return undecided;
    end();
    return detail::leave_out(marker, zero);
  }

 private:
  uint64_t token_;
};

template <bool Literal>
ADAPTYST_DETAIL_INLINE uint64_t begin_next(site& marker, uint64_t token, text name, last_argument) noexcept {
  if constexpr (Literal) return next_named(marker, token);
  return next_with(marker, token, name, nullptr);
}

template <bool Literal, class Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_next(site& marker, uint64_t token, text name, const Payload& payload,
                                           last_argument) noexcept {
  const payload_reader<Payload> values(payload);
  return next_with(marker, token, name, &values.read());
}

template <bool Literal, class... Arguments>
uint64_t begin_next(site&, uint64_t, text, const Arguments&...) noexcept {
  static_assert(sizeof...(Arguments) <= 2, "adaptyst: ADAPTYST_NEXT(name) or (name, payload)");
  return 0;
}

}}}  // namespace adaptyst::v1::detail

#define ADAPTYST_DETAIL_NEXT(name, ...)                                                                         \
  do {                                                                                                          \
    ADAPTYST_DETAIL_SITE(adaptyst_site_of_phase, ADAPTYST_SITE_REGION, __func__, name);                         \
    if (ADAPTYST_DETAIL_ENABLED()) {                                                                            \
      uint64_t adaptyst_token =                                                                                 \
          ADAPTYST_DETAIL_IS_LITERAL(name)                                                                      \
              ? adaptyst_phases.leave_out(adaptyst_site_of_phase, ::adaptyst::detail::cold_zero())              \
              : ::adaptyst::detail::undecided;                                                                  \
      if (adaptyst_token == ::adaptyst::detail::undecided)                                                      \
        adaptyst_token = ADAPTYST_DETAIL_UNLESS_BEYOND(                                                         \
            adaptyst_site_of_phase, name, adaptyst_phases.end(),                                                \
            ::adaptyst::detail::begin_next<ADAPTYST_DETAIL_IS_LITERAL(name)>(                                   \
                adaptyst_site_of_phase, adaptyst_phases.token(),                                                \
                ADAPTYST_DETAIL_KEPT_NAME(adaptyst_site_of_phase, name), ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__)), \
            ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__));                                                              \
      adaptyst_phases.set_token(adaptyst_token);                                                                \
    } else {                                                                                                    \
      adaptyst_phases.end();                                                                                    \
    }                                                                                                           \
  } while (false)

#ifndef ADAPTYST_LINK_MARKERS
#include "phases_calls.hpp"
#endif

#endif
