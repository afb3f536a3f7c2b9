// What test_support's precompiled header is made for: main.cpp, which defines what that header declares, cannot use it.
#include "catch.hpp"
