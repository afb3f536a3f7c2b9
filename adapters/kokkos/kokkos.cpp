// libadaptyst-kokkos.so: turns Kokkos's calls of a tool into regions, operations and metrics. docs/kokkos.md
//
// Kokkos calls on the thread that works, with names that are not valid after the call. On a device, it reports only
// that a kernel has been submitted, unless a tool makes it wait for each kernel. This changes how the program runs, so
// only the user can request it.
#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/metric.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "../memory_in_use.hpp"
#include "../open_operations.hpp"
#include "../open_regions.hpp"
#include "../thread_state.hpp"
#include "execution.hpp"
#include "kernel_names.hpp"
#include "tools_interface.h"

namespace adaptyst::kokkos { namespace {

std::string_view to_text(const char* name, std::string_view otherwise) noexcept {
  return name != nullptr && *name != '\0' ? std::string_view{name} : otherwise;
}

std::string_view to_text(const kokkos_space& space) noexcept {
  return {space.name, strnlen(space.name, sizeof space.name)};
}

bool is_enabled() noexcept { return detail::is_enabled(); }

bool is_fencing_requested() noexcept {
  static const bool is_wanted = [] {
    const char* const value = std::getenv("ADAPTYST_KOKKOS_FENCE");
    if (value == nullptr || std::strcmp(value, "no") == 0) return false;
    if (std::strcmp(value, "yes") == 0) return true;
    std::fprintf(stderr, "adaptyst: ADAPTYST_KOKKOS_FENCE=%s: unknown value, 'no' is used; choose from yes, no\n",
                 value);
    return false;
  }();
  return is_wanted;
}

// Kokkos waits for each kernel on request of this library. Otherwise, an end on a device only means that the kernel was
// submitted.
std::atomic<bool> is_fencing{false};

// A process usually uses one device of a type; names of memory spaces do not contain its number.
std::atomic<std::uint32_t> last_number[256];

adapters::memory_in_use memory;

device find_device(const space& space, std::string_view name) noexcept {
  if (space.is_known) return make_device(space.type, last_number[space.type].load(std::memory_order_relaxed));
  char named[40];
  std::snprintf(named, sizeof named, "Kokkos space %.*s", static_cast<int>(name.size()), name.data());
  return {device_kind::other, 0, named};
}

void explain_times(const device& on) noexcept {
  static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
  if (is_reported.test_and_set()) return;
  if (is_fencing.load(std::memory_order_relaxed))
    std::fprintf(stderr,
                 "adaptyst: %s, device %u: Kokkos waits for each kernel (ADAPTYST_KOKKOS_FENCE); nothing overlaps\n",
                 on.name(), on.index());
  else
    std::fprintf(stderr,
                 "adaptyst: %s, device %u: only the submission of kernels is observed, their duration is unknown; "
                 "ADAPTYST_KOKKOS_FENCE=yes makes Kokkos wait for each\n",
                 on.name(), on.index());
}

// Regions that another thread has ended. The thread that has begun them must abandon them. Otherwise, all later regions
// would be nested in them.
class ended_elsewhere {
 public:
  void add(std::uint64_t number) noexcept {
    const std::lock_guard<std::mutex> now(busy_);
    numbers_[next_++ % max_numbers] = number;
    any_.store(true, std::memory_order_release);
  }

  // Abandons the regions of this thread.
  void abandon() noexcept {
    if (!any_.load(std::memory_order_acquire)) return;
    const std::lock_guard<std::mutex> now(busy_);
    bool left = false;
    for (std::uint64_t& number : numbers_) {
      callback_region open = callback_region::of(number);
      if (open.is_open_here()) {
        open.abandon();
        number = 0;
      }
      left = left || number != 0;
    }
    any_.store(left, std::memory_order_release);
  }

