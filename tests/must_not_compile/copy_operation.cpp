// expect: deleted|is private
#include <adaptyst/operation.hpp>

#include <utility>

void f(const adaptyst::device& gpu) {
  adaptyst::operation operation = adaptyst::submit("solve", gpu, 0, adaptyst::operation_kind::kernel);
#ifdef MISUSE
  adaptyst::operation two = operation;
#else
  adaptyst::operation two = std::move(operation);
#endif
  two.complete(1, 2);
}
