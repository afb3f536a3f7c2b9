/* Five hundred functions to be probed, each of which saves a register first, so that it begins with a push. */
#define ONE(number)                                                                    \
  __attribute__((noinline, noclone)) int adaptyst_bench_function_##number(int value) { \
    __asm__ volatile("" : "+r"(value) : : "rbx");                                      \
    return value;                                                                      \
  }
#define TEN(tens) \
  ONE(tens##0)    \
  ONE(tens##1) ONE(tens##2) ONE(tens##3) ONE(tens##4) ONE(tens##5) ONE(tens##6) ONE(tens##7) ONE(tens##8) ONE(tens##9)
#define HUNDRED(hundreds) \
  TEN(hundreds##0)        \
  TEN(hundreds##1)        \
  TEN(hundreds##2)        \
  TEN(hundreds##3) TEN(hundreds##4) TEN(hundreds##5) TEN(hundreds##6) TEN(hundreds##7) TEN(hundreds##8) TEN(hundreds##9)
ONE(0)
HUNDRED(1)
HUNDRED(2)
HUNDRED(3)
HUNDRED(4)
HUNDRED(5)
