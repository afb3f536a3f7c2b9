// Included by every unit: one inline function and one template that all of them have.
#ifndef ADAPTYST_TESTS_HEADERS_TOGETHER_SHARED_HPP
#define ADAPTYST_TESTS_HEADERS_TOGETHER_SHARED_HPP

#include <adaptyst/adaptyst.hpp>

#if defined __GNUC__
#define TOGETHER_EXPORTED __attribute__((visibility("default")))
#endif

inline void shared_inline() { ADAPTYST_REGION("shared inline"); }

template <class T>
void shared_template(T) {
  ADAPTYST_REGION("shared template");
  shared_inline();
}

const adaptyst::device shared_gpu{adaptyst::device_kind::gpu, 0, "shared"};

void other_unit();
TOGETHER_EXPORTED void library();
TOGETHER_EXPORTED adaptyst::region_handle begun_in_library();

#endif
