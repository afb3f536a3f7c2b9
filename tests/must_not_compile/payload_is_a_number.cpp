// expect: a payload is an aggregate
#include <adaptyst/payload.hpp>

struct load {
  int cells;
};

void f(int cells) {
#ifdef MISUSE
  ADAPTYST_REGION("solve", cells);
#else
  ADAPTYST_REGION("solve", load{cells});
#endif
}
