// expect: deleted|is private
#include <adaptyst/operation.hpp>

#include <utility>

void f(const adaptyst::device& gpu) {
  adaptyst::operation one = adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#ifdef MISUSE
  adaptyst::operation two = one;
#else
  adaptyst::operation two = std::move(one);
#endif
  two.complete(1, 2);
}