 private:
  static constexpr unsigned max_numbers = 16;
  std::uint64_t numbers_[max_numbers]{};
  unsigned next_ = 0;
  std::atomic<bool> any_{false};
  std::mutex busy_;
};

ended_elsewhere strays;

thread_local adapters::open_regions regions;
thread_local adapters::open_operations copies;
thread_local callback_region host_copy;  // from host to host: a region without a device

std::uint64_t begin_kernel(const char* name, const char* function, std::uint32_t id) noexcept {
  if (!is_enabled()) return 0;
  strays.abandon();
  const execution on = execution::of(id);
  const source_place where{"", function, 0};
  const std::string_view kernel = find_kernel_name(to_text(name, "unnamed kernel"));
  if (on.is_host()) return callback_region::begin(kernel, where).number();
  last_number[on.type].store(on.number, std::memory_order_relaxed);
  const device runs_on = make_device(on.type, on.number);
  explain_times(runs_on);
  if (!is_fencing.load(std::memory_order_relaxed)) return callback_region::begin(kernel, where).number();
  return callback_region::begin_offload(kernel, runs_on, where).number();
}

void end_region(std::uint64_t number) noexcept {
  callback_region ended = callback_region::of(number);
  if (number != 0 && !ended.is_open_here()) strays.add(number);
  ended.end();
}

// A profile section may overlap others, and may be stopped by another thread.
struct section {
  char name[128];
  region_handle open;
  bool is_open;
  bool is_used;
};

constexpr std::uint32_t max_sections = 1024;
section* sections[max_sections];
std::mutex sections_busy;

// Call it with sections_busy held; null if there is no such section.
section* find_section(std::uint32_t number) noexcept {
  section* const found = number < max_sections ? sections[number] : nullptr;
  return found != nullptr && found->is_used ? found : nullptr;
}

}}  // namespace adaptyst::kokkos

using namespace adaptyst::kokkos;

#define KOKKOS_TOOL extern "C" __attribute__((visibility("default")))

KOKKOS_TOOL void kokkosp_init_library(int, uint64_t, uint32_t, void*) {}

// No kokkosp_finalize_library(): after it, Kokkos would report nothing, such as the frees of its scratch memory.

KOKKOS_TOOL void kokkosp_print_help(char*) {
  std::fputs(
      "adaptyst: ADAPTYST_KOKKOS_FENCE=yes waits for each kernel, so that devices' times are known; see "
      "docs/kokkos.md\n",
      stderr);
}

KOKKOS_TOOL void kokkosp_request_tool_settings(uint32_t settings_count, kokkos_settings* settings) {
  if (settings_count == 0 || settings == nullptr) return;
  settings->requires_global_fencing = is_fencing_requested();
  is_fencing = is_fencing_requested();
}

KOKKOS_TOOL void kokkosp_begin_parallel_for(const char* name, uint32_t device, uint64_t* kernel) {
  *kernel = begin_kernel(name, "Kokkos::parallel_for", device);
}
KOKKOS_TOOL void kokkosp_begin_parallel_reduce(const char* name, uint32_t device, uint64_t* kernel) {
  *kernel = begin_kernel(name, "Kokkos::parallel_reduce", device);
}
KOKKOS_TOOL void kokkosp_begin_parallel_scan(const char* name, uint32_t device, uint64_t* kernel) {
  *kernel = begin_kernel(name, "Kokkos::parallel_scan", device);
}
KOKKOS_TOOL void kokkosp_end_parallel_for(uint64_t kernel) { end_region(kernel); }
KOKKOS_TOOL void kokkosp_end_parallel_reduce(uint64_t kernel) { end_region(kernel); }
KOKKOS_TOOL void kokkosp_end_parallel_scan(uint64_t kernel) { end_region(kernel); }

KOKKOS_TOOL void kokkosp_begin_fence(const char* name, uint32_t device, uint64_t* fence) {
  *fence = 0;
  if (!is_enabled()) return;
  strays.abandon();
  const execution on = execution::of(device);
  const adaptyst::source_place where{"", "Kokkos::fence", 0};
  // A fence of a host backend waits for the host's own work, not for a device.
  if (on.is_host()) {
    *fence = adaptyst::callback_region::begin(to_text(name, "unnamed fence"), where).number();
    return;
  }
  last_number[on.type].store(on.number, std::memory_order_relaxed);
  *fence = adaptyst::callback_region::begin_wait(to_text(name, "unnamed fence"), where).number();
}
KOKKOS_TOOL void kokkosp_end_fence(uint64_t fence) { end_region(fence); }

