// Includes everything and marks nothing.
#include <adaptyst/adaptyst.hpp>

int main() { return 0; }
