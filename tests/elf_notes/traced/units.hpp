// Markers of every kind in several units of one ELF object: it must carry each probe once all the same.
#ifndef ADAPTYST_TESTS_ELF_NOTES_TRACED_UNITS_HPP
#define ADAPTYST_TESTS_ELF_NOTES_TRACED_UNITS_HPP

#include <adaptyst/metric.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/region.hpp>

const adaptyst::device traced_gpu{adaptyst::device_kind::gpu, 0, "traced"};

inline void in_all_units() { ADAPTYST_FUNCTION(); }

template <int Number>
void in_template() {
  ADAPTYST_REGION("template");
  ADAPTYST_METRIC("number", Number);
}

__attribute__((visibility("default"))) void second_unit();
__attribute__((visibility("default"))) void third_unit();

#endif