KOKKOS_TOOL void kokkosp_push_profile_region(const char* name) {
  strays.abandon();
  adaptyst::adapters::find_once(regions).push(
      adaptyst::callback_region::begin(to_text(name, "unnamed region"), {"", "Kokkos::Profiling::pushRegion", 0}));
}
KOKKOS_TOOL void kokkosp_pop_profile_region() { adaptyst::adapters::find_once(regions).pop(); }

KOKKOS_TOOL void kokkosp_create_profile_section(const char* name, uint32_t* number) {
  *number = ~uint32_t{0};
  const std::lock_guard<std::mutex> now(sections_busy);
  for (uint32_t at = 0; at != max_sections; ++at) {
    if (find_section(at) != nullptr) continue;
    if (sections[at] == nullptr) sections[at] = new (std::nothrow) section{};
    if (sections[at] == nullptr) return;
    const std::string_view label = to_text(name, "unnamed section");
    const std::size_t bytes =
        label.size() < sizeof sections[at]->name - 1 ? label.size() : sizeof sections[at]->name - 1;
    std::memcpy(sections[at]->name, label.data(), bytes);
    sections[at]->name[bytes] = '\0';
    sections[at]->is_open = false;
    sections[at]->is_used = true;
    *number = at;
    return;
  }
}

KOKKOS_TOOL void kokkosp_start_profile_section(uint32_t number) {
  const std::lock_guard<std::mutex> now(sections_busy);
  section* const started = find_section(number);
  if (started == nullptr || started->is_open) return;
  started->open = ADAPTYST_HANDLE_BEGIN(started->name);
  started->is_open = true;
}

KOKKOS_TOOL void kokkosp_stop_profile_section(uint32_t number) {
  const std::lock_guard<std::mutex> now(sections_busy);
  section* const stopped = find_section(number);
  if (stopped == nullptr || !stopped->is_open) return adaptyst::callback_region::count_unmatched_end();
  stopped->open.end();
  stopped->is_open = false;
}

KOKKOS_TOOL void kokkosp_destroy_profile_section(uint32_t number) {
  const std::lock_guard<std::mutex> now(sections_busy);
  if (section* const destroyed = find_section(number)) destroyed->is_used = false;
}

KOKKOS_TOOL void kokkosp_profile_event(const char* name) {
  const std::string_view event = to_text(name, "unnamed event");
  ADAPTYST_MARK(event);
}

KOKKOS_TOOL void kokkosp_allocate_data(kokkos_space space, const char*, const void*, uint64_t bytes) {
  memory.allocate(to_text(space), bytes);
}

KOKKOS_TOOL void kokkosp_deallocate_data(kokkos_space space, const char*, const void*, uint64_t bytes) {
  memory.free(to_text(space), bytes);
}

KOKKOS_TOOL void kokkosp_begin_deep_copy(kokkos_space destination, const char* to_label, const void*, kokkos_space from,
                                         const char* from_label, const void*, uint64_t bytes) {
  if (!is_enabled()) return;
  strays.abandon();
  const std::string_view source = to_text(from_label, "unnamed");
  const std::string_view target = to_text(to_label, "unnamed");
  char name[128];
  std::snprintf(name, sizeof name, "copy %.*s to %.*s", static_cast<int>(source.size() < 57 ? source.size() : 57),
                source.data(), static_cast<int>(target.size()), target.data());
  const struct space source_space = space::of(to_text(from));
  const struct space target_space = space::of(to_text(destination));
  if (source_space.is_host && target_space.is_host) {
    host_copy = adaptyst::callback_region::begin(name, {"", "Kokkos::deep_copy", 0});
    ADAPTYST_METRIC("bytes", bytes);
    return;
  }
  const adaptyst::device on =
      target_space.is_host ? find_device(source_space, to_text(from)) : find_device(target_space, to_text(destination));
  const adaptyst::operation_kind kind = source_space.is_host   ? adaptyst::operation_kind::copy_to
                                        : target_space.is_host ? adaptyst::operation_kind::copy_from
                                                               : adaptyst::operation_kind::other;
  copies.begin(adaptyst::submit(name, on, 0, kind, adaptyst::work{bytes}, "", "Kokkos::deep_copy", 0));
}

KOKKOS_TOOL void kokkosp_end_deep_copy() {
  if (host_copy.is_open_here()) {
    host_copy.end();
    host_copy = {};
  } else {
    copies.end();
  }
}
