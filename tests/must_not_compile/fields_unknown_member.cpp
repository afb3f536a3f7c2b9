// expect: ADAPTYST_FIELDS\(load, \.\.\.\) lists cels, which is no member
#include <adaptyst/payload.hpp>

struct load {
  int cells;
};
#ifdef MISUSE
ADAPTYST_FIELDS(load, cels);
#else
ADAPTYST_FIELDS(load, cells);
#endif

void f() { ADAPTYST_REGION("solve", load{}); }
