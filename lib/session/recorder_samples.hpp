// Stack samples for observers without privileges: stacks by perf_event_open(), regions from the programs' recorders.
#ifndef ADAPTYST_LIB_SESSION_RECORDER_SAMPLES_HPP
#define ADAPTYST_LIB_SESSION_RECORDER_SAMPLES_HPP

#include <memory>

#include "thread_context.hpp"

namespace adaptyst::lib {

// Takes samples only: no times off a core. Throws error if the kernel refuses.
std::unique_ptr<thread_context> make_recorder_samples(const options& options);

}  // namespace adaptyst::lib

#endif
