// What can be observed on this machine.
#ifndef ADAPTYST_LIB_SESSION_DOCTOR_HPP
#define ADAPTYST_LIB_SESSION_DOCTOR_HPP

#include "../discover/inspection.hpp"

namespace adaptyst { inline namespace v1 {

// Whether this process could observe with eBPF: by loading the programs and attaching to a function of our own, which
// takes some 50 ms. The rest is there to tell why not.
diagnosis diagnose();

}}  // namespace adaptyst::v1

#endif
