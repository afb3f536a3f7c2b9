// Markers that run before main().
#include <adaptyst/adaptyst.hpp>
#include <unistd.h>

namespace {

struct early {
  early() { ADAPTYST_REGION("static object"); }
} const object;
__attribute__((constructor(101))) void first() { ADAPTYST_REGION("constructor 101"); }
__attribute__((constructor)) void later() { ADAPTYST_REGION("constructor"); }
__attribute__((destructor)) void last() { ADAPTYST_REGION("destructor"); }

}  // namespace

int main() { ADAPTYST_REGION("main"); }
