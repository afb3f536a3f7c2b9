// Work whose memory is kept apart from the program's.
#ifndef ADAPTYST_LIB_SUPPORT_APART_HPP
#define ADAPTYST_LIB_SUPPORT_APART_HPP

#include <functional>

namespace adaptyst::lib {

// Runs `work` to its end on a thread that takes no signals and has a heap of its own with room for large blocks. What
// the work throws is thrown here. If no thread can be made, the work runs on this one.
//
// The caller may be in a constructor, and hold the loader's lock: the work must not ask for it, by dlopen(), dladdr(),
// or a thread_local variable of ours.
void run_apart(const std::function<void()>& work);

}  // namespace adaptyst::lib

#endif
