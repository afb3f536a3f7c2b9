// Stack samples for observers without privileges: stacks by perf_event_open() or by timers of the programs' threads,
// regions from the programs' recorders.
#ifndef ADAPTYST_LIB_SESSION_RECORDER_SAMPLES_HPP
#define ADAPTYST_LIB_SESSION_RECORDER_SAMPLES_HPP

#include <sys/types.h>

#include <memory>
#include <optional>

#include "thread_context.hpp"

namespace adaptyst::lib {

// Takes samples only: no times off a core. For processes without `only`; else for the threads of `only`, this process,
// without those of this library: stacks follow frame pointers, because a child process would have to unwind copies.
// With samples=timer, not for `only`. Throws error if the kernel refuses.
std::unique_ptr<thread_context> make_recorder_samples(const options& options, std::optional<pid_t> only = {});

}  // namespace adaptyst::lib

#endif
