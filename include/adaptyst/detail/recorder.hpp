// The recorder: what one thread knows of itself, from the first time that one of its markers is awake.
//
// A recorder has one writer, its thread, and any number of readers, in this process or another. Whoever writes makes
// `sequence` odd before and even after: a reader that saw an odd or a changed number reads again, and a signal handler
// that finds it odd knows that it has interrupted a writer on its own thread, and lets its event go, counted.
//
// Recorders are never freed. One whose thread has died is taken over, rows and all, by the next thread that needs one:
// a hundred thousand short-lived threads share a handful, and nothing has to run when a thread ends.
//
// Memory per thread: about 0.5 MiB of addresses, of which a program with a few dozen rows touches some 100 KiB; further
// 155 KiB of addresses for every 32 rows. At most `most_rows` rows.
#ifndef ADAPTYST_DETAIL_RECORDER_HPP
#define ADAPTYST_DETAIL_RECORDER_HPP

#include "../histogram.h"
#include "announce.hpp"
#include "probes.hpp"
#include "process.hpp"
#include "sampling.hpp"
#include "trace_ring.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Why an event was lost.
enum class loss : unsigned {
  too_deep,       // more than most_depth regions open on one thread
  rows_full,      // more than most_rows call paths on one thread
  tables_full,    // no room for a further marker, call path or device in the process
  no_memory,      // the recorder could not be made
  in_signal,      // a signal handler interrupted the recorder of its own thread
  bad_times,      // an operation that ended before it started, or started before it was submitted
  no_times,       // an operation whose times its device did not tell
  unknown_clock,  // an operation whose times cannot be converted
  device_lost,    // an operation that its device will never finish
  unmatched,      // begun, and then left by longjmp() or the end of its thread
  reasons
};

constexpr uint32_t most_depth = 4096;
constexpr uint32_t most_rows = 4096;
constexpr uint32_t rows_per_chunk = 32;
constexpr uint32_t row_slots = 2 * most_rows;

struct attribute_sum {
  double sum, min, max;
};

// What is known of one call path on one thread.
struct alignas(64) row {
  uint64_t id;  // of the path
  const adaptyst_path* path;
  const adaptyst_site* site;
  row* child;         // the last that was found below this one, as a loop finds it again; never null
  uint64_t identity;  // device and generation of the thread, see identity_of()
  uint64_t extras;    // 0: no numbers of a payload, no device, no wait of the host, no timeline, no weight
  uint64_t count, total_ns, nested_ns, min_ns, max_ns;
  uint64_t* histogram;
  uint32_t threads;  // that have had this recorder, and been here
  uint32_t pad;
  attribute_sum attributes[ADAPTYST_ATTRIBUTES];
  // Of the events that were booked with a weight N > 1: the sums of N - 1, of N (N - 1), and of the latter times the
  // square of the duration, which are the estimates' variances.
  uint64_t left_out, count_variance;
  double total_variance;
};

struct row_chunk {
  row rows[rows_per_chunk];
  uint64_t histograms[rows_per_chunk][ADAPTYST_HISTOGRAM_BUCKETS];
};

// An open region.
struct frame {
  uint64_t token;  // as its scope knows it; 0: none
  row* where;      // the recorder's root if the region was begun in an earlier epoch
  uint64_t nested_ns;
  const void* stack;  // where its marker stands: stack frame and code
  uint64_t begin;     // timestamp; 0: not taken yet, and the thread's time still is that of the frame below
  const void* code;
  const adaptyst_path* path;
  uint64_t weight;  // of its event, if its row has `weighed` among its extras
};

// In the extras of a row whose open frame has a weight: it is booked here, whatever the engine.
constexpr uint64_t weighed = uint64_t{1} << 32;

// What others read of a recorder.
struct recorder_head {
  uint64_t sequence;
  uint64_t epoch;
  process* owner;
  uint32_t depth;           // open frames
  uint32_t base;            // of which this many were begun for an earlier collector, and count for nobody
  row* guess;               // below the innermost region: what the next one will probably be; the root: no idea
  uint64_t counting_epoch;  // the epoch, if timestamps are the processor's counter; never one otherwise
  uint64_t serial;          // of the last frame; starts with the recorder's number, so no two recorders share a token
  uint64_t first_serial;    // when the epoch began: each frame since counts as begun
  uint64_t begun;           // without frames
  uint64_t ended;
  int64_t handles;           // regions and operations begun here less those ended here
  uint64_t orphans;          // ends that met no begin
  uint64_t in_signal;        // lost by signal handlers
  uint64_t in_signal_epoch;  // in which they were
  uint64_t lost[static_cast<unsigned>(loss::reasons)];
  recorder* next;
  uint32_t thread;  // kernel thread id of the owner, dead or alive
  uint32_t generation;
  uint32_t rows_used, rows_touched;  // now; and ever, so that untouched memory need not be cleared
  trace_ring* ring;                  // null: no timeline
  row_chunk* chunks[most_rows / rows_per_chunk];
};

