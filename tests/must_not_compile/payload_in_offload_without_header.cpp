// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/offload.hpp>

struct load {
  double flops;
};

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu);
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", gpu, load{1});
#endif
}
