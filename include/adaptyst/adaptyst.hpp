// All that a program includes to become observable. There are four ways to mark:
//
//   a scope       ADAPTYST_REGION, ADAPTYST_FUNCTION, ADAPTYST_OFFLOAD, ADAPTYST_WAIT: from here to the brace (region.hpp,
//                 offload.hpp)
//   a pair        ADAPTYST_BEGIN … ADAPTYST_END: from here to there, on one thread (region.hpp)
//   a handle      ADAPTYST_HANDLE_BEGIN(…) … .end(): from here to there, on any thread (region.hpp)
//   an operation  adaptyst::submit(…) … .complete(…): what a device does meanwhile (operation.hpp)
//
// In addition, in what is open: numbers of a payload (payload.hpp), a level (region.hpp), a metric and an instant (metric.hpp); and
// what describes a run (metric.hpp). Adapters, and what they alone need, build on these: adapter/.
//
// Each header also stands alone; region.hpp is the lightest, and payload.hpp, which brings Boost.PFR, the heaviest by far.
#ifndef ADAPTYST_ADAPTYST_HPP
#define ADAPTYST_ADAPTYST_HPP

#include "metric.hpp"
#include "offload.hpp"
#include "operation.hpp"
#include "payload.hpp"
#include "region.hpp"

#endif
