// expect: submit
// flags: -DADAPTYST_DISABLE
#include <adaptyst/adaptyst.hpp>

void f(const adaptyst::device& gpu) {
  adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel).complete(1, 2);
#ifdef MISUSE
  adaptyst::submit("solve", 0, 0, adaptyst::operation_kind::kernel).complete(1, 2);
#endif
}
