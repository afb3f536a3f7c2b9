// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve");
#endif
}
