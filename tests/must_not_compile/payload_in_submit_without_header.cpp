// expect: a marker with a payload needs #include <adaptyst/payload.hpp>
#include <adaptyst/operation.hpp>

struct load {
  double flops;
};

adaptyst::operation f(const adaptyst::device& gpu) {
#ifdef MISUSE
  return adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel, load{1});
#else
  return adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#endif
}
