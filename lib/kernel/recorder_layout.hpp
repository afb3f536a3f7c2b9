// The offsets at which the BPF programs find members of a program's recorders.
#ifndef ADAPTYST_LIB_KERNEL_RECORDER_LAYOUT_HPP
#define ADAPTYST_LIB_KERNEL_RECORDER_LAYOUT_HPP

#include <adaptyst/detail/recorder_layout.hpp>
#include <cstddef>

#include "../../probes/recorder_layout.h"

namespace adaptyst::lib {

// Valid for programs that were built with the same headers; the BPF programs check that.
inline adaptyst_recorder_layout find_recorder_layout() {
  static_assert(offsetof(detail::frame, path) == offsetof(detail::frame, begin) + 16,
                "the kernel's side reads both at once");
  adaptyst_recorder_layout layout{};
  layout.expected = detail::state_layout;
  layout.layout = offsetof(detail::control_page, layout);
  layout.owners = offsetof(detail::control_page, owners);
  layout.recorders = offsetof(detail::control_page, recorders);
  layout.next = offsetof(detail::recorder_head, next);
  layout.thread = offsetof(detail::recorder_head, thread);
  layout.depth = detail::depth_offset;
  layout.frames = detail::frames_offset;
  layout.frame_bytes = sizeof(detail::frame);
  layout.stack = offsetof(detail::frame, stack);
  layout.begin = offsetof(detail::frame, begin);
  layout.path = offsetof(detail::frame, path);
  return layout;
}

}  // namespace adaptyst::lib

#endif
