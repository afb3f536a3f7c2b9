#ifdef ADAPTYST_TEST_CATCH2_V3
#include <catch2/catch_session.hpp>
int main(int count, char* arguments[]) { return Catch::Session().run(count, arguments); }
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
