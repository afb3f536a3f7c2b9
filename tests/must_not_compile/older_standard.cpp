// expect: the headers are C\+\+17: compile with -std=c\+\+17
// misuse: -std=c++14
// alone
#include <adaptyst/region.hpp>

void f() { ADAPTYST_REGION("solve"); }
