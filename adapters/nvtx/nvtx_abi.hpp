// The binary interface between NVTX and a tool, restated from NVTX 3's headers (github.com/NVIDIA/NVTX, nvtxTypes.h and
// nvToolsExt.h). The library of NVTX 2 (libnvToolsExt.so) has the same.
//
// Each program or library with NVTX calls the tool's InitializeInjectionNvtx2() at its first annotation, with a function
// that returns export tables. A table of functions contains, at each number, a pointer to the function pointer that
// NVTX calls. The tool overwrites these function pointers. NVTX sets the others to null.
#ifndef ADAPTYST_ADAPTERS_NVTX_NVTX_ABI_HPP
#define ADAPTYST_ADAPTERS_NVTX_NVTX_ABI_HPP

#include <cstddef>
#include <cstdint>

namespace adaptyst::nvtx {

using any_function = void (*)();
using get_export_table = const void*(std::uint32_t number);
using initialize_injection = int(get_export_table* get);  // returns 0 on failure

constexpr std::uint32_t callbacks_table = 1;

struct callbacks {
  std::size_t bytes;
  int (*get_functions)(std::uint32_t module, any_function*** functions, std::uint32_t* count);  // 0: no such module
};

enum module_number : std::uint32_t { core = 1, core2 = 5 };

namespace core_function {
enum number : std::uint32_t {
  mark_ex = 1,
  mark_a = 2,
  mark_w = 3,
  range_start_ex = 4,
  range_start_a = 5,
  range_start_w = 6,
  range_end = 7,
  range_push_ex = 8,
  range_push_a = 9,
  range_push_w = 10,
  range_pop = 11,
  name_category_a = 12,
  name_category_w = 13,
  name_os_thread_a = 14,
  name_os_thread_w = 15,
};
}

namespace core2_function {
enum number : std::uint32_t {
  mark_ex = 1,
  range_start_ex = 2,
  range_end = 3,
  range_push_ex = 4,
  range_pop = 5,
  name_category_a = 8,
  name_category_w = 9,
  register_string_a = 10,
  register_string_w = 11,
  create_a = 12,
  create_w = 13,
};
}

enum message_type : std::int32_t { message_unknown = 0, message_ascii = 1, message_wide = 2, message_registered = 3 };

enum color_type : std::int32_t { color_unknown = 0, color_argb = 1 };

enum payload_type : std::int32_t {
  payload_unknown = 0,
  payload_uint64 = 1,
  payload_int64 = 2,
  payload_double = 3,
  payload_uint32 = 4,
  payload_int32 = 5,
  payload_float = 6,
};

union payload_value {
  std::uint64_t of_uint64;
  std::int64_t of_int64;
  double of_double;
  std::uint32_t of_uint32;
  std::int32_t of_int32;
  float of_float;
};

union message_value {
  const char* ascii;
  const wchar_t* wide;
  const void* registered;
};

struct event_attributes {
  std::uint16_t version;
  std::uint16_t bytes;  // of this struct
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type;
  std::int32_t reserved;
  payload_value payload;
  std::int32_t message_type;
  message_value message;
};
static_assert(sizeof(event_attributes) == 48 && offsetof(event_attributes, payload) == 24 &&
              offsetof(event_attributes, message) == 40);

}  // namespace adaptyst::nvtx

#endif
