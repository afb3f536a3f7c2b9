/* What the units of these programs call of each other. */
#ifndef ADAPTYST_TESTS_HEADERS_C_UNIT_H
#define ADAPTYST_TESTS_HEADERS_C_UNIT_H

#ifdef __cplusplus
extern "C" {
#endif

int grammar(const char* name, double value, long queue); /* 1: it computes what it should */
void in_library(void (*inside)(void));                   /* calls it in a scope that is in a pair */

#ifdef __cplusplus
}
#endif

#endif
