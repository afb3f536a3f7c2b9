// Stands in adapter/ now; here for programs that were written before.
#ifndef ADAPTYST_DEVICE_CLOCK_HPP
#define ADAPTYST_DEVICE_CLOCK_HPP

#include "adapter/device_clock.hpp"

#endif
