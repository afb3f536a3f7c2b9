// What the macros expand to: a static site, a test of the semaphores, and the cold path behind it.
#ifndef ADAPTYST_DETAIL_MARKER_HPP
#define ADAPTYST_DETAIL_MARKER_HPP

#include "recorder.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// A marker in the source. Constant-initialised; `record` is found when it is first awake, and refers to a copy that
// outlives this one, which goes with its ELF object. A hidden type, because its objects inside inline functions and
// templates would otherwise be unique symbols (STB_GNU_UNIQUE), and no library that has one is ever unloaded.
struct ADAPTYST_DETAIL_HIDDEN site {
  const char* name;  // null: the name is not a literal, and comes with each event
  size_t name_bytes;
  const char* file;
  const char* function;
  uint32_t line;
  uint32_t kind;
  const adaptyst_site* record;
};

// The numeric members of a payload, and its texts as one label. None in a marker without payload.
struct payload_values {
  const char* const* names;
  uint32_t count;
  text label;
  double numbers[ADAPTYST_ATTRIBUTES];
};

// Replaced by <adaptyst/payload.hpp>.
template <class Payload, bool = true>
struct payload_reader {
  static_assert(sizeof(Payload) == 0, "adaptyst: a marker with a payload needs #include <adaptyst/payload.hpp>");
};

// Whether anybody looks: all four counters of the control block in one comparison. Asked anew each time, whatever the
// compiler knows: who comes while a loop runs must be seen by the loop, and a loop that was made twice, with and without
// what is behind this, would stand among the cold code in the case that matters.
ADAPTYST_DETAIL_INLINE bool is_awake() noexcept {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
  bool awake;
  __asm__ volatile("cmpq $0, %1" : "=@ccne"(awake) : "m"(adaptyst_object_v1));
#else
  using all_four __attribute__((may_alias)) = const volatile uint64_t;
  const bool awake = *reinterpret_cast<all_four*>(&adaptyst_object_v1) != 0;
#endif
  return ADAPTYST_DETAIL_UNLIKELY(awake);
}

template <class = void>
inline const adaptyst_site* make_record(process& in, const site& marker, text name,
                                        const payload_values* payload) noexcept {
  site_texts texts{};
  texts.name = name;
  texts.file = text_of(marker.file);
  texts.function = text_of(marker.function);
  texts.label = payload != nullptr ? payload->label : text{nullptr, 0};
  texts.attributes = payload != nullptr ? payload->names : nullptr;
  texts.attribute_count = payload != nullptr ? payload->count : 0;
  texts.line = marker.line;
  texts.kind = marker.kind;
  return intern_site(in, texts);
}

// The record of a marker: remembered where name and label cannot change from one event to the next.
template <class = void>
ADAPTYST_DETAIL_INLINE const adaptyst_site* record_of(process& in, site& marker, text name,
                                                      const payload_values* payload) noexcept {
  const bool constant = marker.name != nullptr && (payload == nullptr || payload->label.bytes == 0);
  const adaptyst_site* record = constant ? load_acquire(marker.record) : nullptr;
  if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) {
    record = make_record(in, marker, name, payload);
    if (constant) store_release(marker.record, record);
  }
  return record;
}

// 0, and where it is asked for all is cold until ways meet again. GCC moves away from the hot code only what cannot but
// lead to a call of a cold function, whatever it is told of probabilities. By the time that it finds that this one is
// called for nothing it has decided.
ADAPTYST_DETAIL_COLD __attribute__((const)) inline uint32_t cold_zero() noexcept { return 0; }

// Whether the overhead budget wants this event left out. Counts it down, if so; whatever is unclear is for the long way.
// Stands in the user's function, before any call: for a call the compiler has to put away all that the user's code has in
// registers, which costs more than all of this.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_left_out(const site& marker, uint32_t zero = 0) noexcept {
  const adaptyst_site* const record = load_acquire(marker.record);
  recorder* const r = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) return false;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(r) <= 1)) return false;
  const uint32_t step = load(record->step) % steps_with_room;  // whatever an observer has written there
  uint32_t& gap = r->left_out.gap[step + (__builtin_constant_p(step) ? zero : 0)];
  const uint32_t left = load(gap);
  if (ADAPTYST_DETAIL_UNLIKELY(left <= 1)) return false;
  store(gap, left - 1);
  return true;
}

