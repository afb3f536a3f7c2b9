// Whether a sanitizer has a heap and threads of its own in the program, and makes all of it slower: GCC defines a macro, Clang
// has a feature.
#ifndef ADAPTYST_TESTS_SUPPORT_SANITIZED_HPP
#define ADAPTYST_TESTS_SUPPORT_SANITIZED_HPP

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ADAPTYST_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ADAPTYST_TEST_SANITIZED 1
#endif
#endif

// How often a random test repeats: a sanitizer makes each round five to twenty times as slow, and takes a quarter of them.
// GCC's build takes all; scripts/fuzz runs for hours with sanitizers.
template <class Count>
constexpr Count random_rounds(Count all) {
#ifdef ADAPTYST_TEST_SANITIZED
  return all / 4;
#else
  return all;
#endif
}

#endif
