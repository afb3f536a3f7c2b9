// What libFuzzer, or replay.cpp, calls: anything may be given, and no harm may come of it. Worth most under
// AddressSanitizer and UndefinedBehaviorSanitizer.
#ifndef ADAPTYST_TESTS_FUZZ_TARGET_HPP
#define ADAPTYST_TESTS_FUZZ_TARGET_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Ends the program, as a bad access would, where what came out is not as promised.
#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

#endif