// ---- regions bound to a scope -----------------------------------------------------------------------------------
//
// A region whose name is a literal, and which follows its like on this thread, takes the short way: push_again() and
// pop_again() touch the recorder, two frames and one row, and call nothing. Whatever is not as it nearly always is goes
// the long way, push_frame() and pop_frame().

// Where a marker stands: no two live scopes share stack frame, code and site. Without a frame pointer.
#define ADAPTYST_DETAIL_STACK() __builtin_dwarf_cfa()

// Frames above a marker that begins again where it already stands were left by longjmp().
template <class = void>
ADAPTYST_DETAIL_INLINE void heal(recorder& r, const adaptyst_site* record, const void* stack,
                                 const void* code) noexcept {
  for (uint32_t at = r.depth; at > r.base; --at) {
    const frame& open = r.frames[at];
    if (open.stack > stack) return;
    if (open.stack == stack && open.code == code && open.path->site == record) return abandon_frames(r, at - 1);
  }
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t open_frame(recorder& r, frame& opened, row& where, const void* stack,
                                           const void* code) noexcept {
  const uint64_t serial = r.serial + 1;
  const uint64_t token = (serial << 12) | r.depth;
  store(r.serial, serial);
  opened.token = token;
  opened.where = &where;
  opened.path = where.path;
  opened.nested_ns = 0;
  opened.stack = stack;
  opened.code = code;
  store(opened.begin, 0);
  store(r.guess, where.child);
  store_release(r.depth, r.depth + 1);  // the kernel may look at the frame from here on
  return token;
}

template <class = void>
ADAPTYST_DETAIL_COLD inline uint64_t tell_begin(const recorder& r, const frame& opened) noexcept {
  const uint64_t token = opened.token;
  adaptyst_probe_region_begin(opened.path->site->name, opened.path->id,
                              to_monotonic_ns(r.owner->control.clock, opened.begin), opened.path->depth, opened.path);
  return token;
}

// Takes the time, at last, and tells whoever listens.
template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t start_frame(recorder& r, frame& opened) noexcept {
  opened.begin = timestamp(r.owner->control.clock);
  if (ADAPTYST_DETAIL_UNLIKELY(load(adaptyst_object_v1.region_begin) != 0)) return tell_begin(r, opened);
  return opened.token;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_frame(site& marker, text name, uint32_t device,
                                                                            const payload_values* payload,
                                                                            const void* stack,
                                                                            const void* code) noexcept {
  recorder* const opened = open_recorder();
  if (ADAPTYST_DETAIL_UNLIKELY(opened == nullptr)) return 0;
  recorder& r = *opened;
  frame* pushed;
  {
    const writing now(r);
    renew_if_stale(r);
    const adaptyst_site* const record = record_of(*r.owner, marker, name, payload);
    loss why = loss::tables_full;
    row* where = nullptr;
    if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) {
      count_loss(r, why);
      return 0;
    }
    const uint32_t step = load(record->step);
    const uint64_t weight = step == ADAPTYST_STEP_ENGINE ? 1 : weight_of_next(r.left_out, step);
    if (weight == 0) return 0;
    heal(r, record, stack, code);
    const uint32_t depth = r.depth;
    const auto lose = [&](loss reason) {
      count_loss(r, reason, weight);
      return uint64_t{0};
    };
    if (ADAPTYST_DETAIL_UNLIKELY(depth == most_depth)) return lose(loss::too_deep);
    where = device > most_devices ? nullptr : row_below(r, current_path(r), record, device, why);
    if (ADAPTYST_DETAIL_UNLIKELY(where == nullptr)) return lose(why);
    // Not below a region of an earlier epoch: all of these bear the root, and their paths differ.
    if (depth == 0 || depth > r.base) store(top_frame(r).where->child, where);
    pushed = &(&top_frame(r))[1];
    open_frame(r, *pushed, *where, stack, code);
    if (step != ADAPTYST_STEP_ENGINE) {
      pushed->weight = weight;
      store(where->extras, where->extras | weighed);
    }
    if (payload != nullptr)
      for (uint32_t at = 0; at != payload->count; ++at) r.values[depth + 1][at] = payload->numbers[at];
  }
  return start_frame(r, *pushed);
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_named(site& marker, uint32_t device,
                                                                            const void* stack,
                                                                            const void* code) noexcept {
  return push_frame(marker, {marker.name, marker.name_bytes}, device, nullptr, stack, code);
}

// The short way in.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t push_again(site& marker, uint32_t device,
                                                                            const void* stack,
                                                                            const void* code) noexcept {
  recorder* const opened = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(opened) <= 1 || is_being_written(*opened)))
    return push_named(marker, device, stack, code);
  recorder& r = *opened;
  frame& pushed = (&top_frame(r))[1];
  uint64_t token = 0;
  {
    const writing now(r);  // also while asking: a signal handler's markers must not change the answers
    const frame& top = top_frame(r);
    row& where = *r.guess;
    // The root, which stands for "no guess", has an identity that no thread and device have.
    const adaptyst_site* const record = load_acquire(marker.record);
    const bool as_always = where.site == record && where.identity == identity_of(r, device) &&
                           load(record->step) == ADAPTYST_STEP_ENGINE &&
                           (top.stack > stack || (top.stack == stack && top.code != code)) && r.depth < most_depth &&
                           r.counting_epoch == load(r.owner->control.epoch) &&
                           load(adaptyst_object_v1.region_begin) == 0;
    if (as_always) token = open_frame(r, pushed, where, stack, code);
  }
  if (ADAPTYST_DETAIL_UNLIKELY(token == 0)) return push_named(marker, device, stack, code);
  pushed.begin = ticks();
  return token;
}

