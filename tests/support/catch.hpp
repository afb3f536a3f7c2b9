// All tests include Catch2 by way of this header: Catch2 3 has another header than 2.13, which is Debian 12's.
#ifndef ADAPTYST_TESTS_SUPPORT_CATCH_HPP
#define ADAPTYST_TESTS_SUPPORT_CATCH_HPP

// Each CHECK compiles quicker, without a handler of its own: an exception in it ends the test case.
#define CATCH_CONFIG_FAST_COMPILE
#ifdef ADAPTYST_TEST_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#endif
