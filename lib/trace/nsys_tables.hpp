// Names and numbers in the exports of Nsight Systems.
#ifndef ADAPTYST_LIB_TRACE_NSYS_TABLES_HPP
#define ADAPTYST_LIB_TRACE_NSYS_TABLES_HPP

#include <cstdint>
#include <optional>
#include <string>

#include "../model/copy_direction.hpp"

namespace adaptyst::lib::nsys {

constexpr const char* kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* graphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";  // whole graphs; their kernels are then in no table
constexpr const char* copies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* fills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* runtime = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* ranges = "NVTX_EVENTS";
constexpr const char* strings = "StringIds";
constexpr const char* string_text = "value";
constexpr const char* thread_names = "ThreadNames";
constexpr const char* system_calls = "OSRT_API";
constexpr const char* mpi_tables[] = {"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS",
                                      "MPI_OTHER_EVENTS"};

constexpr const char* kernel_names = "demangledName|shortName|mangledName";  // columns
constexpr const char* unnamed = "(unnamed)";

// Event types in NVTX_EVENTS.
constexpr std::int64_t mark = 34, push_pop = 59, start_end = 60;

// Eight bits for the virtual machine, then 24 for the process and 24 for the thread.
constexpr std::int64_t process_number(std::int64_t global) { return global >> 24 & 0xffffff; }
constexpr std::int64_t thread_number(std::int64_t global) { return global & 0xffffff; }

// In nsys_scan.cpp.
const char* copy_kind(std::int64_t kind);
std::optional<copy_direction> copy_direction_of(std::int64_t kind);
std::string graph_name(std::int64_t id);

}  // namespace adaptyst::lib::nsys

#endif