// What few regions have: numbers, a place in a timeline, a device, a wait for one.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void book_extras(recorder& r, row& where, uint32_t depth,
                                                                         uint64_t end, uint64_t duration_ns,
                                                                         uint64_t weight) noexcept {
  if (r.ring != nullptr) trace(*r.ring, load(r.thread), traced::scope, where.path, r.frames[depth].begin, end);
  for (uint32_t value = 0; value != where.site->attribute_count; ++value)
    add_attribute(where.attributes[value], r.values[depth][value], static_cast<double>(weight));
  if (!is_wait(where.site->kind)) return;
  const uint64_t end_ns = monotonic_ns();  // the clock of operations, which the calibrated counter only follows
  const uint64_t begin_ns = end_ns - duration_ns;
  const uint32_t device = where.path->device;
  if (device != 0)
    with_ledger(r.owner->ledger, r.epoch, [=](device_ledger& all) {
      all.add({begin_ns, end_ns, 0, 0, device, device_work::kernel});
    });
  book_wait(r, device_work::wait_end, end_ns);
}

template <class = void>
ADAPTYST_DETAIL_INLINE auto* end_probe(const process& in) noexcept {
  return ADAPTYST_DETAIL_UNLIKELY(load(in.forked) != 0) ? adaptyst_probe_region_end_of_child
                                                        : adaptyst_probe_region_end;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void tell_end(const process& in, uint64_t begin,
                                                                      uint64_t duration_ns, uint64_t self_ns,
                                                                      const adaptyst_path* path) noexcept {
  const uint64_t begin_ns = to_monotonic_ns(in.control.clock, begin);
  end_probe(in)(path->site->name, path->id, begin_ns, begin_ns + duration_ns, self_ns, path);
}

// Sets right what is not as it should be at the end of a scope; whether its frame is now the innermost of this epoch.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline bool unwind_to(recorder& r, uint64_t token, uint32_t depth,
                                                                       uint64_t end) noexcept {
  renew_if_stale(r);
  const frame& closed = r.frames[depth];
  if (depth > r.depth || closed.token != token) {
    bump(r.orphans, 1);
    return false;
  }
  abandon_frames(r, depth);
  if (depth > r.base) return true;
  const clock_line& clock = r.owner->control.clock;
  r.frames[depth - 1].nested_ns += to_duration_ns(clock, end - closed.begin);
  store(r.depth, depth - 1);
  store(r.base, depth - 1);
  return false;
}

