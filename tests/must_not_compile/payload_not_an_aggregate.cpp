// expect: a payload is an aggregate: a struct without constructors, bases or private members
#include <adaptyst/payload.hpp>

struct load {
#ifdef MISUSE
  explicit load(double value) : flops(value) {}
#endif
  double flops;
};

void f() { ADAPTYST_REGION("solve", load{1}); }
