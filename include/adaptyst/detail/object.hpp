// The control block of this ELF object, which probes.hpp defines.
#ifndef ADAPTYST_DETAIL_OBJECT_HPP
#define ADAPTYST_DETAIL_OBJECT_HPP

#include "../probe_abi.h"
#include "config.hpp"

extern "C" {
// Named for its version: ELF objects of different versions may meet in one process.
ADAPTYST_DETAIL_HIDDEN extern adaptyst_object adaptyst_object_v3;
}

#endif
