// Describes a run: its mesh, its solver, its input. The description is in the profile, so that two profiles can be
// distinguished, and are compared only where that makes sense.
//
//   adaptyst::metadata("mesh", "512^3");
//   adaptyst::metadata("solver", solver.name());    // std::string_view, std::string, const char *
//
// May be called before or after a collector starts, and in a program that `adaptyst run` or `attach` observes; once is
// enough. If a name is given twice, the last value counts. A process keeps what the first 64 calls say; the profile has
// the number of further calls. Names keep their first 63 bytes, values 255. A forked child starts with none.
//
// Cost: some 0.1 us a call, whether something listens or not. The first call, if no marker was awake before, maps
// memory, some pages of which are used. Thread-safe, noexcept, lock-free, leaves errno alone. With a collector's keep=,
// call it when that collector has started: what is kept must be in its file from the beginning.
#ifndef ADAPTYST_METADATA_HPP
#define ADAPTYST_METADATA_HPP

#include "detail/config.hpp"
#include "detail/text.hpp"

namespace adaptyst { inline namespace v1 {

namespace detail {

// An array that is not a literal is read up to its first NUL, like any other pointer: it may be filled in part.
struct metadata_text {
  text is;
  metadata_text(const char* terminated) noexcept : is(to_text(detail::terminated(terminated))) {}
  template <class View, class = decltype(text{static_cast<const View*>(nullptr)->data(),
                                              static_cast<const View*>(nullptr)->size()})>
  metadata_text(const View& view) noexcept : is{view.data(), view.size()} {}
};

#ifndef ADAPTYST_DISABLE
template <class = void>
ADAPTYST_DETAIL_COLD void keep_metadata(text name, text value) noexcept;
#endif

}  // namespace detail

#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // so that a unit with markers, whose code differs, can be linked into the same program
template <class = void>
inline void metadata(detail::metadata_text, detail::metadata_text) noexcept {}
}  // namespace disabled
#else
template <class = void>
inline void metadata(detail::metadata_text name, detail::metadata_text value) noexcept {
  detail::keep_metadata(name.is, value.is);
}
#endif

}}  // namespace adaptyst::v1

#if !defined(ADAPTYST_DISABLE) && !defined(ADAPTYST_LINK_MARKERS)
#include "detail/metadata_calls.hpp"
#endif

#endif
