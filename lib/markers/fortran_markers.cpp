// Functions that the Fortran modules call (fortran/adaptyst.F90): the pairs, handles, metrics and operations of C, with
// texts that have a length and trailing blanks, and regions that a program registers once and identifies by a number.
//
// Fortran cannot test the semaphores at a marker: each of these functions tests them first.
#include <adaptyst/adaptyst.h>
#include <adaptyst/detail/device_id_calls.hpp>
#include <adaptyst/detail/handle_calls.hpp>
#include <adaptyst/detail/instant_calls.hpp>
#include <adaptyst/detail/metadata_calls.hpp>
#include <adaptyst/detail/operations_calls.hpp>
#include <adaptyst/detail/pair_calls.hpp>
#include <adaptyst/detail/phases_calls.hpp>

using namespace adaptyst::detail;

namespace {

text trimmed(const char* name, size_t bytes) noexcept {
  if (name == nullptr) return {"", 0};
  while (bytes != 0 && name[bytes - 1] == ' ') --bytes;
  return {name, bytes < ADAPTYST_TEXT_BYTES ? bytes : ADAPTYST_TEXT_BYTES - 1};
}

struct copied {
  char bytes[ADAPTYST_TEXT_BYTES];
  explicit copied(text from) noexcept {
    if (from.bytes != 0) __builtin_memcpy(bytes, from.data, from.bytes);
    bytes[from.bytes] = '\0';
  }
};

// A registered region. Its place in the table is its number.
struct registered {
  uint32_t state;  // 0: free, 1: being written, 2: complete
  char name[ADAPTYST_TEXT_BYTES];
  char file[ADAPTYST_TEXT_BYTES];
  site marker;
};
constexpr int max_registered = 1024;
registered regions[max_registered];  // zero pages: they use memory only after the first write

bool is_same(const char (&kept)[ADAPTYST_TEXT_BYTES], text other) noexcept {
  return __builtin_strlen(kept) == other.bytes && __builtin_memcmp(kept, other.data, other.bytes) == 0;
}

bool has_place(const registered& region, text name, text file, uint32_t line) noexcept {
  return region.marker.line == line && is_same(region.name, name) && is_same(region.file, file);
}

void fill(registered& region, text name, text file, uint32_t line) noexcept {
  __builtin_memcpy(region.name, copied(name).bytes, sizeof region.name);
  __builtin_memcpy(region.file, copied(file).bytes, sizeof region.file);
  region.marker = {region.name, name.bytes, region.file, "", line, ADAPTYST_SITE_CALLBACK, nullptr};
}

site* find_region(int number) noexcept {
  if (number < 1 || number > max_registered) return nullptr;
  registered& region = regions[number - 1];
  return load_acquire(region.state) == 2 ? &region.marker : nullptr;
}

// A place that is passed with each event.
struct event_place {
  copied file;
  site marker;
  event_place(text in, int line, uint32_t kind) noexcept
      : file(in), marker{nullptr, 0, file.bytes, "", static_cast<uint32_t>(line), kind, nullptr} {}
};

// There was no room for a region, or its number is invalid.
void lose_unknown_region() noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  const writing now(*opened);
  count_loss(*opened, loss::tables_full);
}

adaptyst::device to_device(int kind, int index, const char* name, size_t bytes) noexcept {
  const uint32_t checked_kind =
      kind >= 0 && kind <= ADAPTYST_DEVICE_OTHER ? static_cast<uint32_t>(kind) : uint32_t{ADAPTYST_DEVICE_OTHER};
  return {static_cast<adaptyst::device_kind>(checked_kind), static_cast<uint32_t>(index),
          copied(trimmed(name, bytes)).bytes};
}

}  // namespace

#define ADAPTYST_FORTRAN extern "C" ADAPTYST_DETAIL_HIDDEN

// Returns the number of a region; equal name, file and line have equal numbers. 0, which is no region, if there are too
// many.
ADAPTYST_FORTRAN int adaptyst_f_region(const char* name, size_t name_bytes, const char* file, size_t file_bytes,
                                       int line) {
  const text named = trimmed(name, name_bytes);
  const text in = trimmed(file, file_bytes);
  const auto on = static_cast<uint32_t>(line);
  const uint64_t first = hash(hash(on, in), named);
  constexpr unsigned max_spins = 1U << 28;
  for (int tried = 0; tried != max_registered; ++tried) {
    const auto at = static_cast<size_t>((first + static_cast<uint64_t>(tried)) % max_registered);
    registered& region = regions[at];
    uint32_t state = load_acquire(region.state);
    if (state == 0 && compare_exchange(region.state, state, uint32_t{1})) {
      fill(region, named, in, on);
      store_release(region.state, uint32_t{2});
      return static_cast<int>(at) + 1;
    }
    // Another thread is writing it: bounded, as in find_device().
    for (unsigned spin = 0; load_acquire(region.state) == 1; ++spin)
      if (spin == max_spins) return 0;
    if (has_place(region, named, in, on)) return static_cast<int>(at) + 1;
  }
  return 0;
}

ADAPTYST_FORTRAN void adaptyst_f_begin(int region) {
  if (!is_enabled()) return;
  site* const marker = find_region(region);
  if (marker == nullptr) return begin_unknown_pair();
  begin_pair_at(*marker, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

ADAPTYST_FORTRAN void adaptyst_f_begin_named(const char* name, size_t name_bytes, const char* file, size_t file_bytes,
                                             int line) {
  if (!is_enabled()) return;
  event_place where(trimmed(file, file_bytes), line, ADAPTYST_SITE_CALLBACK);
  begin_named_pair(where.marker, trimmed(name, name_bytes));
}

ADAPTYST_FORTRAN void adaptyst_f_begin_wait(const char* name, size_t name_bytes) {
  if (!is_enabled()) return;
  event_place where({"", 0}, 0, ADAPTYST_SITE_WAIT);
  begin_named_pair(where.marker, trimmed(name, name_bytes));
}

ADAPTYST_FORTRAN void adaptyst_f_begin_offload(const char* name, size_t name_bytes, int kind, int index,
                                               const char* device, size_t device_bytes) {
  if (!is_enabled()) return;
  event_place where({"", 0}, 0, ADAPTYST_SITE_OFFLOAD);
  const uint32_t number = adaptyst::device_access::get_id(to_device(kind, index, device, device_bytes));
  begin_named_pair(where.marker, trimmed(name, name_bytes), number);
}

ADAPTYST_FORTRAN void adaptyst_f_end() {
  if (is_enabled()) end_pair(nullptr);
}

// Ends this region, and the regions begun in it.
ADAPTYST_FORTRAN void adaptyst_f_end_region(int region) {
  if (!is_enabled()) return;
  const site* const marker = find_region(region);
  const adaptyst_site* const record = marker != nullptr ? load_acquire(marker->record) : nullptr;
  end_pair(record, record != nullptr);
}

// Phases: `token` is the running phase, 0 if none. The token's address is a part of the phase's place: all phases by
// name come through one call.
ADAPTYST_FORTRAN void adaptyst_f_end_phases(uint64_t* token) {
  if (*token != 0) adaptyst_c_leave_scope(*token);
  *token = 0;
}

ADAPTYST_FORTRAN void adaptyst_f_next(uint64_t* token, int region) {
  if (!is_enabled()) return adaptyst_f_end_phases(token);
  site* const marker = find_region(region);
  if (marker == nullptr) {
    adaptyst_f_end_phases(token);
    return lose_unknown_region();
  }
  *token = next_literal_scope<true>(*marker, *token, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

ADAPTYST_FORTRAN void adaptyst_f_next_named(uint64_t* token, const char* name, size_t name_bytes, const char* file,
                                            size_t file_bytes, int line) {
  if (!is_enabled()) return adaptyst_f_end_phases(token);
  event_place where(trimmed(file, file_bytes), line, ADAPTYST_SITE_REGION);
  const boundary ended = end_phase(*token);
  *token = open_scope(where.marker, trimmed(name, name_bytes), 0, nullptr, ADAPTYST_DETAIL_STACK(), token, ended);
}

ADAPTYST_FORTRAN void adaptyst_f_metric(const char* name, size_t name_bytes, double value) {
  if (!is_enabled()) return;
  event_place where({"", 0}, 0, ADAPTYST_SITE_METRIC);
  record_instant(where.marker, trimmed(name, name_bytes), value);
}

ADAPTYST_FORTRAN void adaptyst_f_mark(const char* name, size_t name_bytes) {
  if (!is_enabled()) return;
  event_place where({"", 0}, 0, ADAPTYST_SITE_MARK);
  record_instant(where.marker, trimmed(name, name_bytes), 0);
}

ADAPTYST_FORTRAN void adaptyst_f_metadata(const char* name, size_t name_bytes, const char* value, size_t value_bytes) {
  while (value_bytes != 0 && value[value_bytes - 1] == ' ') --value_bytes;
  keep_metadata(trimmed(name, name_bytes), {value, value_bytes});
}

ADAPTYST_FORTRAN void adaptyst_f_handle_begin(const char* name, size_t name_bytes, adaptyst_c_handle* begun) {
  *begun = {};
  if (!is_enabled()) return;
  event_place where({"", 0}, 0, ADAPTYST_SITE_HANDLE);
  const pending made = begin_pending(where.marker, trimmed(name, name_bytes), 0, nullptr);
  *begun = {made.path, made.begin, made.epoch};
}

ADAPTYST_FORTRAN void adaptyst_f_handle_end(adaptyst_c_handle* handle) {
  if (handle->path != nullptr) adaptyst_c_end_handle(handle);
}

ADAPTYST_FORTRAN void adaptyst_f_submit(const char* name, size_t name_bytes, int kind, int index, const char* device,
                                        size_t device_bytes, int64_t queue, int operation_kind, double bytes,
                                        double flops, adaptyst_operation* submitted) {
  *submitted = {};
  if (!is_enabled()) return;
  const copied named(trimmed(name, name_bytes));
  const adaptyst::device on = to_device(kind, index, device, device_bytes);
  adaptyst_c_site where{nullptr, 0, "", "", 0, ADAPTYST_SITE_KERNEL, nullptr};
  *submitted = adaptyst_c_submit(&where, static_cast<uint32_t>(operation_kind), named.bytes, &on,
                                 static_cast<uint64_t>(queue), bytes != 0 || flops != 0, bytes, flops);
}

ADAPTYST_FORTRAN void adaptyst_f_complete(adaptyst_operation* operation, int64_t started_ns, int64_t ended_ns) {
  adaptyst_complete(operation, static_cast<uint64_t>(started_ns), static_cast<uint64_t>(ended_ns));
}

ADAPTYST_FORTRAN void adaptyst_f_abandon(adaptyst_operation* operation, int reason) {
  adaptyst_abandon(operation, static_cast<adaptyst_operation_loss>(reason));
}

// CLOCK_MONOTONIC.
ADAPTYST_FORTRAN int64_t adaptyst_f_now_ns() { return static_cast<int64_t>(monotonic_ns()); }
