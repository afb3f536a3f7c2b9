// For tests of what a heap does: whether it is glibc's, and tells.
#ifndef ADAPTYST_TESTS_SUPPORT_HEAP_HPP
#define ADAPTYST_TESTS_SUPPORT_HEAP_HPP

#include <malloc.h>

#include "sanitized.hpp"

#if defined(__GLIBC_PREREQ) && !defined(ADAPTYST_TEST_SANITIZED)
#if __GLIBC_PREREQ(2, 33)
#define ADAPTYST_TEST_HEAP 1
#endif
#endif

#endif
