// Runs a step whose failure is reported, but does not stop the other steps.
#ifndef ADAPTYST_LIB_SESSION_BESIDE_THE_REST_HPP
#define ADAPTYST_LIB_SESSION_BESIDE_THE_REST_HPP

#include <exception>

#include "../support/error.hpp"

namespace adaptyst::lib {

template <class Step>
void beside_the_rest(Step&& step) noexcept {
  try {
    step();
  } catch (const std::exception& failed) {
    complain(failed.what());
  }
}

}  // namespace adaptyst::lib

#endif
