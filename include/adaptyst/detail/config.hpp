// Version, compiler checks, build options and attribute names.
//
// ADAPTYST_DISABLE, defined before the first include, compiles markers away; arguments are still type-checked.
//
// ADAPTYST_LINK_MARKERS: the ELF object links with libadaptyst_markers.a, and functions of enabled markers are not
// compiled in each translation unit. CMake target adaptyst::markers does both. Both kinds of units may be linked
// together. With a sanitizer, build the library with it as well.
#ifndef ADAPTYST_DETAIL_CONFIG_HPP
#define ADAPTYST_DETAIL_CONFIG_HPP

#define ADAPTYST_VERSION_MAJOR 0
#define ADAPTYST_VERSION_MINOR 1
#define ADAPTYST_VERSION_PATCH 0

#if __cplusplus < 201703L
#error "adaptyst: the headers are C++17: compile with -std=c++17 or a later standard"
#endif

#if !defined(__linux__) || !defined(__LP64__)
#error "adaptyst: markers need 64-bit Linux; define ADAPTYST_DISABLE and guard the include elsewhere"
#endif

#define ADAPTYST_DETAIL_COLD __attribute__((cold, noinline, visibility("hidden")))
#define ADAPTYST_DETAIL_HIDDEN __attribute__((visibility("hidden")))
#define ADAPTYST_DETAIL_INLINE __attribute__((always_inline)) inline
#define ADAPTYST_DETAIL_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
#define ADAPTYST_DETAIL_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)

// ThreadSanitizer checks the program: GCC defines a macro, Clang has a feature.
#if defined(__SANITIZE_THREAD__)
#define ADAPTYST_DETAIL_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ADAPTYST_DETAIL_THREAD_SANITIZER
#endif
#endif

#endif
