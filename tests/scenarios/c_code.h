/* What tests/scenarios/c.cpp calls: code in C with markers. */
#ifndef ADAPTYST_TESTS_SCENARIOS_C_CODE_H
#define ADAPTYST_TESTS_SCENARIOS_C_CODE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void c_calls_back(void (*inside)(void)); /* calls it in a scope, which is in a pair */
int c_leaves_early(int how);
void c_jumps_out(int jumps);
void c_pairs_left_early(int times);
void c_pair_across_functions(void);
void c_names(const char* name);
void c_handles(void (*on_another_thread)(void* handle, void (*end)(void*)));
void c_instants(int times);
void c_devices(void);
void c_ends_without_begin(int times);
void c_pairs_in_a_row(int times);
void c_phases(int times, void (*inside)(void)); /* calls it in each second phase */
void c_pair_begin(void);
void c_pair_end(void);
void c_nested_pairs(int depth);
void c_in_handler(void);
void c_short_pairs(uint64_t times);
void c_short_scopes(uint64_t times);
int c_counts_values(int times); /* how many values of a metric were evaluated */

#ifdef __cplusplus
}
#endif

#endif
