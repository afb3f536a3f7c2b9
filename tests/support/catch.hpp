// All tests include Catch2 by way of this header: Catch2 3 has another header than 2.13, which is Debian 12's.
#ifndef ADAPTYST_TESTS_SUPPORT_CATCH_HPP
#define ADAPTYST_TESTS_SUPPORT_CATCH_HPP

// An exception in a CHECK ends its test case, which it did not have to: each such macro compiles a fifth quicker.
#define CATCH_CONFIG_FAST_COMPILE
#ifdef ADAPTYST_TEST_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#endif
