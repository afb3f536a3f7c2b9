// Functions that markers of C call while a tool is attached: the code of the C++ markers with names of C, one copy for
// each ELF object that links it. It contains nothing of the C++ library.
#include <adaptyst/adaptyst.h>
#include <adaptyst/detail/device_id_calls.hpp>
#include <adaptyst/detail/handle_calls.hpp>
#include <adaptyst/detail/instant_calls.hpp>
#include <adaptyst/detail/metadata_calls.hpp>
#include <adaptyst/detail/offload_scope_calls.hpp>
#include <adaptyst/detail/operations_calls.hpp>
#include <adaptyst/detail/pair_calls.hpp>
#include <adaptyst/detail/phases_calls.hpp>
#include <adaptyst/detail/scope_calls.hpp>

using namespace adaptyst::detail;

namespace {

// The types of C are those of C++, without the members that C does not need.
// NOLINTBEGIN(misc-redundant-expression): they are the same today
static_assert(sizeof(adaptyst_c_site) == sizeof(site) && alignof(adaptyst_c_site) == alignof(site));
static_assert(offsetof(adaptyst_c_site, name) == offsetof(site, name));
static_assert(offsetof(adaptyst_c_site, name_bytes) == offsetof(site, name_bytes));
static_assert(offsetof(adaptyst_c_site, file) == offsetof(site, file));
static_assert(offsetof(adaptyst_c_site, function) == offsetof(site, function));
static_assert(offsetof(adaptyst_c_site, line) == offsetof(site, line));
static_assert(offsetof(adaptyst_c_site, kind) == offsetof(site, kind));
static_assert(offsetof(adaptyst_c_site, record) == offsetof(site, record));
static_assert(sizeof(adaptyst::device) == 52, "it begins with what C has: kind, index, 40 bytes of name");
// NOLINTEND(misc-redundant-expression)

// The path of a handle that has been ended.
const adaptyst_path* ended() noexcept { return reinterpret_cast<const adaptyst_path*>(uintptr_t{1}); }

site& of_cpp(adaptyst_c_site* marker) noexcept { return *reinterpret_cast<site*>(marker); }

text literal(const adaptyst_c_site& marker) noexcept { return {marker.name, marker.name_bytes}; }

// The number of C's device, which does not store it.
uint32_t find_number(const adaptyst_device& on) noexcept {
  return adaptyst::device_access::get_id(adaptyst::device(on.kind(), on.index(), on.name()));
}

pending of_cpp(const adaptyst_c_handle& handle) noexcept { return {handle.path, handle.begin, handle.epoch, {}}; }
adaptyst_c_handle of_c(const pending& begun) noexcept { return {begun.path, begun.begin, begun.epoch}; }

const char* const work_names[] = {"bytes", "flops"};

}  // namespace

