// expect: narrowing|cannot be narrowed|invalid conversion|cannot initialize|cannot convert
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

struct load {
  double flops;
};

void f() {
  ADAPTYST_REGION("solve", load{1.0});
#ifdef MISUSE
  ADAPTYST_REGION("solve", load{"one"});
#endif
}
