// expect: a payload has at most 8 numbers
#include <adaptyst/payload.hpp>

struct load {
  int a, b, c, d, e, f, g, h;
#ifdef MISUSE
  int one_too_many;
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }
