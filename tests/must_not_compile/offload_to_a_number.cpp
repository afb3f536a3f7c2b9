// expect: begin_offload
#include <adaptyst/offload.hpp>

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", 0);
#endif
}
