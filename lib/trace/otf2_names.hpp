// Names in our OTF2 archives by which the reader finds what the format has no field for.
#ifndef ADAPTYST_LIB_TRACE_OTF2_NAMES_HPP
#define ADAPTYST_LIB_TRACE_OTF2_NAMES_HPP

#include <otf2/otf2.h>

#include <cstdarg>
#include <cstdint>
#include <utility>

namespace adaptyst::lib {

enum otf2_attribute : std::uint32_t { otf2_bytes, otf2_correlation, otf2_submitted, otf2_event };
constexpr std::pair<otf2_attribute, const char*> otf2_attributes[] = {{otf2_bytes, "adaptyst::bytes"},
                                                                      {otf2_correlation, "adaptyst::correlation"},
                                                                      {otf2_submitted, "adaptyst::submitted"},
                                                                      {otf2_event, "adaptyst::event"}};
constexpr const char* otf2_program_property = "adaptyst::program";
constexpr const char* otf2_process_property = "adaptyst::process";
constexpr const char* otf2_device_property = "adaptyst::device";
constexpr const char* otf2_number_property = "adaptyst::number";  // of a thread or queue

constexpr const char* otf2_unknown_host = "unknown host";

// Score-P names the process of a rank with this and its number.
constexpr const char* otf2_rank_name = "MPI Rank ";
constexpr const char* otf2_self_name = "MPI_COMM_SELF";
constexpr const char* otf2_world_name = "MPI_COMM_WORLD";

// Failed calls return the reason; libotf2 would print it as well.
inline OTF2_ErrorCode ignore_otf2_error(void* /*data*/, const char* /*file*/, std::uint64_t /*line*/,
                                        const char* /*function*/, OTF2_ErrorCode code, const char* /*format*/,
                                        va_list /*arguments*/) {
  return code;
}

}  // namespace adaptyst::lib

#endif
