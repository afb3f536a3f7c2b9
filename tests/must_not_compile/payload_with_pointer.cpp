// expect: members of a payload are numbers, enumerations, const char\* or std::string_view; convert
#include <adaptyst/payload.hpp>

struct load {
#ifdef MISUSE
  const double* field;
#else
  const char* field;
#endif
};

void f() { ADAPTYST_REGION("solve", load{nullptr}); }
