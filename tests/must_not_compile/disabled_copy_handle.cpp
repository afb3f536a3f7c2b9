// expect: deleted|is private
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

#include <utility>

void f() {
  adaptyst::region_handle handle = ADAPTYST_REGION_BEGIN("solve");
#ifdef MISUSE
  adaptyst::region_handle two = handle;
#else
  adaptyst::region_handle two = std::move(handle);
#endif
  two.end();
}
