/* Functions that Kokkos calls in a tool: those of version 20240906 of its interface that this adapter has. */
#ifndef ADAPTYST_ADAPTERS_KOKKOS_TOOLS_INTERFACE_H
#define ADAPTYST_ADAPTERS_KOKKOS_TOOLS_INTERFACE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Passed by value; the name may fill the array without a NUL. */
struct kokkos_space {
  char name[64];
};

struct kokkos_settings {
  bool requires_global_fencing; /* true for a tool that does not set it */
  bool reserved[255];
};

void kokkosp_init_library(int load_sequence, uint64_t version, uint32_t devices, void* device_infos);
void kokkosp_print_help(char* program);
void kokkosp_request_tool_settings(uint32_t settings_known, struct kokkos_settings* settings);

/* A device is type << 24 | number << 17 | instance. */
void kokkosp_begin_parallel_for(const char* name, uint32_t device, uint64_t* kernel);
void kokkosp_begin_parallel_reduce(const char* name, uint32_t device, uint64_t* kernel);
void kokkosp_begin_parallel_scan(const char* name, uint32_t device, uint64_t* kernel);
void kokkosp_end_parallel_for(uint64_t kernel);
void kokkosp_end_parallel_reduce(uint64_t kernel);
void kokkosp_end_parallel_scan(uint64_t kernel);
void kokkosp_begin_fence(const char* name, uint32_t device, uint64_t* fence);
void kokkosp_end_fence(uint64_t fence);

void kokkosp_push_profile_region(const char* name);
void kokkosp_pop_profile_region(void);
void kokkosp_create_profile_section(const char* name, uint32_t* section);
void kokkosp_start_profile_section(uint32_t section);
void kokkosp_stop_profile_section(uint32_t section);
void kokkosp_destroy_profile_section(uint32_t section);
void kokkosp_profile_event(const char* name);

void kokkosp_allocate_data(struct kokkos_space space, const char* label, const void* data, uint64_t bytes);
void kokkosp_deallocate_data(struct kokkos_space space, const char* label, const void* data, uint64_t bytes);
void kokkosp_begin_deep_copy(struct kokkos_space to, const char* to_label, const void* to_data,
                             struct kokkos_space from, const char* from_label, const void* from_data, uint64_t bytes);
void kokkosp_end_deep_copy(void);

#ifdef __cplusplus
}
#endif

#endif
