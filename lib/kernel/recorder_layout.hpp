// Where the kernel's side finds things in the recorders of a program.
#ifndef ADAPTYST_LIB_KERNEL_RECORDER_LAYOUT_HPP
#define ADAPTYST_LIB_KERNEL_RECORDER_LAYOUT_HPP

#include "../../probes/recorder_layout.h"

namespace adaptyst::lib {

// In one that was built with the same headers, of which the kernel's side makes sure.
adaptyst_recorder_layout layout_of_recorders();

}  // namespace adaptyst::lib

#endif