// The frame is the innermost.
template <class = void>
ADAPTYST_DETAIL_INLINE void close_frame(recorder& r, row& where, uint32_t depth, uint64_t duration_ns,
                                        uint64_t weight) noexcept {
  store(r.depth, depth - 1);
  store(r.guess, &where);
  r.frames[depth - 1].nested_ns += duration_ns * weight;
  bump(r.ended, weight);
  bump(where.count, weight);
}

// An event that has a weight: booked here, and told to nobody. The frame counted as one begun.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void close_weighed(recorder& r, row& where, uint32_t depth,
                                                                           uint64_t end,
                                                                           uint64_t duration_ns) noexcept {
  const frame& closed = r.frames[depth];
  store(where.extras, where.extras & ~weighed);
  bump(r.begun, closed.weight - 1);
  close_frame(r, where, depth, duration_ns, closed.weight);
  add_weighed_duration(where, duration_ns, closed.nested_ns, closed.weight);
  if (where.extras != 0) book_extras(r, where, depth, end, duration_ns, closed.weight);
}

// The long way out.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_frame(recorder& r, uint64_t token, uint32_t depth,
                                                                       uint64_t end) noexcept {
  const clock_line& clock = r.owner->control.clock;
  const frame& closed = r.frames[depth];
  uint64_t begin;
  uint64_t duration_ns;
  uint64_t self_ns;
  const adaptyst_path* path;
  {
    const writing now(r);
    const bool as_always =
        closed.token == token && r.depth == depth && depth > r.base && load(r.epoch) == load(r.owner->control.epoch);
    if (ADAPTYST_DETAIL_UNLIKELY(!as_always) && !unwind_to(r, token, depth, end)) return;
    begin = closed.begin;
    path = closed.path;
    duration_ns = to_duration_ns(clock, end - begin);
    row& where = *closed.where;
    if ((where.extras & weighed) != 0) return close_weighed(r, where, depth, end, duration_ns);
    self_ns = duration_ns > closed.nested_ns ? duration_ns - closed.nested_ns : 0;
    close_frame(r, where, depth, duration_ns, 1);
    if (load(adaptyst_object_v1.recorder) != 0) add_duration(where, duration_ns, closed.nested_ns);
    // What is nested has a weight, and stands for what lies in other events of this row as well.
    else if (ADAPTYST_DETAIL_UNLIKELY(closed.nested_ns > duration_ns))
      bump(where.nested_ns, closed.nested_ns - duration_ns);
    if (where.extras != 0) book_extras(r, where, depth, end, duration_ns, 1);
  }
  if (load(adaptyst_object_v1.region_end) != 0) tell_end(*r.owner, begin, duration_ns, self_ns, path);
}

// Without a counter whose rate is known.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_by_clock(recorder& r, uint64_t token,
                                                                          uint32_t depth) noexcept {
  pop_frame(r, token, depth, monotonic_ns());
}

// The short way out, for the program's own recorder alone. Of an epoch that is over, nobody reads what it books.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void pop_again(uint64_t token) noexcept {
  recorder* const opened = this_thread_recorder;
  if (ADAPTYST_DETAIL_UNLIKELY(reinterpret_cast<uintptr_t>(opened) <= 1)) return;
  recorder& r = *opened;
  const uint32_t depth = 1 + static_cast<uint32_t>(token & (most_depth - 1));
  const uint64_t slope = load(r.owner->control.clock.ns_per_tick);
  if (ADAPTYST_DETAIL_UNLIKELY(slope == 0)) return pop_by_clock(r, token, depth);
  const uint64_t end = ticks();
  bool as_always;
  {
    const writing now(r);
    const frame& closed = r.frames[depth];
    row* const where = closed.where;  // null if there never was a frame: this end belongs to another thread
    as_always = closed.token == token && r.depth == depth && where->extras == 0 &&
                load(adaptyst_object_v1.region_end) == 0 && load(adaptyst_object_v1.recorder) != 0;
    if (as_always) {
      const uint64_t duration_ns = in_ns(slope, end - closed.begin);
      close_frame(r, *where, depth, duration_ns, 1);
      add_duration(*where, duration_ns, closed.nested_ns);
    }
  }
  if (ADAPTYST_DETAIL_UNLIKELY(!as_always)) pop_frame(r, token, depth, end);
}

