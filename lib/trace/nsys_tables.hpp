// What a question to a table of Nsight Systems looks like, whatever columns it has.
#ifndef ADAPTYST_LIB_TRACE_NSYS_TABLES_HPP
#define ADAPTYST_LIB_TRACE_NSYS_TABLES_HPP

#include <cstdint>
#include <initializer_list>
#include <string>

#include "sqlite_database.hpp"

namespace adaptyst::lib::nsys {

constexpr const char* kernels = "CUPTI_ACTIVITY_KIND_KERNEL";
constexpr const char* copies = "CUPTI_ACTIVITY_KIND_MEMCPY";
constexpr const char* fills = "CUPTI_ACTIVITY_KIND_MEMSET";
constexpr const char* runtime = "CUPTI_ACTIVITY_KIND_RUNTIME";
constexpr const char* ranges = "NVTX_EVENTS";
constexpr const char* system_calls = "OSRT_API";
constexpr const char* mpi_tables[] = {"MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS",
                                      "MPI_OTHER_EVENTS"};

// Eight bits of a number of its virtual machine, then 24 of the process and 24 of the thread.
constexpr std::int64_t process_number(std::int64_t global) { return global >> 24 & 0xffffff; }
constexpr std::int64_t thread_number(std::int64_t global) { return global & 0xffffff; }

// A list of columns for SELECT: one that the table lacks is NULL, and "a|b" is the first of those that it has.
std::string select(const sqlite_database& in, const std::string& table, std::initializer_list<const char*> wanted);

const char* copy_kind(std::int64_t kind);

}  // namespace adaptyst::lib::nsys

#endif