struct recorder : recorder_head {
  int64_t owed_waits;     // see book_wait()
  trace_ring* kept_ring;  // of an earlier epoch, perhaps
  trace_ring no_ring;     // where there was no memory: it counts what it loses
  gaps left_out;

  row* slots[row_slots];

  row root;                                            // no path's: above all others
  frame frames[1 + most_depth];                        // the first is nobody's, and bears the root
  double values[1 + most_depth][ADAPTYST_ATTRIBUTES];  // numeric members of the open regions' payloads
};

#ifndef __CUDACC__  // nvcc refuses it, and programs do without
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // a plain struct behind a plain struct
constexpr size_t offset_of_frames = offsetof(recorder, frames);
#pragma GCC diagnostic pop
#endif

// Differs, in all likelihood, where a reader from outside was built with other headers.
constexpr uint64_t layout_of_state = mix(
    mix(sizeof(process) ^ (uint64_t{sizeof(recorder)} << 32)) ^ sizeof(row) ^ (uint64_t{sizeof(adaptyst_site)} << 8) ^
    (uint64_t{ADAPTYST_HISTOGRAM_BUCKETS} << 16) ^ (uint64_t{sizeof(frame)} << 32) ^
    (uint64_t{offsetof(control_page, owners)} << 40) ^ (uint64_t{offsetof(control_page, recorders)} << 48));

// Hidden, one for each ELF object and thread: one pointer of TLS, whatever the program marks.
ADAPTYST_DETAIL_HIDDEN inline thread_local recorder* this_thread_recorder = nullptr;

// Stands in this_thread_recorder while the recorder is being found, for signal handlers to see.
inline recorder* being_found() noexcept { return reinterpret_cast<recorder*>(uintptr_t{1}); }

// ---- writing ------------------------------------------------------------------------------------------------------

// The stretch in which a recorder is being written.
class writing {
 public:
  explicit ADAPTYST_DETAIL_INLINE writing(recorder& in) noexcept : in_(in) {
    bump(in_.sequence, 1);
    fence_release();
  }
  ADAPTYST_DETAIL_INLINE ~writing() { bump_release(in_.sequence, 1); }
  writing(const writing&) = delete;
  writing& operator=(const writing&) = delete;

 private:
  recorder& in_;
};

template <class = void>
ADAPTYST_DETAIL_INLINE bool is_being_written(const recorder& r) noexcept {
  return (load(r.sequence) & 1) != 0;
}

template <class = void>
ADAPTYST_DETAIL_INLINE void count_loss(recorder& r, loss why, uint64_t times = 1) noexcept {
  bump(r.lost[static_cast<unsigned>(why)], times);
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t identity_of(const recorder& r, uint32_t device) noexcept {
  return (uint64_t{r.generation} << 32) | device;
}

// The innermost open frame, or the one below all.
template <class = void>
ADAPTYST_DETAIL_INLINE frame& top_frame(recorder& r) noexcept {
  return r.frames[r.depth];
}

// Whether the host waits for a device in a region of this kind.
ADAPTYST_DETAIL_INLINE bool is_wait(uint32_t kind) noexcept {
  return kind == ADAPTYST_SITE_WAIT || kind == ADAPTYST_SITE_OFFLOAD;
}

// The host begins or stops to wait. A beginning that cannot be booked takes its end with it; an end that cannot be waits
// for this thread's next beginning, which is then left out as well.
template <class = void>
ADAPTYST_DETAIL_COLD inline void book_wait(recorder& r, device_work what, uint64_t at_ns) noexcept {
  const int change = what == device_work::wait_end ? 1 : -1;
  if (r.owed_waits * change < 0) {
    r.owed_waits += change;
    return;
  }
  if (!with_ledger(r.owner->ledger, r.epoch, [=](device_ledger& all) { all.add({at_ns, at_ns, 0, 0, 0, what}); }))
    r.owed_waits += change;
}

// Frames from `depth` on will never be ended.
template <class = void>
inline void abandon_frames(recorder& r, uint32_t depth) noexcept {
  const uint32_t counted = depth > r.base ? depth : r.base;
  for (uint32_t at = r.depth; at > counted; --at) {
    const frame& open = r.frames[at];
    if (is_wait(open.path->site->kind)) book_wait(r, device_work::wait_end, monotonic_ns());
    if ((open.where->extras & weighed) == 0) continue;
    store(open.where->extras, open.where->extras & ~weighed);
    bump(r.begun, open.weight - 1);
    count_loss(r, loss::unmatched, open.weight - 1);
  }
  if (r.depth > counted) bump(r.lost[static_cast<unsigned>(loss::unmatched)], r.depth - counted);
  store(r.depth, depth);
  if (r.base > depth) store(r.base, depth);
  store(r.guess, &r.root);
}

template <class = void>
ADAPTYST_DETAIL_COLD inline trace_ring* make_ring(recorder& r, uint64_t capacity) noexcept {
  if (capacity == 0) return nullptr;
  // Never unmapped: somebody may still read it.
  if (r.kept_ring == nullptr || r.kept_ring->capacity < capacity) {
    r.kept_ring = static_cast<trace_ring*>(map_memory(bytes_of_ring(capacity)));
    if (r.kept_ring != nullptr) store(r.kept_ring->capacity, capacity);
  }
  trace_ring& ring = r.kept_ring != nullptr ? *r.kept_ring : r.no_ring;
  store(ring.head, 0);
  store(ring.tail_seen, 0);
  store(ring.tail, 0);
  store(ring.lost, 0);
  return &ring;
}

// Tells the kernel's side, if it listens, whose recorder this is.
template <class = void>
inline void announce_thread(const recorder& r) noexcept {
  adaptyst_probe_thread(&r, layout_of_state);
}

template <class = void>
inline void enter_epoch(recorder& r) noexcept {
  const control_page& control = r.owner->control;
  r.owed_waits = 0;
  store(r.ring, make_ring(r, load(control.trace_entries)));
  const uint64_t epoch = load(control.epoch);
  store(r.counting_epoch, load(control.clock.ns_per_tick) != 0 ? epoch : ~uint64_t{0});
  begin_gaps(r.left_out, mix(load(r.thread) ^ mix(reinterpret_cast<uintptr_t>(&r)) ^ monotonic_ns()));
  store_release(r.epoch, epoch);
  announce_thread(r);
}

template <class = void>
void enlist(recorder& r) noexcept {
  recorder*& list = r.owner->control.recorders;
  r.next = load_acquire(list);
  while (!compare_exchange(list, r.next, &r)) {}
}

// A new collector looks, or none does any more because this is a forked child: forget the rows.
template <class = void>
ADAPTYST_DETAIL_COLD inline void renew(recorder& r) noexcept {
  const system::errno_kept unchanged;
  notice_fork(*r.owner, adaptyst_object_v1);
  const auto self = static_cast<uint32_t>(system::call(__NR_gettid));
  if (load(r.thread) != self) {  // this thread has forked: the child's list of recorders began empty
    store(r.thread, self);
    enlist(r);
    fetch_add(r.owner->control.owners, 1);
  }
  __builtin_memset(static_cast<void*>(r.slots), 0, sizeof r.slots);
  store(r.rows_used, 0);
  store(r.base, r.depth);
  store(r.guess, &r.root);
  r.root.child = &r.root;
  for (uint32_t at = 1; at <= r.depth; ++at) r.frames[at].where = &r.root;
  store(r.first_serial, r.serial);
  store(r.begun, 0);
  store(r.ended, 0);
  store(r.handles, 0);
  store(r.orphans, 0);
  for (uint64_t& reason : r.lost) store(reason, 0);
  enter_epoch(r);
}

template <class = void>
ADAPTYST_DETAIL_COLD inline row* make_row(recorder& r, row*& slot, uint64_t id, const adaptyst_path* path,
                                          loss& why) noexcept {
  why = loss::rows_full;
  if (r.rows_used == most_rows) return nullptr;
  const uint32_t number = r.rows_used;
  row_chunk*& chunk = r.chunks[number / rows_per_chunk];
  if (chunk == nullptr) {
    const system::errno_kept unchanged;
    auto* const mapped = static_cast<row_chunk*>(map_memory(sizeof(row_chunk)));
    why = loss::no_memory;
    if (mapped == nullptr) return nullptr;
    store_release(chunk, mapped);
  }
  row& made = chunk->rows[number % rows_per_chunk];
  uint64_t* const histogram = chunk->histograms[number % rows_per_chunk];
  if (number < r.rows_touched) {
    for (unsigned at = 0; at != ADAPTYST_HISTOGRAM_BUCKETS; ++at) store(histogram[at], 0);
  } else {
    store(r.rows_touched, number + 1);
  }
  store(made.id, id);
  store(made.path, path);
  store(made.site, path->site);
  store(made.child, &r.root);
  store(made.identity, 0);
  store(made.extras,
        path->site->attribute_count | path->device | (is_wait(path->site->kind) || r.ring != nullptr ? 1U : 0U));
  store(made.count, 0);
  store(made.total_ns, 0);
  store(made.nested_ns, 0);
  store(made.min_ns, ~uint64_t{0});
  store(made.max_ns, 0);
  store(made.threads, 0);
  store(made.left_out, 0);
  store(made.count_variance, 0);
  store_number(made.total_variance, 0);
  store(made.histogram, histogram);
  for (attribute_sum& attribute : made.attributes) {
    store_number(attribute.sum, 0);
    store_number(attribute.min, __builtin_huge_val());
    store_number(attribute.max, -__builtin_huge_val());
  }
  slot = &made;
  store_release(r.rows_used, number + 1);
  return &made;
}

// The row of a path, if there is one; `slot` is where it is or belongs. The table is never more than half full.
template <class = void>
ADAPTYST_DETAIL_INLINE row* look_up(recorder& r, uint64_t id, row**& slot) noexcept {
  for (uint64_t at = id;; ++at) {
    slot = &r.slots[at % row_slots];
    row* const there = *slot;
    if (there == nullptr || there->id == id) return there;
  }
}

// The row for `site` below `parent`; null, counted by the caller as `why`, when there is no room.
template <class = void>
ADAPTYST_DETAIL_INLINE row* row_below(recorder& r, const adaptyst_path* parent, const adaptyst_site* site,
                                      uint32_t device, loss& why) noexcept {
  const uint64_t id = path_id(parent != nullptr ? parent->id : 0, site->id, device);
  row** slot;
  row* found = look_up(r, id, slot);
  if (ADAPTYST_DETAIL_UNLIKELY(found == nullptr)) {
    const adaptyst_path* const path = intern_path(*r.owner, id, parent, site, device);
    why = loss::tables_full;
    if (path == nullptr || (found = make_row(r, *slot, id, path, why)) == nullptr) return nullptr;
  }
  if (ADAPTYST_DETAIL_UNLIKELY(found->identity != identity_of(r, device))) {
    store(found->identity, identity_of(r, device));
    bump(found->threads, 1);
  }
  return found;
}

// The same for a path that another thread began.
template <class = void>
inline row* row_of(recorder& r, const adaptyst_path* path, loss& why) noexcept {
  return row_below(r, path->parent, path->site, path->device, why);
}

template <class = void>
ADAPTYST_DETAIL_INLINE void add_attribute(attribute_sum& to, double value, double weight = 1) noexcept {
  store_number(to.sum, to.sum + weight * value);  // only this thread writes: plain reads are its own
  if (value < to.min) store_number(to.min, value);
  if (value > to.max) store_number(to.max, value);
}

template <class = void>
ADAPTYST_DETAIL_INLINE void add_duration(row& to, uint64_t duration_ns, uint64_t nested_ns,
                                         uint64_t weight = 1) noexcept {
  bump(to.total_ns, duration_ns * weight);
  bump(to.nested_ns, nested_ns * weight);
  if (duration_ns < to.min_ns) store(to.min_ns, duration_ns);
  if (duration_ns > to.max_ns) store(to.max_ns, duration_ns);
  bump(to.histogram[adaptyst_histogram_bucket(duration_ns)], weight);
}

// The event stands for `weight`, of which the others were left out.
template <class = void>
inline void add_weighed_duration(row& to, uint64_t duration_ns, uint64_t nested_ns, uint64_t weight) noexcept {
  add_duration(to, duration_ns, nested_ns, weight);
  const auto duration = static_cast<double>(duration_ns);
  bump(to.left_out, weight - 1);
  bump(to.count_variance, weight * (weight - 1));
  store_number(to.total_variance, to.total_variance + static_cast<double>(weight * (weight - 1)) * duration * duration);
}

// ---- having one ---------------------------------------------------------------------------------------------------

template <class = void>
inline bool is_alive(uint32_t thread) noexcept {
  return system::call(__NR_tgkill, system::call(__NR_getpid), static_cast<int>(thread), 0) == 0;
}

// Finds the recorder that this thread has through another ELF object, takes over a dead thread's, or makes one.
template <class = void>
inline recorder* claim_recorder(process& in) noexcept {
  notice_fork(in, adaptyst_object_v1);
  if (void* const known = system::get_value(in.recorder_key)) return static_cast<recorder*>(known);
  const auto self = static_cast<uint32_t>(system::call(__NR_gettid));
  for (recorder* r = load_acquire(in.control.recorders); r != nullptr; r = r->next) {
    uint32_t thread = load_acquire(r->thread);
    // Numbers of threads are used again: one with our number that is not ours belonged to a thread that is gone.
    if ((thread != self && is_alive(thread)) || !compare_exchange(r->thread, thread, self)) continue;
    // Acquires what the dead thread wrote last, for ThreadSanitizer, which cannot see that the kernel has ended it.
    if ((load_acquire(r->sequence) & 1) != 0) bump(r->sequence, 1);  // it died half-way
    const writing now(*r);
    abandon_frames(*r, 0);
    store(r->generation, r->generation + 1);
    fetch_add(in.control.owners, 1);
    system::set_value(in.recorder_key, r);
    announce_thread(*r);
    return r;
  }
  auto* const made = static_cast<recorder*>(map_memory(sizeof(recorder)));
  if (made == nullptr) return nullptr;
  store(in.control.layout, layout_of_state);
  made->owner = &in;
  made->thread = self;
  made->generation = 1;
  enter_epoch(*made);
  made->serial = made->first_serial = uint64_t{fetch_add(in.control.recorders_made, 1) + 1} << 32;
  made->root.identity = made->root.extras = ~uint64_t{0};
  made->guess = made->root.child = made->frames[0].where = &made->root;
  made->frames[0].stack = reinterpret_cast<const void*>(~uintptr_t{0});
  enlist(*made);
  fetch_add(in.control.owners, 1);
  system::set_value(in.recorder_key, made);
  return made;
}

template <class = void>
ADAPTYST_DETAIL_COLD inline recorder* find_recorder() noexcept {
  define_object();
  const system::errno_kept unchanged;
  recorder* found = nullptr;
  if (this_thread_recorder != being_found()) {
    this_thread_recorder = being_found();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (process* const in = process_of(adaptyst_object_v1)) found = claim_recorder(*in);
    this_thread_recorder = found;
  }
  if (found == nullptr) fetch_add(adaptyst_object_v1.unrecorded, 1);
  return found;
}

// An event of a handler that has interrupted the recorder. What it has interrupted may be renew(), on its way into a new
// epoch: so this has an epoch of its own, and nobody resets it meanwhile.
template <class = void>
ADAPTYST_DETAIL_COLD inline void lose_in_signal(recorder& r) noexcept {
  const uint64_t epoch = load(r.owner->control.epoch);
  if (load(r.in_signal_epoch) != epoch) {
    store(r.in_signal, 0);
    store(r.in_signal_epoch, epoch);
  }
  bump(r.in_signal, 1);
}

// The recorder of this thread, ready to be written; null, and the loss counted, when it cannot be had.
template <class = void>
ADAPTYST_DETAIL_INLINE recorder* open_recorder() noexcept {
  recorder* r = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(r) <= 1) && (r = find_recorder()) == nullptr) return nullptr;
  if (ADAPTYST_DETAIL_UNLIKELY(is_being_written(*r))) {
    lose_in_signal(*r);
    return nullptr;
  }
  return r;
}

template <class = void>
ADAPTYST_DETAIL_INLINE void renew_if_stale(recorder& r) noexcept {
  if (ADAPTYST_DETAIL_UNLIKELY(load(r.epoch) != load(r.owner->control.epoch))) renew(r);
}

template <class = void>
ADAPTYST_DETAIL_INLINE const adaptyst_path* current_path(const recorder& r) noexcept {
  return r.frames[r.depth].path;
}

}}}  // namespace adaptyst::v1::detail

#endif