// The three functions that a scope calls are only ways to others: being cold, they move the calls to them, and the work
// between, out of the hot code of their callers, which functions that are to be fast must not be.
template <class = void>
ADAPTYST_DETAIL_COLD inline void leave_scope(uint64_t token) noexcept {
  pop_again(token);
}

// The object behind ADAPTYST_REGION. Holds a number, in a register: 0 while nobody looks.
template <class = void>
class scope {
 public:
  explicit ADAPTYST_DETAIL_INLINE scope(uint64_t token) noexcept : token_(token) {}
  ADAPTYST_DETAIL_INLINE ~scope() {
    if (__builtin_expect_with_probability(token_ != 0, 0, 1.0)) leave_scope(token_);
  }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  static void* operator new(size_t) = delete;
  static void* operator new[](size_t) = delete;

 private:
  uint64_t token_;
};

template <class = void>
ADAPTYST_DETAIL_COLD inline uint64_t begin_named(site& marker, uint32_t device) noexcept {
  return push_again(marker, device, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

template <class = void>
ADAPTYST_DETAIL_COLD inline uint64_t begin_with(site& marker, text name, uint32_t device,
                                                const payload_values* payload) noexcept {
  return push_frame(marker, name, device, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
}

// An array that is no literal is a buffer: its text ends at the first NUL.
template <size_t N>
ADAPTYST_DETAIL_INLINE text text_of_event(const char (&buffer)[N]) noexcept {
  const void* const end = __builtin_memchr(buffer, 0, N);
  return {buffer, end != nullptr ? static_cast<size_t>(static_cast<const char*>(end) - buffer) : N};
}
template <class Name>
ADAPTYST_DETAIL_INLINE text text_of_event(const Name& name) noexcept {
  return text_of(name);
}

// `Literal`: the name is in the site. Otherwise it comes with the event.
template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE text name_of(const site& marker, const Name& name) noexcept {
  if constexpr (Literal) return {marker.name, marker.name_bytes};
  return text_of_event(name);
}

template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE uint64_t begin_scope(site& marker, uint32_t device, const Name& name) noexcept {
  if constexpr (Literal) return begin_named(marker, device);
  return begin_with(marker, text_of_event(name), device, nullptr);
}

template <bool Literal, class Name, class Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_scope(site& marker, uint32_t device, const Name& name,
                                            const Payload& payload) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_with(marker, name_of<Literal>(marker, name), device, &values.read());
}

// The same, and the host waits in it.
template <class = void>
ADAPTYST_DETAIL_COLD inline uint64_t begin_wait_with(site& marker, text name, uint32_t device,
                                                     const payload_values* payload) noexcept {
  const uint64_t token =
      push_frame(marker, name, device, payload, ADAPTYST_DETAIL_STACK(), __builtin_return_address(0));
  if (token != 0) {
    recorder& r = *this_thread_recorder;
    const writing now(r);
    book_wait(r, device_work::wait_begin, monotonic_ns());
  }
  return token;
}

template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE uint64_t begin_wait(site& marker, uint32_t device, const Name& name) noexcept {
  return begin_wait_with(marker, name_of<Literal>(marker, name), device, nullptr);
}

template <bool Literal, class Name, class Payload>
ADAPTYST_DETAIL_INLINE uint64_t begin_wait(site& marker, uint32_t device, const Name& name,
                                           const Payload& payload) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_wait_with(marker, name_of<Literal>(marker, name), device, &values.read());
}

template <bool Literal, class Name, class... Payloads>
uint64_t begin_scope(site&, uint32_t, const Name&, const Payloads&...) noexcept {
  static_assert(sizeof...(Payloads) == 1, "adaptyst: ADAPTYST_REGION(name) or (name, payload)");
  return 0;
}

// ---- regions and operations with a handle -----------------------------------------------------------------------

struct pending {
  const adaptyst_path* path;  // null: nothing is open
  uint64_t begin;             // timestamp
  uint64_t epoch;
  double numbers[ADAPTYST_ATTRIBUTES];
};

// Within a stretch of writing; false: it was counted as lost.
template <class = void>
ADAPTYST_DETAIL_INLINE bool begin_pending_below(recorder& r, const adaptyst_path* parent, site& marker, text name,
                                                uint32_t device, const payload_values* payload,
                                                pending& begun) noexcept {
  loss why = loss::tables_full;
  const adaptyst_site* const record = device > most_devices ? nullptr : record_of(*r.owner, marker, name, payload);
  row* const where = record != nullptr ? row_below(r, parent, record, device, why) : nullptr;
  if (where == nullptr) {
    count_loss(r, why);
    return false;
  }
  begun.path = where->path;
  begun.epoch = r.epoch;
  if (payload != nullptr)
    for (uint32_t at = 0; at != payload->count; ++at) begun.numbers[at] = payload->numbers[at];
  bump(r.begun, 1);
  bump(r.handles, 1);
  return true;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline pending begin_pending(site& marker, text name, uint32_t device,
                                                                              const payload_values* payload) noexcept {
  pending begun{};
  recorder* const opened = open_recorder();
  if (opened == nullptr) return begun;
  recorder& r = *opened;
  {
    const writing now(r);
    renew_if_stale(r);
    if (!begin_pending_below(r, current_path(r), marker, name, device, payload, begun)) return begun;
  }
  begun.begin = timestamp(r.owner->control.clock);
  return begun;
}

template <bool Literal, class Name>
ADAPTYST_DETAIL_INLINE pending begin_handle(site& marker, uint32_t device, const Name& name) noexcept {
  return begin_pending(marker, name_of<Literal>(marker, name), device, nullptr);
}

template <bool Literal, class Name, class Payload>
ADAPTYST_DETAIL_INLINE pending begin_handle(site& marker, uint32_t device, const Name& name,
                                            const Payload& payload) noexcept {
  const payload_reader<Payload> values(payload);
  return begin_pending(marker, name_of<Literal>(marker, name), device, &values.read());
}

// Books one finished handle in this thread's recorder; false: it belongs to an earlier collector, or could not be.
template <class = void>
inline bool book_handle(recorder& r, const pending& done, uint64_t duration_ns) noexcept {
  renew_if_stale(r);
  if (done.epoch != r.epoch) return false;
  bump(r.handles, -1);
  loss why = loss::rows_full;
  row* const where = row_of(r, done.path, why);
  if (where == nullptr) {
    count_loss(r, why);
    bump(r.begun, -1);  // a loss of this kind is taken as one at the beginning
    return false;
  }
  bump(r.ended, 1);
  bump(where->count, 1);
  if (load(adaptyst_object_v1.recorder) != 0) add_duration(*where, duration_ns, 0);
  for (uint32_t at = 0; at != done.path->site->attribute_count; ++at)
    add_attribute(where->attributes[at], done.numbers[at]);
  return true;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void end_handle(const pending& done) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  const clock_line& clock = r.owner->control.clock;
  const uint64_t end = timestamp(clock);
  const uint64_t duration_ns = to_duration_ns(clock, end - done.begin);
  {
    const writing now(r);
    if (!book_handle(r, done, duration_ns)) return;
    if (r.ring != nullptr) trace(*r.ring, load(r.thread), traced::handle, done.path, done.begin, end);
  }
  if (load(adaptyst_object_v1.region_end) != 0) tell_end(*r.owner, done.begin, duration_ns, duration_ns, done.path);
}

// If somebody looks at the other objects, this one wakes, and the collector hears of it; or an observer from outside.
template <class T>
void object_loading<T>::loaded() noexcept {
  const system::errno_kept unchanged;
  uint64_t process_address = 0;
  uint16_t recorder = 0;
  for_each_object([&](adaptyst_object& object, const loaded_object&) {
    process_address = load_acquire(object.process);
    recorder = load(object.recorder);
    return process_address == 0;
  });
  if (process_address != 0) {
    store_release(adaptyst_object_v1.process, process_address);
    store(adaptyst_object_v1.recorder, recorder);
    if (auto* const tell = load_acquire(reinterpret_cast<process*>(process_address)->control.object_loaded)) tell();
  }
  adaptyst_answer answer{};
  if (!announce(ADAPTYST_OBJECT_LOADED, adaptyst_object_v1, answer)) return;
  process* const in = answer.observation != ADAPTYST_UNOBSERVED ? process_of(adaptyst_object_v1) : nullptr;
  if (in == nullptr) return;
  heed(*in, answer);
  if (answer.observation == ADAPTYST_OBSERVED_BY_RECORDER && recorder == 0) store(adaptyst_object_v1.recorder, 1);
}

template <class T>
void object_loading<T>::unloading() noexcept {
  auto* const in = reinterpret_cast<process*>(load_acquire(adaptyst_object_v1.process));
  adaptyst_answer answer;
  if (in != nullptr && load(in->control.observer) != 0) announce(ADAPTYST_OBJECT_UNLOADING, adaptyst_object_v1, answer);
}

}}}  // namespace adaptyst::v1::detail

