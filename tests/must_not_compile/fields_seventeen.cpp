// expect: ADAPTYST_FIELDS\(load, \.\.\.\) takes at most 16 members
#include <adaptyst/payload.hpp>

struct load {
  const char *a, *b, *c, *d, *e, *f, *g, *h, *i, *j, *k, *l, *m, *n, *o, *p;
#ifdef MISUSE
  const char* q;
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
#else
  ADAPTYST_FIELDS(load, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }
