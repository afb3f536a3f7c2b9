// expect: adaptyst: ADAPTYST_REGION\(name\) or \(name, payload\)
#include <adaptyst/payload.hpp>

struct load {
  double flops;
};

void f() {
  ADAPTYST_REGION("solve", load{1});
#ifdef MISUSE
  ADAPTYST_REGION("solve", load{1}, load{2});
#endif
}
