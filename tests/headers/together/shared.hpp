// Included by both units of the program and by the library. The inline function and the template have markers, so each
// of the three has a copy of those, and each event must be counted once all the same.
#ifndef ADAPTYST_TESTS_HEADERS_TOGETHER_SHARED_HPP
#define ADAPTYST_TESTS_HEADERS_TOGETHER_SHARED_HPP

#include <adaptyst/adaptyst.hpp>

// So that the program finds a function of the library that is compiled with -fvisibility=hidden.
#define TOGETHER_EXPORTED __attribute__((visibility("default")))

inline void shared_inline() { ADAPTYST_REGION("shared inline"); }

template <class T>
void shared_template(T) {
  ADAPTYST_REGION("shared template");
  shared_inline();
}

// Constant, so each unit has an object of its own for the same device.
const adaptyst::device shared_gpu{adaptyst::device_kind::gpu, 0, "shared"};

void other_unit();
TOGETHER_EXPORTED void library();
TOGETHER_EXPORTED adaptyst::region_handle begun_in_library();

#endif