// ---- macros -----------------------------------------------------------------------------------------------------

// Not so unlikely that Clang could not tell what is likely behind it; and told here, as Clang heeds what is expected of a
// branch only in the function that has the branch from the beginning.
#define ADAPTYST_DETAIL_AWAKE() (__builtin_expect_with_probability(::adaptyst::detail::is_awake(), 0, 0.999) != 0)
#define ADAPTYST_DETAIL_LEFT_OUT(number) \
  ::adaptyst::detail::is_left_out(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), ::adaptyst::detail::cold_zero())
// Of a name that comes with the event it is not known yet whether it is to be left out.
#define ADAPTYST_DETAIL_WANTED(number, name) \
  ADAPTYST_DETAIL_AWAKE() && !(ADAPTYST_DETAIL_IS_LITERAL(name) && ADAPTYST_DETAIL_LEFT_OUT(number))
#define ADAPTYST_DETAIL_FIRST(first, ...) first
#define ADAPTYST_DETAIL_PASTE_(a, b) a##b
#define ADAPTYST_DETAIL_PASTE(a, b) ADAPTYST_DETAIL_PASTE_(a, b)
#define ADAPTYST_DETAIL_SPELL_(...) #__VA_ARGS__
#define ADAPTYST_DETAIL_SPELL(...) ADAPTYST_DETAIL_SPELL_(__VA_ARGS__)

