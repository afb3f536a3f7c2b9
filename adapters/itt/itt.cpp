// libadaptyst-itt.so: turns the annotations of ITT into regions, instant events and metrics. docs/annotations.md
//
// The static part of a program loads this library with its first annotation and calls __itt_api_init(), which replaces
// the functions of its list. All other functions have no effect: synchronisation, metadata, relations and heap
// (`--memory heap` counts allocations).
#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/adapter/code_name.hpp>
#include <adaptyst/metric.hpp>
#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

#include "../thread_name.hpp"
#include "../thread_state.hpp"
#include "objects.hpp"
#include "open_tasks.hpp"
#include "static_part.hpp"

namespace adaptyst::itt { namespace {

using number = unsigned long long;

constexpr std::size_t max_thread_name = 127;  // the kernel keeps 15 bytes

std::atomic<bool> is_paused{false};
tasks_by_id tasks_with_id;

thread_tasks& own_tasks() noexcept {
  thread_local thread_tasks tasks{};
  return adapters::find_once(tasks);
}

bool is_collecting() noexcept { return detail::is_enabled() && !is_paused.load(std::memory_order_relaxed); }

const char* to_text(const string_handle* name, const char* otherwise) noexcept {
  return name != nullptr && name->text != nullptr && *name->text != '\0' ? name->text : otherwise;
}

// ---- objects ------------------------------------------------------------------------------------------------------

domain* create_domain(const char* name) noexcept {
  static object_table<domain> domains;
  static domain further{1, "further domains", nullptr, {}, nullptr, nullptr};
  if (name == nullptr) return nullptr;
  return domains.find(name, 0, "domains", &further, [](domain& made, const char* text) {
    made.flags = 1;
    made.name = text;
  });
}

string_handle* create_string(const char* name) noexcept {
  static object_table<string_handle> strings;
  static string_handle further{"further names", nullptr, {}, nullptr, nullptr};
  if (name == nullptr) return nullptr;
  return strings.find(name, 0, "names", &further, [](string_handle& made, const char* text) { made.text = text; });
}

counter* create_counter_in(const char* in, const char* name, int type) noexcept {
  static object_table<counter> counters;
  if (name == nullptr) return nullptr;
  return counters.find(event_name(in, name).get(), static_cast<std::uint64_t>(type), "counters", nullptr,
                       [=](counter& made, const char* text) {
                         made.name = text;
                         made.type = type;
                       });
}

counter* create_counter(const char* name, const char* in) noexcept {
  return create_counter_in(in, name, static_cast<int>(number_type::u64));
}
counter* create_counter_typed(const char* name, const char* in, int type) noexcept {
  return create_counter_in(in, name, type);
}
counter* create_counter_v3(const domain* in, const char* name, int type) noexcept {
  return create_counter_in(in != nullptr ? in->name : nullptr, name, type);
}

// ---- tasks of a thread --------------------------------------------------------------------------------------------

// A task with its own timestamps may have run earlier, or elsewhere: only its occurrence is recorded.
void begin_task(const domain* in, const char* name, number timestamp) noexcept {
  if (!is_collecting()) return own_tasks().push(in, {});
  const event_name full(in, name);
  const std::string_view shown = full.get();
  if (timestamp == 0) return own_tasks().push(in, callback_region::begin(shown, {"", "__itt_task_begin", 0}));
  ADAPTYST_MARK(shown);
  own_tasks().push(in, {});
}

void begin_function_task(const domain* in, const void* code, number timestamp) noexcept {
  static adapters::name_cache names;
  const char* name = nullptr;
  if (code != nullptr && is_collecting()) {
    const adapters::thread_state_kept unchanged;
    // The collector looks up the instruction before an address, as before a return address.
    const char* const after = static_cast<const char*>(code) + 1;
    name = names.find(reinterpret_cast<std::uintptr_t>(code),
                      [=](adapters::name_cache::text& text) { write_code_name(text, "task", after); });
  }
  begin_task(in, name != nullptr ? name : "task", timestamp);
}

void task_begin(const domain* in, id, id, const string_handle* name) noexcept {
  begin_task(in, to_text(name, "unnamed task"), 0);
}
void task_begin_ex(const domain* in, void*, number timestamp, id, id, const string_handle* name) noexcept {
  begin_task(in, to_text(name, "unnamed task"), timestamp);
}
void task_begin_fn(const domain* in, id, id, const void* code) noexcept { begin_function_task(in, code, 0); }
void task_begin_fn_ex(const domain* in, void*, number timestamp, id, id, const void* code) noexcept {
  begin_function_task(in, code, timestamp);
}
void task_end(const domain* in) noexcept { own_tasks().pop(in); }
void task_end_ex(const domain* in, void*, number) noexcept { own_tasks().pop(in); }

// ---- tasks, regions and frames with an id -------------------------------------------------------------------------

void begin_with_id(const tasks_by_id::key& key, const char* name, number timestamp) noexcept {
  tasks_with_id.begin(key, [&] {
    if (!is_collecting()) return region_handle{};
    const event_name full(key.of, name);
    const std::string_view shown = full.get();
    if (timestamp == 0) return ADAPTYST_HANDLE_BEGIN(shown);
    ADAPTYST_MARK(shown);
    return region_handle{};
  });
}

using kind = tasks_by_id::kind;

void task_begin_overlapped(const domain* in, id task, id, const string_handle* name) noexcept {
  begin_with_id({kind::task, in, task}, to_text(name, "unnamed task"), 0);
}
void task_begin_overlapped_ex(const domain* in, void*, number timestamp, id task, id,
                              const string_handle* name) noexcept {
  begin_with_id({kind::task, in, task}, to_text(name, "unnamed task"), timestamp);
}
void task_end_overlapped(const domain* in, id task) noexcept { tasks_with_id.end({kind::task, in, task}); }
void task_end_overlapped_ex(const domain* in, void*, number, id task) noexcept {
  tasks_with_id.end({kind::task, in, task});
}

void region_begin(const domain* in, id region, id, const string_handle* name) noexcept {
  begin_with_id({kind::region, in, region}, to_text(name, "unnamed region"), 0);
}
void region_end(const domain* in, id region) noexcept { tasks_with_id.end({kind::region, in, region}); }

// A frame has no name. Without an id, it is the only open frame of its domain.
void frame_begin(const domain* in, const id* frame) noexcept {
  begin_with_id({kind::frame, in, frame != nullptr ? *frame : id{}}, "frame", 0);
}
void frame_end(const domain* in, const id* frame) noexcept {
  tasks_with_id.end({kind::frame, in, frame != nullptr ? *frame : id{}});
}

number get_timestamp() noexcept { return now_ns(); }

// The times are from get_timestamp(). With others, only the frame's occurrence is recorded.
void frame_submit(const domain* in, const id*, number begin, number end) noexcept {
  constexpr number until_now = ~number{0};
  if (!is_collecting()) return;
  if (end == until_now) end = now_ns();
  if (begin != 0 && begin <= end) {
    const event_name full(in, "frame_ns");
    const std::string_view shown = full.get();
    ADAPTYST_METRIC(shown, end - begin);
  } else {
    const event_name full(in, "frame");
    const std::string_view shown = full.get();
    ADAPTYST_MARK(shown);
  }
}

// ---- instant events and counters ----------------------------------------------------------------------------------

void marker(const domain* in, id, const string_handle* name, int) noexcept {
  if (!is_collecting()) return;
  const event_name full(in, to_text(name, "unnamed marker"));
  const std::string_view shown = full.get();
  ADAPTYST_MARK(shown);
}
void marker_ex(const domain* in, void*, number, id, const string_handle* name, int) noexcept {
  marker(in, {}, name, 0);
}

void record(const char* in, const char* name, double value) noexcept {
  if (!is_collecting() || name == nullptr) return;
  const event_name full(in, name);
  const std::string_view shown = full.get();
  ADAPTYST_METRIC(shown, value);
}

void add(const counter* to, double value) noexcept {
  if (to != nullptr) record(to->domain, to->name, value);
}
void add(const domain* in, const string_handle* name, double value) noexcept {
  record(in != nullptr ? in->name : nullptr, to_text(name, nullptr), value);
}

void counter_inc(const counter* of) noexcept { add(of, 1); }
void counter_inc_delta(const counter* of, number delta) noexcept { add(of, static_cast<double>(delta)); }
void counter_dec(const counter* of) noexcept { add(of, -1); }
void counter_dec_delta(const counter* of, number delta) noexcept { add(of, -static_cast<double>(delta)); }
void counter_inc_v3(const domain* in, const string_handle* name) noexcept { add(in, name, 1); }
void counter_inc_delta_v3(const domain* in, const string_handle* name, number delta) noexcept {
  add(in, name, static_cast<double>(delta));
}
void counter_dec_v3(const domain* in, const string_handle* name) noexcept { add(in, name, -1); }
void counter_dec_delta_v3(const domain* in, const string_handle* name, number delta) noexcept {
  add(in, name, -static_cast<double>(delta));
}

template <class Number>
double read(const void* at) noexcept {
  Number value;
  std::memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

// A value of an unknown type is recorded as a NaN: its bytes are unknown.
void counter_set_value(const counter* of, const void* value) noexcept {
  if (of == nullptr || value == nullptr || !is_collecting()) return;
  double as = __builtin_nan("");
  switch (static_cast<number_type>(of->type)) {
    case number_type::u64: as = read<std::uint64_t>(value); break;
    case number_type::s64: as = read<std::int64_t>(value); break;
    case number_type::u32: as = read<std::uint32_t>(value); break;
    case number_type::s32: as = read<std::int32_t>(value); break;
    case number_type::u16: as = read<std::uint16_t>(value); break;
    case number_type::s16: as = read<std::int16_t>(value); break;
    case number_type::f32: as = static_cast<double>(read<float>(value)); break;
    case number_type::f64: as = read<double>(value); break;
    case number_type::unknown: break;
  }
  add(of, as);
}
void counter_set_value_ex(const counter* of, void*, number, const void* value) noexcept {
  counter_set_value(of, value);
}

// ---- threads ------------------------------------------------------------------------------------------------------

void set_thread_name(const char* name) noexcept {
  if (name != nullptr)
    adapters::name_thread(static_cast<std::uint32_t>(gettid()), {name, strnlen(name, max_thread_name)});
}

// ---- pause --------------------------------------------------------------------------------------------------------

void pause() noexcept { is_paused.store(true, std::memory_order_relaxed); }
void resume() noexcept { is_paused.store(false, std::memory_order_relaxed); }

constexpr int scope_of_host = 1;  // the other bits are for devices
void pause_scoped(int scope) noexcept {
  if ((scope & scope_of_host) != 0) pause();
}
void resume_scoped(int scope) noexcept {
  if ((scope & scope_of_host) != 0) resume();
}

// ---- beginning ----------------------------------------------------------------------------------------------------

struct own_function {
  const char* name;  // without __itt_
  void* call;
};

template <class Function>
void* to_address(Function* function) noexcept {
  return reinterpret_cast<void*>(function);
}

void* find_own(std::string_view name) noexcept {
  static const own_function all[] = {
      {"domain_create", to_address(create_domain)},
      {"string_handle_create", to_address(create_string)},
      {"counter_create", to_address(create_counter)},
      {"counter_create_typed", to_address(create_counter_typed)},
      {"counter_create_v3", to_address(create_counter_v3)},
      {"task_begin", to_address(task_begin)},
      {"task_begin_ex", to_address(task_begin_ex)},
      {"task_begin_fn", to_address(task_begin_fn)},
      {"task_begin_fn_ex", to_address(task_begin_fn_ex)},
      {"task_end", to_address(task_end)},
      {"task_end_ex", to_address(task_end_ex)},
      {"task_begin_overlapped", to_address(task_begin_overlapped)},
      {"task_begin_overlapped_ex", to_address(task_begin_overlapped_ex)},
      {"task_end_overlapped", to_address(task_end_overlapped)},
      {"task_end_overlapped_ex", to_address(task_end_overlapped_ex)},
      {"region_begin", to_address(region_begin)},
      {"region_end", to_address(region_end)},
      {"frame_begin_v3", to_address(frame_begin)},
      {"frame_end_v3", to_address(frame_end)},
      {"frame_submit_v3", to_address(frame_submit)},
      {"get_timestamp", to_address(get_timestamp)},
      {"marker", to_address(marker)},
      {"marker_ex", to_address(marker_ex)},
      {"counter_inc", to_address(counter_inc)},
      {"counter_inc_delta", to_address(counter_inc_delta)},
      {"counter_dec", to_address(counter_dec)},
      {"counter_dec_delta", to_address(counter_dec_delta)},
      {"counter_inc_v3", to_address(counter_inc_v3)},
      {"counter_inc_delta_v3", to_address(counter_inc_delta_v3)},
      {"counter_dec_v3", to_address(counter_dec_v3)},
      {"counter_dec_delta_v3", to_address(counter_dec_delta_v3)},
      {"counter_set_value", to_address(counter_set_value)},
      {"counter_set_value_ex", to_address(counter_set_value_ex)},
      {"counter_set_value_v3", to_address(counter_set_value)},
      {"thread_set_name", to_address(set_thread_name)},
      {"pause", to_address(pause)},
      {"resume", to_address(resume)},
      {"pause_scoped", to_address(pause_scoped)},
      {"resume_scoped", to_address(resume_scoped)},
  };
  constexpr std::string_view prefix = "__itt_";
  if (name.substr(0, prefix.size()) != prefix) return nullptr;
  name.remove_prefix(prefix.size());
  for (const own_function& own : all)
    if (name == own.name) return own.call;
  return nullptr;
}

void refuse(const static_part* part) noexcept {
  Dl_info found{};
  const bool is_in_file = part != nullptr && dladdr(part, &found) != 0 && found.dli_fname != nullptr;
  const char* const file = is_in_file ? found.dli_fname : "the program";
  if (part == nullptr || !has_magic(*part))
    std::fprintf(stderr,
                 "adaptyst: ITT: unavailable (%s passes no structure of ITT); annotations in it are not recorded\n",
                 file);
  else
    std::fprintf(stderr,
                 "adaptyst: ITT: unavailable (%s has version %lu.%lu, build %lu; supported: version %lu, builds after "
                 "%lu); annotations in it are not recorded\n",
                 file, part->major_version, part->minor_version, part->build, supported_version,
                 last_unsupported_build);
}

}}  // namespace adaptyst::itt

extern "C" __attribute__((visibility("default"))) void __itt_api_init(adaptyst::itt::static_part* part, int) {
  using namespace adaptyst::itt;
  const adaptyst::adapters::thread_state_kept unchanged;
  if (part == nullptr || !has_magic(*part) || !is_supported(*part) || part->functions == nullptr) return refuse(part);
  constexpr int max_functions = 4096;  // about 20 times as many as the last version has
  for (int at = 0; at != max_functions; ++at) {
    const function& listed = part->functions[at];
    if (listed.name == nullptr) break;
    if (listed.call == nullptr) continue;
    void* const own = find_own(listed.name);
    *listed.call = own != nullptr ? own : listed.none;
  }
}
