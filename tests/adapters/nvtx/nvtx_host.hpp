// The program's side of NVTX, written from the published headers by itself: the adapter's restatement of the interface
// is not used. Each program or library that includes this has NVTX of its own, which looks for a tool at its first call.
#ifndef ADAPTYST_TESTS_NVTX_HOST_HPP
#define ADAPTYST_TESTS_NVTX_HOST_HPP

#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

// A tool that is linked into the program defines it.
extern "C" __attribute__((weak)) int (*InitializeInjectionNvtx2_fnptr)(const void* (*)(std::uint32_t));

namespace {

struct nvtxDomainRegistration;
using nvtxDomainHandle_t = nvtxDomainRegistration*;
struct nvtxStringRegistration;
using nvtxStringHandle_t = nvtxStringRegistration*;
using nvtxRangeId_t = std::uint64_t;

enum { NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2, NVTX_MESSAGE_TYPE_REGISTERED = 3 };
enum {
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
  NVTX_PAYLOAD_TYPE_INT64,
  NVTX_PAYLOAD_TYPE_DOUBLE,
  NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
  NVTX_PAYLOAD_TYPE_INT32,
  NVTX_PAYLOAD_TYPE_FLOAT,
};
constexpr int NVTX_NO_PUSH_POP_TRACKING = -2;

struct nvtxEventAttributes_t {
  std::uint16_t version = 3;
  std::uint16_t size = 48;
  std::uint32_t category = 0;
  std::int32_t colorType = 0;
  std::uint32_t color = 0;
  std::int32_t payloadType = 0;
  std::int32_t reserved0 = 0;
  union {
    std::uint64_t ullValue = 0;
    std::int64_t llValue;
    double dValue;
    std::uint32_t uiValue;
    std::int32_t iValue;
    float fValue;
  } payload;
  std::int32_t messageType = 0;
  union {
    const char* ascii = nullptr;
    const wchar_t* unicode;
    nvtxStringHandle_t registered;
  } message;
};
static_assert(sizeof(nvtxEventAttributes_t) == 48);

namespace nvtx_host {

using any = void (*)();
enum state { fresh, started, complete };
any core[17], core2[17];  // by the numbers of the published tables
any* core_places[17];
any* core2_places[17];
std::atomic<int> initialised{fresh};

int get_module_functions(std::uint32_t module, any*** table, unsigned* size) {
  for (unsigned at = 1; at != 16; ++at) {
    core_places[at] = &core[at];
    core2_places[at] = &core2[at];
  }
  if (module != 1 && module != 5) return 0;
  if (size != nullptr) *size = 16;
  if (table != nullptr) *table = module == 1 ? core_places : core2_places;
  return 1;
}

struct {
  std::size_t struct_size;
  int (*get)(std::uint32_t, any***, unsigned*);
} callbacks_table = {16, get_module_functions};

const void* get_export_table(std::uint32_t number) { return number == 1 ? &callbacks_table : nullptr; }

void initialise() {
  int expected = fresh;
  if (!initialised.compare_exchange_strong(expected, started)) {
    while (initialised != complete) sched_yield();
    return;
  }
  using injection = int (*)(const void* (*)(std::uint32_t));
  injection tool = nullptr;
  void* library = nullptr;
  if (const char* const path = std::getenv("NVTX_INJECTION64_PATH")) {
    library = dlopen(path, RTLD_LAZY);
    if (library != nullptr) tool = reinterpret_cast<injection>(dlsym(library, "InitializeInjectionNvtx2"));
  } else if (&InitializeInjectionNvtx2_fnptr != nullptr) {
    tool = InitializeInjectionNvtx2_fnptr;
  }
  if (tool != nullptr && tool(get_export_table) == 0 && library != nullptr) dlclose(library);
  initialised = complete;
}

template <class Result, class... Arguments>
Result call(any* table, unsigned number, Result otherwise, Arguments... arguments) {
  initialise();
  const any function = table[number];
  return function != nullptr ? reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...) : otherwise;
}
template <class... Arguments>
void run(any* table, unsigned number, Arguments... arguments) {
  initialise();
  const any function = table[number];
  if (function != nullptr) reinterpret_cast<void (*)(Arguments...)>(function)(arguments...);
}

}  // namespace nvtx_host

#define NVTX_CALL [[maybe_unused]] inline
using attributes_pointer = const nvtxEventAttributes_t*;

NVTX_CALL void nvtxMarkEx(attributes_pointer event) { nvtx_host::run(nvtx_host::core, 1, event); }
NVTX_CALL void nvtxMarkA(const char* message) { nvtx_host::run(nvtx_host::core, 2, message); }
NVTX_CALL void nvtxMarkW(const wchar_t* message) { nvtx_host::run(nvtx_host::core, 3, message); }
NVTX_CALL nvtxRangeId_t nvtxRangeStartEx(attributes_pointer event) {
  return nvtx_host::call(nvtx_host::core, 4, nvtxRangeId_t{0}, event);
}
NVTX_CALL nvtxRangeId_t nvtxRangeStartA(const char* message) {
  return nvtx_host::call(nvtx_host::core, 5, nvtxRangeId_t{0}, message);
}
NVTX_CALL nvtxRangeId_t nvtxRangeStartW(const wchar_t* message) {
  return nvtx_host::call(nvtx_host::core, 6, nvtxRangeId_t{0}, message);
}
NVTX_CALL void nvtxRangeEnd(nvtxRangeId_t id) { nvtx_host::run(nvtx_host::core, 7, id); }
NVTX_CALL int nvtxRangePushEx(attributes_pointer event) {
  return nvtx_host::call(nvtx_host::core, 8, NVTX_NO_PUSH_POP_TRACKING, event);
}
NVTX_CALL int nvtxRangePushA(const char* message) {
  return nvtx_host::call(nvtx_host::core, 9, NVTX_NO_PUSH_POP_TRACKING, message);
}
NVTX_CALL int nvtxRangePushW(const wchar_t* message) {
  return nvtx_host::call(nvtx_host::core, 10, NVTX_NO_PUSH_POP_TRACKING, message);
}
NVTX_CALL int nvtxRangePop() { return nvtx_host::call(nvtx_host::core, 11, NVTX_NO_PUSH_POP_TRACKING); }
NVTX_CALL void nvtxNameCategoryA(std::uint32_t number, const char* name) {
  nvtx_host::run(nvtx_host::core, 12, number, name);
}
NVTX_CALL void nvtxNameCategoryW(std::uint32_t number, const wchar_t* name) {
  nvtx_host::run(nvtx_host::core, 13, number, name);
}
NVTX_CALL void nvtxNameOsThreadA(std::uint32_t thread, const char* name) {
  nvtx_host::run(nvtx_host::core, 14, thread, name);
}
NVTX_CALL void nvtxNameOsThreadW(std::uint32_t thread, const wchar_t* name) {
  nvtx_host::run(nvtx_host::core, 15, thread, name);
}

NVTX_CALL void nvtxDomainMarkEx(nvtxDomainHandle_t domain, attributes_pointer event) {
  nvtx_host::run(nvtx_host::core2, 1, domain, event);
}
NVTX_CALL nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, attributes_pointer event) {
  return nvtx_host::call(nvtx_host::core2, 2, nvtxRangeId_t{0}, domain, event);
}
NVTX_CALL void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  nvtx_host::run(nvtx_host::core2, 3, domain, id);
}
NVTX_CALL int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, attributes_pointer event) {
  return nvtx_host::call(nvtx_host::core2, 4, NVTX_NO_PUSH_POP_TRACKING, domain, event);
}
NVTX_CALL int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
  return nvtx_host::call(nvtx_host::core2, 5, NVTX_NO_PUSH_POP_TRACKING, domain);
}
NVTX_CALL void* nvtxDomainResourceCreate(nvtxDomainHandle_t domain, void* attributes) {
  return nvtx_host::call(nvtx_host::core2, 6, static_cast<void*>(nullptr), domain, attributes);
}
NVTX_CALL void nvtxDomainResourceDestroy(void* resource) { nvtx_host::run(nvtx_host::core2, 7, resource); }
NVTX_CALL void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, std::uint32_t number, const char* name) {
  nvtx_host::run(nvtx_host::core2, 8, domain, number, name);
}
NVTX_CALL void nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, std::uint32_t number, const wchar_t* name) {
  nvtx_host::run(nvtx_host::core2, 9, domain, number, name);
}
NVTX_CALL nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char* text) {
  return nvtx_host::call(nvtx_host::core2, 10, nvtxStringHandle_t{nullptr}, domain, text);
}
NVTX_CALL nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t* text) {
  return nvtx_host::call(nvtx_host::core2, 11, nvtxStringHandle_t{nullptr}, domain, text);
}
NVTX_CALL nvtxDomainHandle_t nvtxDomainCreateA(const char* name) {
  return nvtx_host::call(nvtx_host::core2, 12, nvtxDomainHandle_t{nullptr}, name);
}
NVTX_CALL nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t* name) {
  return nvtx_host::call(nvtx_host::core2, 13, nvtxDomainHandle_t{nullptr}, name);
}
NVTX_CALL void nvtxDomainDestroy(nvtxDomainHandle_t domain) { nvtx_host::run(nvtx_host::core2, 14, domain); }
NVTX_CALL void nvtxInitialize(const void* reserved) { nvtx_host::run(nvtx_host::core2, 15, reserved); }

}  // namespace

#endif
