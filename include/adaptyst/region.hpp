// Marks a region of code; a tool then measures how often it runs and how long it takes.
//
//   void advect(field& f) {
//     ADAPTYST_REGION("advect");
//     ...
//   }                                  // ends here, on every way out
//
//   ADAPTYST_FUNCTION();               // named after the enclosing function
//   ADAPTYST_REGION(name);             // a name made at run time: std::string_view, std::string, const char *
//   ADAPTYST_REGION("solve", solve_payload{.bytes = n});    // with numbers: needs <adaptyst/payload.hpp>
//   ADAPTYST_REGION("conv1", adaptyst::level::layer);       // with a level (level.hpp)
//
//   ADAPTYST_PHASES("load");           // consecutive regions of one scope, with one timestamp between two
//   ...
//   ADAPTYST_NEXT("compute");          // ends "load" and begins "compute"; the scope ends the last
//
//   ADAPTYST_BEGIN("exchange");        // ends at the next end on this thread, perhaps in another function
//   ...
//   ADAPTYST_END();
//
//   adaptyst::region_handle h = ADAPTYST_HANDLE_BEGIN("halo exchange");
//   ...                                // any thread, any order
//   h.end();
//
// Cost when idle: a comparison and a branch at entry, a register test at exit. Name and payload are not evaluated,
// nothing is allocated, no library is needed. When enabled: docs/overhead.md. ADAPTYST_LINK_MARKERS (detail/config.hpp;
// CMake target adaptyst::markers) reduces the compile time to a sixth.
//
// Regions nest by scope, per thread. A region left by longjmp(), or ended on another thread, is counted as unmatched
// and does not affect others. Operations are noexcept and lock-free, leave errno unchanged, and may run in a signal
// handler. An event that interrupts the recorder of its own thread is counted as lost. Names keep 127 bytes.
#ifndef ADAPTYST_REGION_HPP
#define ADAPTYST_REGION_HPP

#include "detail/config.hpp"
#include "detail/level.hpp"
#include "detail/text.hpp"

#ifndef ADAPTYST_DISABLE
#include "detail/handle.hpp"
#include "detail/pair.hpp"
#include "detail/phases.hpp"
#include "detail/scope.hpp"
#endif

namespace adaptyst { inline namespace v1 {
#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // so that units with and without markers, which have different types, link into one
                             // program
#endif

// A region without a scope. Move-only. Begin and end may be on different threads; two threads must not use one handle
// at the same time. Dropped without end(), its region stays open in the account.
class [[nodiscard]] region_handle {
 public:
  region_handle() noexcept = default;  // no region; end() does nothing
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
  template <class = void>  // a template, compiled on use: otherwise it would double the compile time of this header
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

// Not sizeof, but a branch that is never taken: names that only a disabled marker uses must not be reported as unused.
#define ADAPTYST_DETAIL_CHECK(check) static_cast<void>(false ? ::adaptyst::detail::check : 0)
#define ADAPTYST_REGION(...) ADAPTYST_DETAIL_CHECK(check_region(__VA_ARGS__))
#define ADAPTYST_FUNCTION() static_cast<void>(0)
#define ADAPTYST_PHASES(...)                          \
  [[maybe_unused]] constexpr int adaptyst_phases = 0; \
  ADAPTYST_REGION(__VA_ARGS__)
#define ADAPTYST_NEXT(...) (static_cast<void>(adaptyst_phases), ADAPTYST_REGION(__VA_ARGS__))
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

// Phases: a declaration that begins the first, and statements in its scope that end the running phase and begin the
// next at the same instant. The work of the recorder, or the trap of the ebpf engine, is in the next phase. A phase that
// an overhead budget samples has two timestamps of its own, with this work outside. Arguments as for ADAPTYST_REGION. A
// called function cannot end them, unless it has the variable (a lambda by reference). A nested block may have phases
// of its own; -Wshadow reports their variable.
#define ADAPTYST_PHASES(...)                                                                                \
  ADAPTYST_DETAIL_SCOPE_IN(::adaptyst::detail::phases<> adaptyst_phases, ADAPTYST_SITE_REGION, __COUNTER__, \
                           ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~), __VA_ARGS__)
#define ADAPTYST_NEXT(...) ADAPTYST_DETAIL_NEXT(ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~), __VA_ARGS__)

// A pair: its begin and end may be in different blocks or functions of one thread. ADAPTYST_END ends the innermost open
// pair. Counted as unmatched: an end without a begin; a begin that is open when its enclosing region ends, or when the
// same call repeats it. A name that is no literal is copied, and such a begin has no source place.
#define ADAPTYST_BEGIN(name) ADAPTYST_DETAIL_PAIR(name)
#define ADAPTYST_END() ADAPTYST_DETAIL_END_PAIR()

// A region that is ended explicitly: an expression of type region_handle.
#define ADAPTYST_HANDLE_BEGIN(...)                                                                              \
  ::adaptyst::detail::kept(__extension__({                                                                      \
    ADAPTYST_DETAIL_SITE(adaptyst_site, ADAPTYST_SITE_HANDLE, __func__, ADAPTYST_DETAIL_FIRST(__VA_ARGS__, ~)); \
    ADAPTYST_DETAIL_ENABLED()                                                                                   \
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
