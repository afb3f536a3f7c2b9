// expect: members of a payload are numbers, enumerations, const char\* or std::string_view; convert
#include <adaptyst/payload.hpp>

#include <vector>

struct load {
  std::vector<int> cells;
  int count;
#ifdef MISUSE
  ADAPTYST_FIELDS(load, count, cells);
#else
  ADAPTYST_FIELDS(load, count);
#endif
};

void f() { ADAPTYST_REGION("solve", load{}); }
