// All that a program includes to become observable. Each header also stands alone; region.hpp is the lightest, and
// payload.hpp, which brings Boost.PFR, the heaviest by far.
#ifndef ADAPTYST_ADAPTYST_HPP
#define ADAPTYST_ADAPTYST_HPP

#include "device.hpp"
#include "device_clock.hpp"
#include "metadata.hpp"
#include "metric.hpp"
#include "offload.hpp"
#include "operation.hpp"
#include "payload.hpp"
#include "region.hpp"

#endif
