// The offsets at which the BPF programs find members of a program's recorders.
#ifndef ADAPTYST_LIB_KERNEL_RECORDER_LAYOUT_HPP
#define ADAPTYST_LIB_KERNEL_RECORDER_LAYOUT_HPP

#include "../../probes/recorder_layout.h"

namespace adaptyst::lib {

// Valid for programs that were built with the same headers; the BPF programs check that.
adaptyst_recorder_layout find_recorder_layout();

}  // namespace adaptyst::lib

#endif
