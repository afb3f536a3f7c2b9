// Values of adaptyst_site::step: how a marker's events are recorded under an overhead budget.
#ifndef ADAPTYST_DETAIL_SITE_STEP_HPP
#define ADAPTYST_DETAIL_SITE_STEP_HPP

#include "../probe_abi.h"
#include "config.hpp"

enum adaptyst_site_step {
  ADAPTYST_STEP_ENGINE = 0,    // by the engine
  ADAPTYST_STEP_RECORDER = 1,  // by the program's recorder; no probe is fired
  // ADAPTYST_STEP_RECORDER + k, k <= 16: the same for one of 2^k; the others are skipped.
  ADAPTYST_STEP_SUBTREE = 17,  // ADAPTYST_STEP_SUBTREE + k, k > 0: the same, each with all nested events
  ADAPTYST_STEP_LAST = 30,
  // No budget step. The marker's level is not recorded, or the observation is over. The event is skipped; one of many
  // takes the slow path to test for the end of the observation.
  ADAPTYST_STEP_DEEPER = 31,
};

namespace adaptyst { inline namespace v1 { namespace detail {

constexpr uint32_t step_count = 32;
static_assert(ADAPTYST_STEP_DEEPER < step_count, "each has its skip count");

// True if events on this step include their nested events.
ADAPTYST_DETAIL_INLINE bool takes_subtree(uint64_t step) noexcept {
  return step - (ADAPTYST_STEP_SUBTREE + 1) < uint64_t{ADAPTYST_STEP_LAST - ADAPTYST_STEP_SUBTREE};
}

}}}  // namespace adaptyst::v1::detail

#endif
