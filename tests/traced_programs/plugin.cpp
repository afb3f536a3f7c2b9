// A library with markers, to be loaded at run time.
#include <adaptyst/region.hpp>

extern "C" void run(int times) {
  for (int i = 0; i != times; ++i) {
    ADAPTYST_REGION("plugin");
  }
}
