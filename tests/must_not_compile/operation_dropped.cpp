// expect: nodiscard|unused-result
#include <adaptyst/operation.hpp>

void f(const adaptyst::device& gpu) {
#ifdef MISUSE
  adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#else
  adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel).complete(1, 2);
#endif
}
