// Offsets of a recorder's members, for readers in other processes. Programs do not include this: nvcc warns, and the
// warning cannot be disabled.
#ifndef ADAPTYST_DETAIL_RECORDER_LAYOUT_HPP
#define ADAPTYST_DETAIL_RECORDER_LAYOUT_HPP

#include "recorder_state.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"         // a plain struct derived from plain structs
constexpr size_t depth_offset = offsetof(recorder, depth);  // base follows directly
static_assert(offsetof(recorder, base) == depth_offset + sizeof(recorder::depth), "both are read at once");
static_assert(offsetof(recorder, left_out) == skip_state_offset, "markers rely on it");
static_assert(offsetof(recorder, owner) == page_bytes + page_bytes / 2, "behind the pages that are shared");
constexpr size_t frames_offset = offsetof(recorder, frames);
#pragma GCC diagnostic pop

}}}  // namespace adaptyst::v1::detail

#endif