#define ADAPTYST_DETAIL_IS_LITERAL(name)                                  \
  (::adaptyst::detail::spelled_as_literal(ADAPTYST_DETAIL_SPELL(name)) && \
   ::adaptyst::detail::is_char_array<decltype((name))>)

// Defines a static site. The name enters it only if it is a literal: the other branch is never evaluated, so that the
// initialiser is constant whatever the name is made of.
#define ADAPTYST_DETAIL_SITE(variable, kind, function, name)                                                \
  static ::adaptyst::detail::site variable {                                                                \
    ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::literal_address(name) : nullptr,                 \
        ADAPTYST_DETAIL_IS_LITERAL(name) ? ::adaptyst::detail::text_of(name).bytes : 0, __FILE__, function, \
        static_cast<uint32_t>(__LINE__), kind, nullptr                                                      \
  }

#define ADAPTYST_DETAIL_SCOPE(kind, number, device, name, ...)                                                     \
  ADAPTYST_DETAIL_SITE(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), kind, __func__, name);                       \
  const ::adaptyst::detail::scope<> ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                               \
    ADAPTYST_DETAIL_WANTED(number, name) ? ::adaptyst::detail::begin_scope<ADAPTYST_DETAIL_IS_LITERAL(name)>(      \
                                               ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), device, __VA_ARGS__) \
                                         : 0U                                                                      \
  }

#define ADAPTYST_DETAIL_FUNCTION_SCOPE(number)                                                                   \
  static ::adaptyst::detail::site ADAPTYST_DETAIL_PASTE(adaptyst_site_, number){                                 \
      __func__, sizeof(__func__) - 1, __FILE__, __func__, static_cast<uint32_t>(__LINE__), ADAPTYST_SITE_REGION, \
      nullptr};                                                                                                  \
  const ::adaptyst::detail::scope<> ADAPTYST_DETAIL_PASTE(adaptyst_scope_, number) {                             \
    ADAPTYST_DETAIL_AWAKE() && !ADAPTYST_DETAIL_LEFT_OUT(number)                                                 \
        ? ::adaptyst::detail::begin_named(ADAPTYST_DETAIL_PASTE(adaptyst_site_, number), 0U)                     \
        : 0U                                                                                                     \
  }

#endif
