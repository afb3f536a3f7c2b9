// expect: payloads need Boost.PFR, from Boost 1.75 on
// without: pfr
#ifdef MISUSE
#include <adaptyst/payload.hpp>
#else
#include <adaptyst/region.hpp>
#endif

void f() { ADAPTYST_REGION("solve"); }
