// expect: markers need 64-bit Linux
// alone
#ifdef MISUSE
#undef __linux__
#endif
#include <adaptyst/region.hpp>

void f() { ADAPTYST_REGION("solve"); }
