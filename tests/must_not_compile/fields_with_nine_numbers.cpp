// expect: a payload has at most 8 numbers
#include <adaptyst/payload.hpp>

struct load {
  int a, b, c, d, e, f, g, h, i;
#ifdef MISUSE
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h, i);
#else
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }
