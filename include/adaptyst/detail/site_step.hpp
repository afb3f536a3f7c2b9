// How the events of a marker are recorded under an overhead budget: the number to which adaptyst_site::step points.
#ifndef ADAPTYST_DETAIL_SITE_STEP_HPP
#define ADAPTYST_DETAIL_SITE_STEP_HPP

#include "../probe_abi.h"
#include "config.hpp"

enum adaptyst_site_step {
  ADAPTYST_STEP_ENGINE = 0,    // wherever the engine takes them
  ADAPTYST_STEP_RECORDER = 1,  // to the program's own recorder, and to no probe
  // ADAPTYST_STEP_RECORDER + k, k <= 16: one of 2^k, likewise; the others nowhere.
  ADAPTYST_STEP_SUBTREE = 17,  // ADAPTYST_STEP_SUBTREE + k, k > 0: the same, each with all that is nested in it
  ADAPTYST_STEP_LAST = 30,
  // Not a step of a budget. The marker is on a level that is not looked at, or the observation is over: the event is left
  // out, and one of many takes the slow path, to see whether it is over.
  ADAPTYST_STEP_DEEPER = 31,
};

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr uint32_t steps_with_room = 32;
static_assert(ADAPTYST_STEP_DEEPER < steps_with_room, "each has its gap");

// Whether events on the step take what is nested in them along.
ADAPTYST_DETAIL_INLINE bool takes_subtree(uint64_t step) noexcept {
  return step - (ADAPTYST_STEP_SUBTREE + 1) < uint64_t{ADAPTYST_STEP_LAST - ADAPTYST_STEP_SUBTREE};
}

}}}  // namespace adaptyst::v1::detail

#endif
