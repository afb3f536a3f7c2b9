// Opens CUPTI when it is needed; it may not be installed.
#ifndef ADAPTYST_ADAPTERS_CUDA_CUPTI_LIBRARY_HPP
#define ADAPTYST_ADAPTERS_CUDA_CUPTI_LIBRARY_HPP

#include <string>

#include "cupti_abi.hpp"

namespace cupti {

struct library {
  result (*get_version)(std::uint32_t* version) = nullptr;
  result (*get_result_string)(result what, const char** text) = nullptr;
  result (*register_timestamp)(timestamp_function* clock) = nullptr;  // older versions lack it
  result (*register_buffers)(request_function* request, complete_function* complete) = nullptr;
  result (*subscribe)(void** subscriber, call_function* callback, void* data) = nullptr;
  result (*enable_callback)(std::uint32_t on, void* subscriber, int domain, std::uint32_t function) = nullptr;
  result (*get_callback_name)(int domain, std::uint32_t function, const char** name) = nullptr;
  result (*get_device_id)(const void* context, std::uint32_t* device) = nullptr;  // may be called in callbacks
  result (*enable)(activity kind) = nullptr;
  result (*disable)(activity kind) = nullptr;
  result (*flush_all)(std::uint32_t flags) = nullptr;
  result (*next_record)(std::uint8_t* buffer, std::size_t valid_bytes, void** record) = nullptr;
  result (*get_dropped)(void* context, std::uint32_t stream, std::size_t* dropped) = nullptr;
};

// Returns a description of what is missing; empty if nothing is. $ADAPTYST_CUPTI names another file.
std::string open(library& opened);

// CUPTI's name for a result.
std::string error_text(const library& in, result what);

}  // namespace cupti

#endif