// Place and time of a scope are taken here, and not in a common function, so that they are those of the caller.
extern "C" {

__attribute__((nothrow)) uint64_t adaptyst_c_begin_scope(adaptyst_c_site* marker) {
  const uint64_t left_out = leave_out(of_cpp(marker));
  if (left_out == closed_token)
    store(get_skip_state(*recorder_at_hand()).closed_at, reinterpret_cast<uintptr_t>(ADAPTYST_DETAIL_STACK()));
  if (left_out != undecided) return left_out;
  return open_literal_scope(of_cpp(marker), ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

__attribute__((nothrow)) uint64_t adaptyst_c_begin_scope_named(adaptyst_c_site* marker, const char* name) {
  return open_scope(of_cpp(marker), to_text(terminated(name)), 0, nullptr, ADAPTYST_DETAIL_STACK(),
                    __builtin_return_address(0));
}

__attribute__((nothrow)) uint64_t adaptyst_c_begin_wait(adaptyst_c_site* marker, const adaptyst_device* device) {
  // The number 0 of an unknown device means the host, as in C++.
  const uint32_t number = device != nullptr ? find_number(*device) : 0;
  return open_wait(of_cpp(marker), literal(*marker), number, nullptr, ADAPTYST_DETAIL_STACK(),
                   __builtin_return_address(0));
}

__attribute__((nothrow)) void adaptyst_c_leave_scope(uint64_t token) {
  if (token == closed_token) end_left_out();
  else end_frame(token);
}

__attribute__((nothrow)) uint64_t adaptyst_c_next_phase(adaptyst_c_site* marker, uint64_t token) {
  return next_literal_scope<false>(of_cpp(marker), token, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

__attribute__((nothrow)) void adaptyst_c_begin(adaptyst_c_site* marker) {
  begin_pair_at(of_cpp(marker), ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

__attribute__((nothrow)) void adaptyst_c_begin_named(adaptyst_c_site* marker, const char* name) {
  begin_named_pair(of_cpp(marker), to_text(terminated(name)));
}

__attribute__((nothrow)) void adaptyst_c_end() { end_pair(nullptr); }

__attribute__((nothrow)) adaptyst_c_handle adaptyst_c_begin_handle(adaptyst_c_site* marker) {
  return of_c(begin_pending(of_cpp(marker), literal(*marker), 0, nullptr));
}

__attribute__((nothrow)) void adaptyst_c_end_handle(adaptyst_c_handle* handle) {
  if (handle->path == ended()) {
    if (is_enabled()) count_end_without_begin();
    return;
  }
  end_handle(of_cpp(*handle));
  handle->path = ended();
}

__attribute__((nothrow)) int adaptyst_c_is_left_out(adaptyst_c_site* marker) {
  text name{nullptr, 0};
  return is_left_out<true, 0>(name, of_cpp(marker), nullptr, payload_type<double>{}) ? 1 : 0;
}

__attribute__((nothrow)) void adaptyst_c_instant(adaptyst_c_site* marker, double value) {
  record_instant(of_cpp(marker), literal(*marker), value);
}

__attribute__((nothrow)) adaptyst_operation adaptyst_c_submit(const adaptyst_c_site* place, uint32_t kind,
                                                              const char* name, const adaptyst_device* device,
                                                              uint64_t queue, int has_work, double bytes,
                                                              double flops) {
  const payload_values work{work_names, 2, {nullptr, 0}, {bytes, flops}};
  const uint32_t known_kind = kind <= ADAPTYST_OTHER ? kind : uint32_t{ADAPTYST_OTHER};
  const pending_operation made =
      submit_event(to_text(terminated(name)), find_number(*device), ADAPTYST_SITE_KERNEL + known_kind, queue,
                   has_work != 0 ? &work : nullptr, place->file, place->function, place->line, nullptr);
  return {of_c(made.begun), bytes, flops, made.submitted_ns, made.queue, made.thread};
}

__attribute__((nothrow)) void adaptyst_c_complete(adaptyst_operation* operation, uint64_t started_ns,
                                                  uint64_t ended_ns) {
  pending_operation done{of_cpp(operation->begun), operation->submitted_ns, operation->queue, operation->thread};
  done.begun.numbers[0] = operation->bytes;
  done.begun.numbers[1] = operation->flops;
  complete_operation(done, started_ns, ended_ns);
  operation->begun.path = nullptr;
}

__attribute__((nothrow)) void adaptyst_c_abandon(adaptyst_operation* operation, uint32_t reason) {
  const uint32_t known_reason = reason <= ADAPTYST_DEVICE_LOST ? reason : uint32_t{ADAPTYST_NO_TIMES};
  abandon_operation(of_cpp(operation->begun), static_cast<loss>(static_cast<uint32_t>(loss::no_times) + known_reason));
  operation->begun.path = nullptr;
}

__attribute__((nothrow)) void adaptyst_c_metadata(const char* name, const char* value) {
  keep_metadata(to_text(terminated(name)), to_text(terminated(value)));
}

}  // extern "C"
