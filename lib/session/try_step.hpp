// Runs a step whose failure is reported, but does not stop the other steps.
#ifndef ADAPTYST_LIB_SESSION_TRY_STEP_HPP
#define ADAPTYST_LIB_SESSION_TRY_STEP_HPP

#include <exception>

#include "../support/error.hpp"

namespace adaptyst::lib {

template <class Step>
void try_step(Step&& step) noexcept {
  try {
    step();
  } catch (const std::exception& failed) {
    complain(failed.what());
  }
}

}  // namespace adaptyst::lib

#endif
