// Marks a stretch of work, so that a collector or another tool can see how often it ran and how long it took.
//
//   void advect(field& f) {
//     ADAPTYST_REGION("advect");
//     ...
//   }                                  // ends here, on every way out
//
//   ADAPTYST_FUNCTION();               // named after the enclosing function
//   ADAPTYST_REGION(name);             // a name made at run time: std::string_view, std::string, const char *
//   ADAPTYST_REGION("solve", solve_payload{.bytes = n});    // with numbers: needs <adaptyst/payload.hpp>
//   ADAPTYST_REGION("conv1", adaptyst::level::layer);       // says how deep it stands (level.hpp)
//
//   ADAPTYST_BEGIN("exchange");        // to the end that comes next on this thread, perhaps in another function
//   ...
//   ADAPTYST_END();
//
//   adaptyst::region_handle h = ADAPTYST_HANDLE_BEGIN("halo exchange");
//   ...                                // any thread, any order
//   h.end();
//
// Cost while nothing listens: a comparison and a branch at entry, a register test at exit; neither name nor payload is
// evaluated, nothing is allocated, nothing needs to be linked. Awake: docs/overhead.md. Compiling it takes a sixth with
// ADAPTYST_LINK_MARKERS (detail/config.hpp), which CMake's target adaptyst::markers defines.
//
// Regions nest by scope, per thread. What is left by longjmp(), or ended on a thread that did not begin it, is counted
// as unmatched and harms no other. Every operation is noexcept, lock-free, leaves errno alone and may run in a signal
// handler, where it is counted as lost if it interrupts its own thread's recorder. Names keep their first 127 bytes.
#ifndef ADAPTYST_REGION_HPP
#define ADAPTYST_REGION_HPP

#include "detail/config.hpp"
#include "detail/level.hpp"
#include "detail/text.hpp"

#ifndef ADAPTYST_DISABLE
#include "detail/handle.hpp"
#include "detail/pair.hpp"
#include "detail/scope.hpp"
#endif

namespace adaptyst { inline namespace v1 {
#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // so that a unit with markers, whose types differ, can be linked into the same program
#endif

// A region that is not bound to a scope. Move-only; begin and end may be on different threads, but one handle must not
// be used by two at once. A handle that is dropped without end() leaves its region open in the account.
class [[nodiscard]] region_handle {
 public:
  region_handle() noexcept = default;  // of no region; end() does nothing
#ifdef ADAPTYST_DISABLE
  region_handle(region_handle&&) noexcept = default;
  region_handle& operator=(region_handle&&) noexcept = default;
  template <class = void>
  void end() noexcept {}
#else
  explicit region_handle(const detail::pending& begun) noexcept : pending_(begun) {}
  region_handle(region_handle&& from) noexcept : pending_(from.pending_) { from.pending_.path = nullptr; }
  region_handle& operator=(region_handle&& from) noexcept {
    pending_ = from.pending_;
    if (this != &from) from.pending_.path = nullptr;
    return *this;
  }

  // Ends the region; a second call does nothing.
  template <class = void>  // compiled where it is used: it would double what this header costs
  void end() noexcept {
    if (pending_.path == nullptr) return;
    detail::end_handle(pending_);
    pending_.path = nullptr;
  }

 private:
  detail::pending pending_{};
#endif
};

#ifdef ADAPTYST_DISABLE
}
#endif
}}  // namespace adaptyst::v1

#ifdef ADAPTYST_DISABLE

namespace adaptyst { inline namespace v1 { namespace detail {
template <class Name, class... Payload>
constexpr int check_region(const Name& name, const Payload&...) noexcept {
  static_assert(sizeof...(Payload) <= 1, "adaptyst: ADAPTYST_REGION(name) or (name, payload)");
  return static_cast<void>(to_text(name)), 0;
}
}}}  // namespace adaptyst::v1::detail

// A branch that is never taken, and not sizeof: what only a disabled marker uses must not be reported as unused.
#define ADAPTYST_DETAIL_CHECK(check) static_cast<void>(false ? ::adaptyst::detail::check : 0)
#define ADAPTYST_REGION(...) ADAPTYST_DETAIL_CHECK(check_region(__VA_ARGS__))
#define ADAPTYST_FUNCTION() static_cast<void>(0)
#define ADAPTYST_BEGIN(name) ADAPTYST_REGION(name)
#define ADAPTYST_END() static_cast<void>(0)
#define ADAPTYST_HANDLE_BEGIN(...) (ADAPTYST_REGION(__VA_ARGS__), ::adaptyst::region_handle{})

#else

namespace adaptyst { inline namespace v1 { namespace detail {
// Compilers warn about the unused value of a function, but not of a statement.
[[nodiscard]] inline region_handle kept(region_handle&& begun) noexcept { return static_cast<region_handle&&>(begun); }
}}}  // namespace adaptyst::v1::detail

// To the end of the scope. Arguments: a name; optionally a payload.
#define ADAPTYST_REGION(...) \
  ADAPTYST_DETAIL_SCOPE(ADAPTYST_SITE_REGION, __COUNTER__, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~), __VA_ARGS__)

// To the end of the scope, named after the enclosing function.
#define ADAPTYST_FUNCTION() ADAPTYST_DETAIL_FUNCTION_SCOPE(__COUNTER__)

// A pair, for a begin and an end in different blocks or functions of one thread. ADAPTYST_END ends the innermost pair that
// is open. Counted as unmatched: an end without a begin; a begin that is still open when a region around it ends, or when
// the same call passes the same begin again. A name that is no literal is copied, and such a begin has no place.
#define ADAPTYST_BEGIN(name) ADAPTYST_DETAIL_PAIR(name)
#define ADAPTYST_END() ADAPTYST_DETAIL_END_PAIR()

// A region to be ended by hand: an expression of type region_handle.
#define ADAPTYST_HANDLE_BEGIN(...)                                                                              \
  ::adaptyst::detail::kept(__extension__({                                                                      \
    ADAPTYST_DETAIL_SITE(adaptyst_site, ADAPTYST_SITE_HANDLE, __func__, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~)); \
    ADAPTYST_DETAIL_AWAKE()                                                                                     \
    ? ::adaptyst::region_handle{ADAPTYST_DETAIL_UNLESS_BEYOND(                                                  \
          adaptyst_site, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~), ::adaptyst::detail::pending{},                  \
          ::adaptyst::detail::begin_handle(                                                                     \
              adaptyst_site, ADAPTYST_DETAIL_KEPT_NAME(adaptyst_site, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~)),   \
              ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__)),                                                            \
          ADAPTYST_DETAIL_PAYLOAD(__VA_ARGS__))}                                                                \
    : ::adaptyst::region_handle{};                                                                              \
  }))

#endif

#endif
