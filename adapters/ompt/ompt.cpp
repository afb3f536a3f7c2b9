// libadaptyst-ompt.so: turns the callbacks of an OpenMP runtime into regions, operations and metrics. docs/openmp.md
//
// A parallel region is a region of the thread that encountered it. Each thread of its team has a region "thread" nested
// in it, from the thread's begin to its arrival at the closing barrier. Loops, inner barriers and the program's own
// markers are nested in that region, on any thread.
#include <adaptyst/metric.hpp>
#include <cstdio>
#include <cstring>
#include <omp-tools.h>

#include "../open_operations.hpp"
#include "../open_regions.hpp"
#include "devices.hpp"
#include "names.hpp"
#include "team.hpp"

namespace adaptyst::ompt { namespace {

// Constants of OpenMP 5.2, which older headers lack. Other values belong to a later OpenMP: such an event has a general
// name, and is not added to figures that depend on its kind.
constexpr int barrier = 1, barrier_implicit = 2, barrier_implementation = 4, taskwait = 5, taskgroup = 6, reduction = 7,
              barrier_implicit_workshare = 8, barrier_implicit_parallel = 9, barrier_teams = 10;
constexpr int work_loop = 1, work_sections = 2, work_loop_static = 10, work_loop_other = 13;
constexpr int first_nowait = 9;
constexpr int data_allocate = 1, data_copy_to = 2, data_copy_from = 3, data_free = 4, data_associate = 5,
              data_disassociate = 6;

char runtime[96] = "this runtime";
device_list devices;

struct of_thread {
  static constexpr unsigned max_teams = 16;
  team teams[max_teams];
  unsigned depth;                   // of parallel regions that this thread has encountered
  adapters::open_regions open;      // loops and barriers
  adapters::open_operations tasks;  // of devices
  std::uint64_t waiting_since_ns;
  const void* target_code;
  int target_device;
};

of_thread& self() noexcept {
  thread_local of_thread state{};
  return state;
}

bool is_enabled() noexcept { return detail::is_enabled(); }

constexpr source_place place{"", "OpenMP", 0};

// ---- parallel regions ---------------------------------------------------------------------------------------------

void on_parallel_begin(ompt_data_t*, const ompt_frame_t*, ompt_data_t* parallel, unsigned, int flags,
                       const void* code) {
  parallel->ptr = nullptr;
  of_thread& here = self();
  const unsigned at = here.depth++;
  if (!is_enabled()) {
    if (at < of_thread::max_teams) here.teams[at].forget();
    return;
  }
  const bool is_league = (static_cast<unsigned>(flags) & ompt_parallel_league) != 0;
  callback_region begun =
      callback_region::begin(find_name(is_league ? construct::teams : construct::parallel, code), place);
  if (at >= of_thread::max_teams) return begun.abandon();
  here.teams[at].begin(begun, code);
  parallel->ptr = &here.teams[at];
}

// The thread that encountered a construct ends its innermost one: constructs of a thread are nested. LLVM frees the data
// of the parallel region before this call, and another thread's construct may have them already.
void on_parallel_end(ompt_data_t*, ompt_data_t*, int, const void*) {
  of_thread& here = self();
  if (here.depth == 0) return callback_region::count_unmatched_end();
  if (--here.depth >= of_thread::max_teams) return;
  team& ended = here.teams[here.depth];
  if (ended.where) {
    ADAPTYST_METRIC("threads", ended.threads.load(std::memory_order_relaxed));
    if (ended.arrivals.load(std::memory_order_relaxed) != 0) ADAPTYST_METRIC("imbalance_ns", ended.imbalance_ns());
    if (const std::uint64_t waited = ended.in_barriers_ns.load(std::memory_order_relaxed))
      ADAPTYST_METRIC("barrier_ns", waited);
  }
  ended.region.end();
}

void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned threads,
                      unsigned, int flags) {
  if ((static_cast<unsigned>(flags) & ompt_task_initial) != 0) return;
  if (endpoint == ompt_scope_begin) {
    task->value = 0;
    auto* const own_team = parallel != nullptr ? static_cast<team*>(parallel->ptr) : nullptr;
    if (own_team == nullptr || !own_team->where) return;
    own_team->threads.store(threads, std::memory_order_relaxed);
    task->value = callback_region::begin_below(own_team->where, "thread", place).number();
  } else {  // reported late: if there was a barrier, the region has ended there
    callback_region::of(task->value).end();
    task->value = 0;
  }
}

// LLVM 14 reports the end of a loop as that of "distribute": an end therefore belongs to the last begin of any kind.
void on_work(ompt_work_t what, ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, uint64_t, const void* code) {
  adapters::open_regions& open = self().open;
  if (endpoint != ompt_scope_begin) return open.pop();
  const int kind = static_cast<int>(what);
  const bool is_loop = kind == work_loop || (kind >= work_loop_static && kind <= work_loop_other);
  if (!is_enabled() || (!is_loop && kind != work_sections)) return open.push({});
  open.push(callback_region::begin(find_name(is_loop ? construct::loop : construct::sections, code), place));
}

// Older runtimes have one kind for all implicit barriers; the closing barrier has no address, or that of the region.
bool is_closing(int kind, const team& team, const void* code) noexcept {
  return kind == barrier_implicit_parallel || kind == barrier_teams ||
         (kind == barrier_implicit && (code == nullptr || code == team.code));
}

void on_sync_region(ompt_sync_region_t what, ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task,
                    const void* code) {
  const int kind = static_cast<int>(what);
  if (kind == reduction || parallel == nullptr) return;  // the end of a closing barrier, reported late
  auto* const own_team = static_cast<team*>(parallel->ptr);
  of_thread& here = self();
  const bool is_barrier = (kind >= barrier && kind <= barrier_implementation) ||
                          (kind >= barrier_implicit_workshare && kind <= barrier_teams);
  if (kind == barrier_teams && (own_team == nullptr || endpoint != ompt_scope_begin)) return;
  if (endpoint != ompt_scope_begin) {
    here.open.pop();
    if (is_barrier && own_team != nullptr && here.waiting_since_ns != 0)
      own_team->in_barriers_ns.fetch_add(now_ns() - here.waiting_since_ns, std::memory_order_relaxed);
    here.waiting_since_ns = 0;
    return;
  }
  if (own_team != nullptr && is_closing(kind, *own_team, code)) {
    if (task != nullptr) {
      callback_region::of(task->value).end();
      task->value = 0;
    }
    if (own_team->where) own_team->arrive();
    return;
  }
  const char* const name = is_barrier          ? "barrier"
                           : kind == taskwait  ? "taskwait"
                           : kind == taskgroup ? "taskgroup"
                                               : "synchronization";
  here.open.push(is_enabled() ? callback_region::begin(name, place) : callback_region{});
  here.waiting_since_ns = is_barrier && is_enabled() ? now_ns() : 0;
}

// ---- devices ------------------------------------------------------------------------------------------------------

void on_device_initialize(int number, const char* type, ompt_device_t*, ompt_function_lookup_t, const char*) {
  static std::atomic_flag is_reported = ATOMIC_FLAG_INIT;
  devices.add(number, type);
  if (!is_reported.test_and_set())
    std::fprintf(stderr,
                 "adaptyst: OpenMP devices (%s): kernels and copies are timed by the host, from call to return of the "
                 "runtime\n",
                 type != nullptr ? type : "unnamed");
}

void on_target(ompt_target_t what, ompt_scope_endpoint_t endpoint, int number, ompt_data_t*, ompt_data_t*,
               ompt_data_t* target, const void* code) {
  if (target == nullptr) return;
  if (endpoint != ompt_scope_begin) {
    callback_region::of(target->value).end();
    target->value = 0;
    return;
  }
  target->value = 0;
  of_thread& here = self();
  here.target_code = code;
  here.target_device = number;
  if (!is_enabled()) return;
  const int kind = static_cast<int>(what);
  const bool may_go_on = kind < 1 || kind > 4;  // without waiting; unknown for a later kind
  construct is = construct::target;
  switch (kind >= first_nowait ? kind - 8 : kind) {
    case 2: is = construct::enter_data; break;
    case 3: is = construct::exit_data; break;
    case 4: is = construct::update; break;
    default: break;
  }
  const std::string_view name = find_name(is, code);
  target->value = (may_go_on ? callback_region::begin(name, place) : callback_region::begin_wait(name, place)).number();
}

// An operation that the host submits is between two calls on one thread.
void end_operation(const ompt_id_t* number) noexcept {
  if (number != nullptr && *number != 0) self().tasks.end(*number);
}

void on_target_submit(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_id_t* number, unsigned) {
  if (number == nullptr) return;
  if (endpoint != ompt_scope_begin) return end_operation(number);
  *number = 0;  // it may contain an old number
  if (!is_enabled()) return;
  of_thread& here = self();
  *number = here.tasks.begin(submit(find_name(construct::kernel, here.target_code), devices.at(here.target_device), 0,
                                    operation_kind::kernel, place.file, place.function, place.line));
}

void on_target_data_op(ompt_scope_endpoint_t endpoint, ompt_data_t*, ompt_data_t*, ompt_id_t* number,
                       ompt_target_data_op_t what, void*, int from, void*, int destination, std::size_t bytes,
                       const void*) {
  if (number == nullptr) return;
  if (endpoint != ompt_scope_begin) return end_operation(number);
  *number = 0;
  if (!is_enabled()) return;
  constexpr int asynchronous = 16;  // offset of asynchronous kinds
  const int kind =
      static_cast<int>(what) > asynchronous ? static_cast<int>(what) - asynchronous : static_cast<int>(what);
  const bool is_copy = kind == data_copy_to || kind == data_copy_from;
  const char* name = "other data operation";
  operation_kind as = operation_kind::other;
  int on = devices.knows(destination) ? destination : from;
  switch (kind) {
    case data_allocate:
      name = "allocate";
      ADAPTYST_METRIC("allocated_bytes", bytes);
      break;
    case data_copy_to: name = "copy to device", as = operation_kind::copy_to, on = destination; break;
    case data_copy_from: name = "copy from device", as = operation_kind::copy_from, on = from; break;
    case data_free: name = "free", on = from; break;
    case data_associate:
    case data_disassociate: return;  // no work: the program only registers its memory
    default: break;
  }
  operation begun = is_copy ? submit(name, devices.at(on), 0, as, work{bytes}, place.file, place.function, place.line)
                            : submit(name, devices.at(on), 0, as, place.file, place.function, place.line);
  *number = self().tasks.begin(static_cast<operation&&>(begun));
}

// ---- beginning ----------------------------------------------------------------------------------------------------

// The runtime's answer, in words of the interface; null: it will call back.
const char* refusal(ompt_set_result_t answer) noexcept {
  switch (static_cast<int>(answer)) {
    case 0: return "error";
    case 1: return "never";
    case 2: return "impossible";
    default: return nullptr;
  }
}

int begin(ompt_function_lookup_t look_up, int, ompt_data_t*) {
  const auto set = reinterpret_cast<ompt_set_callback_t>(look_up("ompt_set_callback"));
  if (set == nullptr) {
    std::fprintf(stderr, "adaptyst: OMPT: unavailable (%s has no ompt_set_callback)\n", runtime);
    return 0;
  }
  const struct {
    ompt_callbacks_t event;
    ompt_callback_t call;
    bool is_for_targets;
  } all[] = {
      {ompt_callback_parallel_begin, reinterpret_cast<ompt_callback_t>(on_parallel_begin), false},
      {ompt_callback_parallel_end, reinterpret_cast<ompt_callback_t>(on_parallel_end), false},
      {ompt_callback_implicit_task, reinterpret_cast<ompt_callback_t>(on_implicit_task), false},
      {ompt_callback_work, reinterpret_cast<ompt_callback_t>(on_work), false},
      {ompt_callback_sync_region, reinterpret_cast<ompt_callback_t>(on_sync_region), false},
      {ompt_callback_device_initialize, reinterpret_cast<ompt_callback_t>(on_device_initialize), true},
      {ompt_callback_target_emi, reinterpret_cast<ompt_callback_t>(on_target), true},
      {ompt_callback_target_submit_emi, reinterpret_cast<ompt_callback_t>(on_target_submit), true},
      {ompt_callback_target_data_op_emi, reinterpret_cast<ompt_callback_t>(on_target_data_op), true},
  };
  bool is_reported[2] = {false, false};
  for (const auto& callback : all) {
    const char* const why = refusal(set(callback.event, callback.call));
    if (why == nullptr || is_reported[callback.is_for_targets]) continue;
    is_reported[callback.is_for_targets] = true;
    std::fprintf(stderr, "adaptyst: OMPT %s callbacks: unavailable (%s answers \"%s\")%s\n",
                 callback.is_for_targets ? "target" : "parallel", runtime, why,
                 callback.is_for_targets ? "; offloaded work is not observed" : "");
  }
  return 1;
}

void end(ompt_data_t*) {}

}}  // namespace adaptyst::ompt

extern "C" __attribute__((visibility("default"))) ompt_start_tool_result_t* ompt_start_tool(unsigned,
                                                                                            const char* version) {
  using namespace adaptyst::ompt;
  if (version != nullptr) std::snprintf(runtime, sizeof runtime, "%s", version);
  static ompt_start_tool_result_t started{begin, end, {0}};
  return &started;
}
