// Finds out what this machine permits to observe.
#ifndef ADAPTYST_LIB_SESSION_DOCTOR_HPP
#define ADAPTYST_LIB_SESSION_DOCTOR_HPP

#include "../discover/inspection.hpp"

namespace adaptyst { inline namespace v1 {

// Whether this process can observe with eBPF. Loads the programs and attaches to a function of this library, which
// takes about 50 ms. The other entries give the reason if it cannot.
diagnosis diagnose();

}}  // namespace adaptyst::v1

#endif
