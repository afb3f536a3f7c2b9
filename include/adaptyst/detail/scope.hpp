// Expansion of ADAPTYST_REGION and ADAPTYST_FUNCTION: a static site, a test of the semaphores, and the cold path.
#ifndef ADAPTYST_DETAIL_SCOPE_HPP
#define ADAPTYST_DETAIL_SCOPE_HPP

#include "level_payload.hpp"
#include "skip_counts.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Returns 0, and makes the code around its call cold, up to the join of the branches. GCC moves code off the hot path
// only if it inevitably calls a cold function, whatever the branch probabilities. It removes the useless call after the
// move.
ADAPTYST_DETAIL_COLD __attribute__((const)) inline uint32_t cold_zero() noexcept { return 0; }

// Left to the slow path: no scope has this token.
constexpr uint64_t undecided = ~uint64_t{0};

// Decrements the skip count. Returns the scope's token if the overhead budget skips this event, else `undecided`.
// Unclear cases go to the slow path. Inlined without a call: a call would make the compiler save all registers of the
// user's code, which costs more.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t leave_out(const site& marker, uint32_t zero = 0) noexcept {
  const adaptyst_site* const record = load_acquire(marker.record);
  recorder* const r = recorder_at_hand();
  if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) return undecided;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(r) <= 1)) return undecided;
  const uint64_t step = load(*record->step) % step_count;  // valid for any value from an observer
  skip_state& state = get_skip_state(*r);
  skip_counts& in_force = *load(state.left_out);
  uint32_t& skip_count = in_force.skip_count[step + (__builtin_constant_p(step) ? zero : 0)];
  const uint32_t left = load(skip_count);
  if (ADAPTYST_DETAIL_UNLIKELY(left <= 1)) return undecided;
  store(skip_count, left - 1);
  if (ADAPTYST_DETAIL_LIKELY(!takes_subtree(step))) return 0;
  skip_counts* const closed = load(in_force.nested);
  if (closed == nullptr) return 0;  // skipped with its enclosing region
  close_skip_counts(state, closed, record, stack_pointer());
  return closed_token;
}

// For a thread that lost its slot in the table of recorders to another thread.
template <class = void>
ADAPTYST_DETAIL_COLD void end_left_out_elsewhere() noexcept;

// The end of an event that leave_out() skipped.
template <class = void>
ADAPTYST_DETAIL_INLINE void end_left_out() noexcept {
  recorder* const r = recorder_at_hand();
  if (ADAPTYST_DETAIL_LIKELY(reinterpret_cast<uintptr_t>(r) > 1)) open_skip_counts(get_skip_state(*r));
  else end_left_out_elsewhere();
}

// A scope calls only these three functions. They are cold, so that GCC moves the calls out of the caller's hot code.
// They only call functions that must be fast, and therefore cannot be cold.
template <class = void>
ADAPTYST_DETAIL_COLD uint64_t begin_named(site& marker) noexcept;
template <class = void>
ADAPTYST_DETAIL_COLD uint64_t begin_with(site& marker, text name, uint32_t device,
                                         const payload_values* payload) noexcept;
template <class = void>
ADAPTYST_DETAIL_COLD void leave_scope(uint64_t token) noexcept;

// The object of ADAPTYST_REGION: a number in a register, 0 while idle.
template <class = void>
class scope {
 public:
  explicit ADAPTYST_DETAIL_INLINE scope(uint64_t token) noexcept : token_(token) {}
  ADAPTYST_DETAIL_INLINE ~scope() {
    if (__builtin_expect_with_probability(token_ != 0, 0, 1.0)) {
      if (token_ == closed_token) end_left_out();
      else leave_scope(token_);
    }
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  static void* operator new(size_t) = delete;
  static void* operator new[](size_t) = delete;

 private:
  uint64_t token_;
};

template <bool Literal>
ADAPTYST_DETAIL_INLINE uint64_t begin_scope(site& marker, text name, last_argument) noexcept {
  if constexpr (Literal) return begin_named(marker);
  return begin_with(marker, name, 0, nullptr);
}

template <bool Literal, class Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_scope(site& marker, text name, const Payload& payload, last_argument) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_with(marker, name, 0, &values.read());
}

template <bool Literal, class... Arguments>
uint64_t begin_scope(site&, text, const Arguments&...) noexcept {
  static_assert(sizeof...(Arguments) <= 2, "adaptyst: ADAPTYST_REGION(name) or (name, payload)");
  return 0;
}

}}}  // namespace adaptyst::v1::detail

// The token of a scope. Whether an event with a run-time name is skipped is decided later.
#define ADAPTYST_DETAIL_BEGIN(number, is_literal, begin)                                                           \
  __extension__({                                                                                                  \
    uint64_t adaptyst_token = 0;                                                                                   \
    if (ADAPTYST_DETAIL_ENABLED()) {                                                                               \
      adaptyst_token = (is_literal) ? ::adaptyst::detail::leave_out(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), \
                                                                    ::adaptyst::detail::cold_zero())               \
                                    : ::adaptyst::detail::undecided;                                               \
      if (adaptyst_token == ::adaptyst::detail::undecided) adaptyst_token = begin;                                 \
    }                                                                                                              \
    adaptyst_token;                                                                                                \
  })
#define ADAPTYST_DETAIL_SCOPE(kind, number, name, ...)                                                             \
  ADAPTYST_DETAIL_SCOPE_IN(const ::adaptyst::detail::scope<> ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number), kind, \
                           number, name, __VA_ARGS__)
#define ADAPTYST_DETAIL_SCOPE_IN(object, kind, number, name, ...)                                                 \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), kind, __func__, name);                      \
  object {                                                                                                        \
    ADAPTYST_DETAIL_BEGIN(number, ADAPTYST_DETAIL_IS_LITERAL(name),                                               \
                          ADAPTYST_DETAIL_UNLESS_BEYOND(                                                          \
                              ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), name, uint64_t{0},                   \
                              ::adaptyst::detail::begin_scope<ADAPTYST_DETAIL_IS_LITERAL(name)>(                  \
                                  ADAPTYST_DETAIL_PASTE(adaptyst_site_, number),                                  \
                                  ADAPTYST_DETAIL_KEPT_NAME(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), name), \
                                  ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__)),                                          \
                              ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__)))                                              \
  }

#define ADAPTYST_DETAIL_FUNCTION_SCOPE(number)                                                                   \
  static ::adaptyst::detail::site ADAPTYST_DETAIL_PASTE(adaptyst_site_, number){                                 \
      __func__, sizeof(__func__) - 1, __FILE__, __func__, static_cast<uint32_t>(__LINE__), ADAPTYST_SITE_REGION, \
      nullptr};                                                                                                  \
  const ::adaptyst::detail::scope<> ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                             \
    ADAPTYST_DETAIL_BEGIN(number, true,                                                                          \
                          ::adaptyst::detail::begin_named(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number)))        \
  }

#ifndef ADAPTYST_LINK_MARKERS
#include "scope_calls.hpp"
#endif

#endif
