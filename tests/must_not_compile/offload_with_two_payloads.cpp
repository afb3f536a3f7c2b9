// expect: adaptyst: ADAPTYST_OFFLOAD\(name, device\) or \(name, device, payload\)
#include <adaptyst/offload.hpp>
#include <adaptyst/payload.hpp>

struct load {
  double flops;
};

void f(const adaptyst::device& gpu) {
  ADAPTYST_OFFLOAD("solve", gpu, load{1});
#ifdef MISUSE
  ADAPTYST_OFFLOAD("solve", gpu, load{1}, load{2});
#endif
}
