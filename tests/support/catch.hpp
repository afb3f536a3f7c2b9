// Catch2 as Debian 12 has it (2.13), or newer.
#ifndef ADAPTYST_TESTS_SUPPORT_CATCH_HPP
#define ADAPTYST_TESTS_SUPPORT_CATCH_HPP

#ifdef ADAPTYST_TEST_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#endif
