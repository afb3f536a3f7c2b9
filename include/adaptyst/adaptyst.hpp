// All markers, in five forms:
//
//   a scope       to the end of the block: ADAPTYST_REGION, ADAPTYST_FUNCTION (region.hpp), ADAPTYST_OFFLOAD, ADAPTYST_WAIT
//                 (offload.hpp)
//   phases        ADAPTYST_PHASES, ADAPTYST_NEXT: consecutive regions of a block (region.hpp)
//   a pair        ADAPTYST_BEGIN … ADAPTYST_END: on one thread (region.hpp)
//   a handle      ADAPTYST_HANDLE_BEGIN(…) … .end(): on any thread (region.hpp)
//   an operation  adaptyst::submit(…) … .complete(…): asynchronous work of a device (operation.hpp)
//
// Open regions also take payloads (payload.hpp), levels (region.hpp), metrics and instant events (metric.hpp). Metadata
// describes a run (metric.hpp). Adapters: adapter/.
//
// Each header can be included separately. region.hpp compiles fastest, payload.hpp (Boost.PFR) slowest.
#ifndef ADAPTYST_ADAPTYST_HPP
#define ADAPTYST_ADAPTYST_HPP

#include "metric.hpp"
#include "offload.hpp"
#include "operation.hpp"
#include "payload.hpp"
#include "region.hpp"

#endif
