// expect: members of a payload are numbers, enumerations, const char\* or std::string_view; convert
#include <adaptyst/payload.hpp>

#include <vector>

struct load {
#ifdef MISUSE
  std::vector<int> cells;
#else
  std::size_t cells;
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }
