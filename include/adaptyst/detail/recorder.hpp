// A thread's recorder: how it is obtained, synchronised with the collector or observer, and written.
#ifndef ADAPTYST_DETAIL_RECORDER_HPP
#define ADAPTYST_DETAIL_RECORDER_HPP

#include "fork.hpp"
#include "object_loading.hpp"
#include "probes.hpp"
#include "recorder_state.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Scope during which a recorder is being written.
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

// The innermost open frame, or the root frame.
template <class = void>
ADAPTYST_DETAIL_INLINE frame& top_frame(recorder& r) noexcept {
  return r.frames[r.depth];
}

// Records that the host begins or stops to wait. If a begin cannot be recorded, its end is skipped. If an end cannot be
// recorded, the thread's next begin is skipped: the wait lasts until the next end.
template <class = void>
ADAPTYST_DETAIL_COLD inline void book_wait(recorder& r, device_work what, uint64_t at_ns) noexcept {
  const int change = what == device_work::wait_end ? 1 : -1;
  if (r.owed_waits * change < 0) {
    r.owed_waits += change;
    return;
  }
  if (!book_entry(*r.owner->store, r.epoch, r.booking, {at_ns, at_ns, 0, 0, 0, what})) r.owed_waits += change;
}

// True if all events are skipped now, because the enclosing event is skipped or recorded without nested events.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_closed(const recorder& r) noexcept {
  return load(r.left_out) != &r.sampler->open;
}
// Events skipped by closed counts since the last check may have been meant for recording: they count as unmatched.
template <class = void>
inline void count_left_out_unseen(recorder& r, uint64_t rounds = 0) noexcept {
  uint64_t uncounted = rounds * max_left_out_unseen;
  for (uint32_t step = 0; step <= ADAPTYST_STEP_LAST; ++step) {  // an event of a marker that is too deep is no loss
    uint32_t& skip_count = r.sampler->closed.skip_count[step];
    uncounted += max_left_out_unseen - load(skip_count);
    store(skip_count, max_left_out_unseen);
  }
  bump(r.begun, uncounted);
  count_loss(r, loss::unmatched, uncounted);
}

// Abandons frames from `depth` on: they never end.
template <class = void>
inline void abandon_frames(recorder& r, uint32_t depth) noexcept {
  const uint32_t counted = depth > r.base ? depth : r.base;
  for (uint32_t at = r.depth; at > counted; --at) {
    const frame& open = r.frames[at];
    if (is_wait(open.path->site->kind)) book_wait(r, device_work::wait_end, monotonic_ns());
    store(open.where->open_since, 0);
    if ((open.token & weighed_token) == 0) continue;
    if ((open.weight & is_closing) != 0) open_skip_counts(r);
    const uint64_t represented = (open.weight & is_carrier) != 0 ? 0 : weight_in(open);
    bump(r.begun, represented - 1);
    count_loss(r, loss::unmatched, represented - 1);
  }
  if (r.depth > counted) bump(r.lost[static_cast<unsigned>(loss::unmatched)], r.depth - counted);
  store(r.depth, depth);
  if (r.base > depth) store(r.base, depth);
  store(r.guess, &r.root);
}

// The ring of the n-th thread takes at most 1/16n of the store, but has at least 256 entries; the first eight are not limited.
// Recorders of later threads need the rest.
template <class = void>
inline uint64_t limit_ring(const recorder& r, uint64_t capacity) noexcept {
  constexpr uint64_t min_entries = 256, min_part = 16;
  const uint64_t threads = recorder_number(*r.owner->store, r) + 1;
  while (capacity > min_entries && threads > min_part / 2 &&
         ring_bytes(capacity) * min_part * threads > r.owner->store->head.bytes)
    capacity /= 2;
  return capacity;
}

template <class = void>
ADAPTYST_DETAIL_COLD inline trace_ring* make_ring(recorder& r, uint64_t capacity) noexcept {
  constexpr uint64_t max_entries = uint64_t{1} << 24;
  if (capacity == 0) return nullptr;
  const bool is_in_range = capacity <= max_entries && (capacity & (capacity - 1)) == 0;  // an observer has set it
  if (is_in_range) capacity = limit_ring(r, capacity);
  // Never unmapped: a tool may still read it.
  if (is_in_range && (r.kept_ring == nullptr || r.kept_ring->capacity < capacity)) {
    const uint64_t head = r.kept_ring != nullptr ? r.kept_ring->head : 0;
    r.kept_ring = static_cast<trace_ring*>(r.owner->store->allocate_pages(ring_bytes(capacity)));
    if (r.kept_ring != nullptr) {
      store(r.kept_ring->capacity, capacity);
      store(r.kept_ring->head, head);
    }
  }
  trace_ring& ring = r.kept_ring != nullptr ? *r.kept_ring : r.no_ring;
  // The head keeps counting, so that the tail of an earlier collector cannot match.
  store(ring.tail, const_cast<const uint64_t*>(&r.owner->settings.tails[recorder_number(*r.owner->store, r)]));
  store(ring.first, ring.head);
  store(ring.tail_seen, ring.head);
  store(ring.lost, 0);
  store(ring.sampled_out, 0);
  return &ring;
}

// Informs an attached kernel program of the owner of this recorder.
template <class = void>
inline void announce_thread(const recorder& r) noexcept {
  adaptyst_probe_thread(&r, state_layout);
}

template <class = void>
inline void enter_epoch(recorder& r) noexcept {
  const control_page& control = r.owner->control;
  forget_settings(*r.owner);
  r.owed_waits = 0;
  if (r.booking.head != nullptr) device_activity_buffer::leave_block(*r.booking.head);
  r.booking = {};
  store(r.ring, make_ring(r, load(control.trace_entries)));
  const uint64_t epoch = load(control.epoch);
  store(r.counting_epoch, load(control.clock.ns_per_tick) != 0 ? epoch : ~uint64_t{0});
  begin_event_sampling(*r.sampler, mix(load(r.thread) ^ mix(reinterpret_cast<uintptr_t>(&r)) ^ monotonic_ns()));
  open_skip_counts(r);
  r.never_closes = 0;
  prepare_watch(r.watch, thread_pointer());
  r.own_epoch = epoch;
  store_release(r.epoch, epoch);
  announce_thread(r);
}

template <class = void>
void enlist(recorder& r) noexcept {
  r.forks = r.owner->forks;
  store(r.owner->control.layout, state_layout);
  store(r.owner->store->head.layout, state_layout);
  recorder*& list = r.owner->control.recorders;
  r.next = load_acquire(list);
  while (!compare_exchange(list, r.next, &r)) {}
  // The last thread to arrive stores the final value.
  recorder*& last = r.owner->store->head.recorders;
  for (recorder* first = nullptr; first != load_acquire(list);) store_release(last, first = load_acquire(list));
}

// A new collector has started, or none runs because this is a forked child: discard the rows.
template <class = void>
ADAPTYST_DETAIL_COLD inline void renew(recorder& r) noexcept {
  const system::errno_kept unchanged;
  if (r.forks != r.owner->forks) {  // this thread has forked: the child's list of recorders is empty
    r.row_details.forget();
    store(r.thread, static_cast<uint32_t>(system::call(__NR_gettid)));
    r.kept_ring = nullptr;
    r.booking = {};
    enlist(r);
    fetch_add(r.owner->control.owners, 1);
  }
  r.table.clear();
  r.row_details.begin_anew();
  store(r.rows_used, 0);
  store(r.base, r.depth);
  store(r.guess, &r.root);
  r.root.child = &r.root;
  for (uint32_t at = 1; at <= r.depth; ++at) r.frames[at].where = &r.root;
  store(r.first_serial, r.serial);
  store(r.begun, 0);
  store(r.ended, 0);
  store(r.orphans, 0);
  for (uint64_t& reason : r.lost) store(reason, 0);
  // Events that a region of an earlier epoch skipped in this epoch are counted. In a forked child all counts are zero.
  if (is_closed(r) && r.sampler->random != 0) count_left_out_unseen(r);
  enter_epoch(r);
}

// If a system-call filter forbids the test, the thread counts as alive. Changes errno.
template <class = void>
inline bool is_alive(const process& in, uint32_t thread) noexcept {
  return system::call(__NR_tgkill, static_cast<int>(in.number), static_cast<int>(thread), 0) == 0 ||
         *system::error_number() != system::no_such_process;
}

template <class = void>
inline recorder* allocate_recorder(process& in) noexcept {
  auto* const made = static_cast<recorder*>(in.store->allocate_below(recorder_bytes));
  if (made == nullptr) return nullptr;
  const uint64_t number = recorder_number(*in.store, *made);
  void* const own = reinterpret_cast<char*>(made) + page_bytes;
  constexpr int here = system::private_memory | system::in_place;
  if (number >= max_recorders) {
    in.store->give_back_below(first_below + number * recorder_bytes, recorder_bytes);
    return nullptr;
  }
  if (in.is_shared == 0) return made;
  // After a failure the block stays taken: its addresses may belong to the program now.
  return system::map(own, recorder_bytes - page_bytes, system::read_write, here, -1, 0) == own ? made : nullptr;
}

// Finds this thread's recorder from another ELF object, takes over a dead thread's, or makes one. Each test for a dead
// thread is a system call. Usually some 64 random recorders are tested. If there is no memory for another recorder, one
// of 64 events tests 512.
template <class = void>
inline recorder* claim_recorder(process& in, uint64_t tests = 64) noexcept {
  if (!notice_fork(in)) return nullptr;
  if (void* const value = system::get_value(in.recorder_key)) return static_cast<recorder*>(value);
  // A vfork() child has the thread_local variables of one of our threads. The recorder must be that thread's, but its
  // id is unknown here.
  if (system::call(__NR_getpid) != static_cast<long>(in.number)) return nullptr;
  const auto self = static_cast<uint32_t>(system::call(__NR_gettid));
  constexpr uint64_t most_tests = 512;
  const uint64_t made_before = (load_acquire(in.store->head.below) - first_below) / recorder_bytes;
  const uint64_t seed = self ^ monotonic_ns();
  for (recorder* r = load_acquire(in.control.recorders); r != nullptr; r = r->next) {
    const bool is_tested = made_before <= tests || mix(seed ^ reinterpret_cast<uintptr_t>(r)) % made_before < tests;
    uint32_t thread = load_acquire(r->thread);
    // set_value() may allocate, and an interposed allocator may have markers: a call within a claim.
    if (thread == self && is_being_written(*r) && load(r->owner_pointer) == thread_pointer()) return nullptr;
    // Thread ids are reused: another recorder with our id belonged to a dead thread.
    if (thread != self && (!is_tested || is_alive(in, thread))) continue;
    if (!compare_exchange(r->thread, thread, self)) continue;
    // Acquires the dead thread's last writes, for ThreadSanitizer, which cannot detect that the thread has ended.
    if ((load_acquire(r->sequence) & 1) != 0) bump(r->sequence, 1);  // it died during a write
    const writing now(*r);
    abandon_frames(*r, 0);
    store(r->owner_pointer, thread_pointer());
    prepare_watch(r->watch, thread_pointer());
    open_skip_counts(*r);
    r->never_closes = 0;
    store(r->generation, r->generation + 1);
    fetch_add(in.control.owners, 1);
    system::set_value(in.recorder_key, r);
    announce_thread(*r);
    return r;
  }
  recorder* const made = allocate_recorder(in);
  if (made == nullptr) {
    const bool is_last_try = tests == most_tests || load(adaptyst_object_v5.unrecorded) % 64 != 0;
    return is_last_try ? nullptr : claim_recorder(in, most_tests);
  }
  const uint64_t number = recorder_number(*in.store, *made);
  made->owner = &in;
  made->sampler = &in.event_samplers[number];
  made->thread = self;
  made->owner_pointer = thread_pointer();
  made->generation = 1;
  made->table.clear();
  enter_epoch(*made);
  made->serial = made->first_serial = (number + 1) << 32;
  made->root.identity = made->root.extras = ~uint64_t{0};
  made->guess = made->root.child = made->root.next = made->frames[0].where = &made->root;
  made->frames[0].stack = reinterpret_cast<const void*>(~uintptr_t{0});
  const writing now(*made);  // until the key has its value
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
    if (process* const in = get_process(adaptyst_object_v5)) found = claim_recorder(*in);
    if (found != nullptr) store_release(recorder_slot(thread_pointer()), found);
    this_thread_recorder = found;
  }
  if (found == nullptr) fetch_add(adaptyst_object_v5.unrecorded, 1);
  return found;
}

// Counts an event of a signal handler that interrupted the recorder. This count has a separate epoch, because the
// handler may have interrupted renew(), which resets the others.
template <class = void>
ADAPTYST_DETAIL_COLD inline void lose_in_signal(recorder& r) noexcept {
  const uint64_t epoch = load(r.owner->control.epoch);
  if (load(r.in_signal_epoch) != epoch) {
    store(r.in_signal, 0);
    store(r.in_signal_epoch, epoch);
  }
  bump(r.in_signal, 1);
}

// In a forked child, replaces the parent's recorder by the child's. False if impossible.
template <class = void>
ADAPTYST_DETAIL_COLD inline bool take_from_parent(recorder& r) noexcept {
  const system::errno_kept unchanged;
  this_thread_recorder = being_found();  // signal handlers test this
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const bool taken = notice_fork(*r.owner);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  this_thread_recorder = &r;
  if (!taken) fetch_add(adaptyst_object_v5.unrecorded, 1);
  return taken;
}
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_own(recorder& r) noexcept {
  return ADAPTYST_DETAIL_LIKELY(load_acquire(r.owner->control.noticed) == all_noticed) || take_from_parent(r);
}

template <class = void>
ADAPTYST_DETAIL_COLD inline bool make_ready(recorder& r) noexcept {
  if (!is_own(r)) return false;
  if (is_being_written(r)) {
    lose_in_signal(r);
    return false;
  }
  const writing now(r);
  renew(r);
  return true;
}

// True if the recorder belongs to this process and the present epoch. In a forked child, the epoch is 0 at first.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_ready(recorder& r) noexcept {
  return ADAPTYST_DETAIL_LIKELY(r.own_epoch == load(r.owner->control.epoch)) || make_ready(r);
}

// Makes the markers idle after the observer has gone, unless another observer has come and is clearing the settings.
template <class = void>
ADAPTYST_DETAIL_COLD inline void disable_markers(const process& in) noexcept {
  if (load(in.store->head.settings_owner) == observer_identity(in.control)) store(adaptyst_object_v5.recorder, 0);
}

// This thread's recorder, ready for writing. Null if there is none; the loss is then counted.
template <class = void>
ADAPTYST_DETAIL_INLINE recorder* open_recorder() noexcept {
  recorder* r = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(r) <= 1) && (r = find_recorder()) == nullptr) return nullptr;
  if (!is_ready(*r)) return nullptr;
  if (ADAPTYST_DETAIL_UNLIKELY(load(r->owner->settings.over) != 0)) disable_markers(*r->owner);
  if (ADAPTYST_DETAIL_UNLIKELY(is_being_written(*r))) {
    lose_in_signal(*r);
    return nullptr;
  }
  return r;
}

// True if an event is skipped because its marker is too deep for this run.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_deeper(recorder& r, const adaptyst_site& marker) noexcept {
  if (ADAPTYST_DETAIL_LIKELY(load(*marker.step) != ADAPTYST_STEP_DEEPER)) return false;
  store(load(r.left_out)->skip_count[ADAPTYST_STEP_DEEPER], max_deeper_unseen);
  return true;
}

template <class = void>
ADAPTYST_DETAIL_INLINE const adaptyst_path* current_path(const recorder& r) noexcept {
  return r.frames[r.depth].path;
}

}}}  // namespace adaptyst::v1::detail

#endif
