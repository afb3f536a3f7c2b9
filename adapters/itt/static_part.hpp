// The parts of ITT, Intel's interface for annotations, that the adapter uses. Each program or library with annotations
// contains a static part: the functions that it calls, and this structure, which it passes to the tool. The tool
// replaces the functions.
//
// The layouts are those of 64-bit systems, from ittnotify_config.h and ittnotify.h in github.com/intel/ittapi, commits
// 52eddea (2019) to 07c2259 (2026), and of Debian's libtbb12 (2018). Later versions append members to the static part
// only. The adapter reads no member after the list of functions.
#ifndef ADAPTYST_ADAPTERS_ITT_STATIC_PART_HPP
#define ADAPTYST_ADAPTERS_ITT_STATIC_PART_HPP

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace adaptyst::itt {

struct function {
  const char* name;  // null: the end of the list
  void** call;
  void* initial;
  void* none;  // the value of *call if the tool has no such function
  int group;
};

struct static_part {
  unsigned char magic[8];
  unsigned long major_version;
  unsigned long minor_version;
  unsigned long build;  // a date: 20180723
  long states[3];
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** path;
  function* functions;
};

constexpr unsigned char magic[8] = {0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30};
constexpr unsigned long supported_version = 3;
// Until this build, a function had no member `none`.
constexpr unsigned long last_unsupported_build = 20101001;

inline bool has_magic(const static_part& part) noexcept { return std::memcmp(part.magic, magic, sizeof magic) == 0; }
inline bool is_supported(const static_part& part) noexcept {
  return part.major_version == supported_version && part.build > last_unsupported_build;
}

// Objects that the program creates through the tool, or before it has loaded the tool. It passes their addresses.
struct domain {
  volatile int flags;  // 0: the program calls nothing with this domain
  const char* name;
  void* wide_name;
  int reserved[1];
  void* tool_data;
  domain* next;
};

struct string_handle {
  const char* text;
  void* wide_text;
  int reserved[1];
  void* tool_data;
  string_handle* next;
};

enum class number_type : int { unknown, u64, s64, u32, s32, u16, s16, f32, f64 };

struct counter {
  const char* name;
  void* wide_name;
  const char* domain;
  void* wide_domain;
  int type;         // a number_type, or an unknown number
  void* others[4];  // in the order of the version
};

// Passed by value.
struct id {
  unsigned long long words[3];
};

static_assert(sizeof(void*) == 8 && sizeof(long) == 8, "INTEL_LIBITTNOTIFY64 is for 64-bit systems");
static_assert(sizeof(function) == 40 && offsetof(function, none) == 24, "layout of ITT");
static_assert(offsetof(static_part, mutex) == 56, "layout of ITT");
static_assert(offsetof(static_part, functions) == 80 + sizeof(pthread_mutex_t), "layout of ITT");
static_assert(sizeof(domain) == 48 && offsetof(domain, name) == 8, "layout of ITT");
static_assert(sizeof(string_handle) == 40, "layout of ITT");
static_assert(offsetof(counter, type) == 32 && sizeof(counter) >= 72, "layout of ITT");
static_assert(sizeof(id) == 24, "layout of ITT");

}  // namespace adaptyst::itt

#endif
