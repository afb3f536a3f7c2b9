// expect: error
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

struct load {
  double flops;
};

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu, load{1});
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", gpu, load{1}, load{2});
#endif
}
