// Stack samples without the kernel's programs, or with copied stacks: stacks by perf_event_open() or by timers of the
// programs' threads, regions from the programs' recorders.
#ifndef ADAPTYST_LIB_SESSION_RECORDER_SAMPLES_HPP
#define ADAPTYST_LIB_SESSION_RECORDER_SAMPLES_HPP

#include <sys/types.h>

#include <memory>
#include <optional>

#include "../model/samples.hpp"
#include "thread_context.hpp"

namespace adaptyst::lib {

// Without `off_core`, takes no times off a core. For all processes without `only`; else for the threads of `only`, this process,
// without those of this library: copied stacks, which a child process unwinds, only with stacks=dwarf.
// With samples=timer, not for `only`. Throws error if the kernel refuses.
//
// `off_core`: adds its times off a core and its names of functions of the kernel. For stacks=dwarf without samples=timer,
// and with CAP_PERFMON: samples then include time in the kernel.
std::unique_ptr<thread_context> make_recorder_samples(const options& options, std::optional<pid_t> only = {},
                                                      std::unique_ptr<sample_source> off_core = {});

// Complains that stacks are not copied.
void report_frame_pointers(const error& why);

}  // namespace adaptyst::lib

#endif
