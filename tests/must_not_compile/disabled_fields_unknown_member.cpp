// expect: ADAPTYST_FIELDS\(load, \.\.\.\) lists cels, which is no member
// flags: -DADAPTYST_DISABLE
#include <adaptyst/payload.hpp>

struct load {
  int cells;
#ifdef MISUSE
  ADAPTYST_FIELDS(load, cells, cels);
#else
  ADAPTYST_FIELDS(load, cells);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }
