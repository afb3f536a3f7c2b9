// A stub of CUPTI, not NVIDIA's: exports what libadaptyst-cuda.so uses, and hands over the records that a test scripts.
//
// $CUPTI_STUB_FAILS=FUNCTION:RESULT makes one function fail; $CUPTI_STUB_WITHOUT_CLOCK=1 refuses a clock of the tool's
// own, so that times are CLOCK_REALTIME.
#include "cupti_stub.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <vector>

namespace {

using request_function = void(std::uint8_t**, std::size_t*, std::size_t*);
using complete_function = void(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
using call_function = void(void*, int, std::uint32_t, const void*);

const pid_t process = getpid();
std::mutex lock;
const int frees_lock_in_children = pthread_atfork(nullptr, nullptr, [] { new (&lock) std::mutex; });
std::uint64_t (*clock_of_tool)() = nullptr;
request_function* request = nullptr;
complete_function* complete = nullptr;
call_function* callback = nullptr;
void* data_of_callback = nullptr;
std::set<int> kinds;
std::set<std::pair<int, std::uint32_t>> functions;
std::uint8_t* buffer = nullptr;
std::size_t buffer_bytes = 0;
std::size_t used = 0;
std::size_t dropped = 0;
std::size_t flushes = 0;

// What CUPTI calls some functions; the numbers are the stub's own.
const std::map<std::uint32_t, const char*> names_by_domain[2] = {{{1, "cuLaunchKernel"},
                                                                  {2, "cuCtxSynchronize"},
                                                                  {3, "cuMemcpyDtoH_v2"},
                                                                  {4, "cuGraphLaunch"},
                                                                  {5, "cuInit"},
                                                                  {6, "cuMemAlloc_v2"},
                                                                  {7, "cuMemAllocPitch_v2"},
                                                                  {8, "cuMemAllocManaged"},
                                                                  {9, "cuMemAllocAsync_ptsz"},
                                                                  {10, "cuMemAllocAsync"},
                                                                  {11, "cuMemAllocFromPoolAsync"},
                                                                  {12, "cuMemFree_v2"},
                                                                  {13, "cuMemFreeAsync_ptsz"},
                                                                  {14, "cuMemFreeAsync"},
                                                                  {15, "cuMemAllocHost_v2"}},
                                                                 {{1, "cudaLaunchKernel_v7000"},
                                                                  {2, "cudaDeviceSynchronize_v3020"},
                                                                  {3, "cudaMemcpy_v3020"},
                                                                  {4, "cudaMemcpyAsync_v3020"},
                                                                  {5, "cudaGraphLaunch_v10000"},
                                                                  {6, "cudaMemset_v3020"},
                                                                  {7, "cudaGetLastError_v3020"},
                                                                  {8, "cudaProfilerStop_v4000"},
                                                                  {9, "cudaMemcpyPeerAsync_v4000"}}};

int answer(const char* function) {
  const char* const fails = std::getenv("CUPTI_STUB_FAILS");
  const std::size_t length = std::strlen(function);
  if (fails != nullptr && std::strncmp(fails, function, length) == 0 && fails[length] == ':')
    return std::atoi(fails + length + 1);
  return 0;
}

// With the lock held; the buffer goes to the tool without it.
void hand_over(std::unique_lock<std::mutex>& held) {
  std::uint8_t* const full = buffer;
  const std::size_t whole_bytes = buffer_bytes;
  const std::size_t bytes = used;
  buffer = nullptr;
  used = 0;
  if (full == nullptr) return;
  held.unlock();
  complete(nullptr, 0, full, whole_bytes, bytes);
  held.lock();
}

}  // namespace

#define STUB extern "C" __attribute__((visibility("default")))

STUB int cuptiGetVersion(std::uint32_t* version) {
  const char* const chosen = std::getenv("CUPTI_STUB_VERSION");
  *version = chosen != nullptr ? static_cast<std::uint32_t>(std::atoi(chosen)) : 130001;
  return answer("cuptiGetVersion");
}
STUB int cuptiGetResultString(int, const char** text) {
  *text = "RESULT_OF_THE_STUB";
  return 0;
}
STUB int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  if (!kinds.empty() || std::getenv("CUPTI_STUB_WITHOUT_CLOCK") != nullptr) return 1;
  clock_of_tool = clock;
  return 0;
}
STUB int cuptiActivityRegisterCallbacks(request_function* give, complete_function* take) {
  request = give;
  complete = take;
  return answer("cuptiActivityRegisterCallbacks");
}
STUB int cuptiSubscribe(void** subscriber, call_function* called, void* data) {
  callback = called;
  data_of_callback = data;
  *subscriber = &callback;
  return answer("cuptiSubscribe");
}
STUB int cuptiEnableCallback(std::uint32_t on, void* subscriber, int domain, std::uint32_t function) {
  if (subscriber != &callback) return 1;
  const std::lock_guard<std::mutex> held(lock);
  if (on != 0) {
    functions.insert({domain, function});
  } else {
    functions.erase({domain, function});
  }
  return 0;
}
STUB int cuptiGetCallbackName(int domain, std::uint32_t function, const char** name) {
  if (domain > 2) return 1;
  const auto found = names_by_domain[domain - 1].find(function);
  if (found == names_by_domain[domain - 1].end()) return 1;
  *name = found->second;
  return 0;
}
STUB int cuptiGetDeviceId(std::uint64_t context, std::uint32_t* device) {
  if (context < 0x1000) return 3;
  return *device = static_cast<std::uint32_t>(context - 0x1000), 0;
}
STUB int cuptiActivityEnable(int kind) {
  if (const int failed = answer("cuptiActivityEnable"); failed != 0) return failed;
  const std::lock_guard<std::mutex> held(lock);
  kinds.insert(kind);
  return 0;
}
STUB int cuptiActivityDisable(int kind) {
  const std::lock_guard<std::mutex> held(lock);
  kinds.erase(kind);
  return 0;
}
STUB int cuptiActivityFlushAll(std::uint32_t) {
  if (process != getpid()) std::fputs("the stub of CUPTI was called in a forked child\n", stderr);
  // Waits longer than the program lives, except in its main thread.
  if (std::getenv("CUPTI_STUB_WAITS") != nullptr && syscall(SYS_gettid) != getpid()) sleep(60);
  std::unique_lock<std::mutex> held(lock);
  ++flushes;
  hand_over(held);
  return 0;
}
// Each record lies behind its length.
STUB int cuptiActivityGetNextRecord(std::uint8_t* in, std::size_t valid_bytes, void** record) {
  std::uint8_t* at = in;
  if (*record != nullptr) {
    std::uint64_t bytes;
    at = static_cast<std::uint8_t*>(*record);
    std::memcpy(&bytes, at - sizeof bytes, sizeof bytes);
    at += bytes;
  }
  if (at >= in + valid_bytes) return 12;  // no more
  *record = at + sizeof(std::uint64_t);
  return 0;
}
STUB int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* count) {
  const std::lock_guard<std::mutex> held(lock);
  *count = dropped;
  dropped = 0;
  return 0;
}

// ---- for the test ---------------------------------------------------------------------------------------------------

STUB std::uint64_t cupti_stub_now() {
  if (clock_of_tool != nullptr) return clock_of_tool();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

STUB bool cupti_stub_enabled(int kind) {
  const std::lock_guard<std::mutex> held(lock);
  return kinds.count(kind) != 0;
}

STUB std::size_t cupti_stub_flushes() {
  const std::lock_guard<std::mutex> held(lock);
  return flushes;
}

namespace {
bool is_listening(int domain, std::uint32_t function) {
  const std::lock_guard<std::mutex> held(lock);
  return functions.count({domain, function}) != 0;
}

std::uint32_t find_function(int domain, const char* name) {
  std::uint32_t function = 0;
  for (const auto& [number, listed] : names_by_domain[domain - 1])
    if (std::strncmp(listed, name, std::strlen(name)) == 0 && std::strcspn(listed, "_") <= std::strlen(name))
      function = number;
  return function;
}
}  // namespace

STUB bool cupti_stub_driver_call(const char* name, bool enters, const void* parameters, int result,
                                 std::uint64_t context) {
  const std::uint32_t function = find_function(1, name);
  if (!is_listening(1, function)) return false;
  unsigned char call[72] = {};
  const int site = enters ? 0 : 1;
  int* const returned = enters ? nullptr : &result;
  std::memcpy(call, &site, 4);
  std::memcpy(call + 8, &name, 8);
  std::memcpy(call + 16, &parameters, 8);
  std::memcpy(call + 24, &returned, 8);
  std::memcpy(call + 40, &context, 8);
  callback(data_of_callback, 1, function, call);
  return true;
}

STUB void cupti_stub_resource(std::uint32_t event, std::uint64_t context) {
  const std::uint64_t resource[3] = {context, 0, 0};
  if (is_listening(3, event)) callback(data_of_callback, 3, event, resource);
}

STUB bool cupti_stub_call(int domain, const char* name, std::uint32_t correlation, bool enters) {
  const std::uint32_t function = find_function(domain, name);
  if (!is_listening(domain, function)) return false;
  unsigned char call[72] = {};
  const int site = enters ? 0 : 1;
  std::uint64_t shared = 0xDEAD;
  std::uint64_t* const shared_address = &shared;
  std::memcpy(call, &site, 4);
  std::memcpy(call + 8, &name, 8);
  std::memcpy(call + 56, &shared_address, 8);
  std::memcpy(call + 64, &correlation, 4);
  callback(data_of_callback, domain, function, call);
  return true;
}

STUB void cupti_stub_record(const void* record, std::uint64_t bytes) {
  std::unique_lock<std::mutex> held(lock);
  if (request == nullptr) return;  // no tool
  if (buffer != nullptr && used + sizeof bytes + bytes > buffer_bytes) hand_over(held);
  if (buffer == nullptr) {
    std::size_t max_records = 0;
    request(&buffer, &buffer_bytes, &max_records);
    if (buffer == nullptr) {
      ++dropped;
      return;
    }
  }
  std::memcpy(buffer + used, &bytes, sizeof bytes);
  std::memcpy(buffer + used + sizeof bytes, record, bytes);
  used += sizeof bytes + bytes;
}

STUB void cupti_stub_drop(std::size_t count) {
  const std::lock_guard<std::mutex> held(lock);
  dropped += count;
}
