// The control block of this ELF object; probes.hpp defines it.
#ifndef ADAPTYST_DETAIL_OBJECT_HPP
#define ADAPTYST_DETAIL_OBJECT_HPP

#include "../probe_abi.h"
#include "config.hpp"

extern "C" {
// The name contains the version: ELF objects of different versions may share a process.
ADAPTYST_DETAIL_HIDDEN extern adaptyst_object adaptyst_object_v5;
}

#endif
