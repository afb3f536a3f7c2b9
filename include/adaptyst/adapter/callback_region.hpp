// A region that one call begins and another call ends, on the same thread. For libraries with callbacks.
//
//   std::uint64_t begin(const char* name) { return adaptyst::callback_region::begin(name).number(); }
//   void end(std::uint64_t number) { adaptyst::callback_region::of(number).end(); }
//
// Regions that the thread begins in between are nested in it, unlike with a region_handle, which any thread may end.
// End the innermost region first. Counted as unmatched, without effect on others: an end after that of its enclosing
// region, or on another thread; a region that is open when its enclosing region ends.
//
// Cost when idle: a comparison, a branch and the arguments, which are evaluated (unlike a macro's). When enabled: a
// region without numbers that follows where it did before compares its texts and is nearly as cheap as one with a
// literal name; others are as regions without a literal name (docs/overhead.md). Names are copied, up to 127 bytes.
//
// Numbers are named at the begin and given at the end:
//
//   static constexpr const char* names[] = {"bytes", "flops"};
//   region = adaptyst::callback_region::begin(name, {names, 2, "shape=8x8"}, where);    // one row per label
//   const double numbers[] = {bytes, flops};
//   region.end(numbers);    // with a NaN, the sum is absent
#ifndef ADAPTYST_ADAPTER_CALLBACK_REGION_HPP
#define ADAPTYST_ADAPTER_CALLBACK_REGION_HPP

#include "../offload.hpp"
#include "../operation.hpp"

#ifndef ADAPTYST_DISABLE
#include "../detail/events.hpp"
#endif

namespace adaptyst { inline namespace v1 {

// Source place of a region: in the observed program, not in the calling library.
struct source_place {
  const char* file = "";
  const char* function = "";
  uint32_t line = 0;
};

// Label and numbers of a region. The names must outlive the region.
struct region_numbers {
  const char* const* names = nullptr;
  uint32_t count = 0;      // at most ADAPTYST_ATTRIBUTES
  const char* label = "";  // copied, up to 127 bytes
};

#ifdef ADAPTYST_DISABLE
inline namespace disabled {  // as in region.hpp
#endif

// A number; trivially copyable.
class callback_region {
 public:
  constexpr callback_region() noexcept = default;  // no region; end() does nothing

  // The region with this number(); 0 is no region.
  static constexpr callback_region of(uint64_t number) noexcept { return callback_region{number}; }
  constexpr uint64_t number() const noexcept { return number_; }

#ifdef ADAPTYST_DISABLE
  template <class Name>
  static callback_region begin(const Name& name, const source_place& = {}) noexcept {
    return static_cast<void>(detail::to_text(name)), callback_region{};
  }
  template <class Name>
  static callback_region begin(const Name& name, const region_numbers&, const source_place& = {}) noexcept {
    return begin(name);
  }
  template <class Name>
  static callback_region begin_repeated(const Name& name, const source_place& = {}) noexcept {
    return begin(name);
  }
  template <class Name>
  static callback_region begin_below(const submission&, const Name& name, const source_place& = {}) noexcept {
    return begin(name);
  }
  template <class Name>
  static callback_region begin_wait(const Name& name, const source_place& = {}) noexcept {
    return begin(name);
  }
  template <class Name>
  static callback_region begin_offload(const Name& name, const device&, const source_place& = {}) noexcept {
    return begin(name);
  }
  template <class = void>
  void set_color(uint32_t) const noexcept {}
  template <class = void>
  bool is_open_here() const noexcept {
    return false;
  }
  template <class = void>
  bool is_innermost() const noexcept {
    return false;
  }
  template <class = void>
  void end() noexcept {}
  template <class = void>
  void end(const double*) noexcept {}
  template <class = void>
  bool end_if_innermost() noexcept {
    return true;
  }
  template <class = void>
  void abandon() noexcept {}
  template <class = void>
  static void count_unmatched_end() noexcept {}
#else
  template <class Name>
  static callback_region begin(const Name& name, const source_place& where = {}) noexcept;
  // End it with its numbers: end(numbers).
  template <class Name>
  static callback_region begin(const Name& name, const region_numbers& with, const source_place& where = {}) noexcept;

  // Begins the region if the thread began the same name here before; otherwise returns no region, without an effect.
  // Saves the check of an expensive name.
  template <class Name>
  static callback_region begin_repeated(const Name& name, const source_place& where = {}) noexcept;

  // For a thread that works for another one: the region is nested in the region that was open when `when` was taken,
  // and both threads form one tree.
  template <class Name>
  static callback_region begin_below(const submission& when, const Name& name, const source_place& where = {}) noexcept;

  // Like ADAPTYST_WAIT and ADAPTYST_OFFLOAD.
  template <class Name>
  static callback_region begin_wait(const Name& name, const source_place& where = {}) noexcept;
  template <class Name>
  static callback_region begin_offload(const Name& name, const device& on, const source_place& where = {}) noexcept;

  // The colour of its events in viewers, as 0xRRGGBB. It belongs to the name, kind and place: the first colour stays.
  template <class = void>
  void set_color(uint32_t rgb) const noexcept;

  // True if this thread began it and it has not ended.
  template <class = void>
  bool is_open_here() const noexcept;
  // The same, and no region of this thread is open in it: to end it abandons no other.
  template <class = void>
  bool is_innermost() const noexcept;

  template <class = void>
  void end() noexcept;
  // `numbers`: one per name of the begin.
  template <class = void>
  void end(const double* numbers) noexcept;

  // As end(), but has no effect while a region of this thread is open in it: returns false.
  template <class = void>
  bool end_if_innermost() noexcept;

  // Counts a region that never ends, and the regions open below it, as lost (unmatched). Call it on the thread that
  // began it.
  template <class = void>
  void abandon() noexcept;

  // Counts an end without a begin.
  template <class = void>
  static void count_unmatched_end() noexcept;
#endif

 private:
  constexpr explicit callback_region(uint64_t number) noexcept : number_(number) {}
  uint64_t number_ = 0;
};

#ifdef ADAPTYST_DISABLE
}
#else

namespace detail {

// The call that begins the region returns before the enclosed code runs: its stack place is useless. No marker has its
// code address.
struct begin_of_callback : begin_with_frame {
  static constexpr leaving leaves_out = leaving::by_row;
  static constexpr bool has_place = false;
  const handed_over* below;

  explicit ADAPTYST_DETAIL_INLINE begin_of_callback(const handed_over* under) noexcept
      : begin_with_frame(nullptr, nullptr), below(under) {}
  ADAPTYST_DETAIL_INLINE bool is_passed_over(recorder& r, const event_source& from) const noexcept {
    return ADAPTYST_DETAIL_UNLIKELY(load(r.owner->has_deeper) != 0) &&
           find_deeper(r, from.marker, from.name, from.payload) != nullptr;
  }
  ADAPTYST_DETAIL_INLINE const adaptyst_path* parent(const recorder& r) const noexcept {
    return below != nullptr && below->epoch == r.epoch ? below->region : current_path(r);
  }
  ADAPTYST_DETAIL_INLINE bool is_record_with_numbers(const adaptyst_site& record,
                                                     const payload_values* payload) const noexcept {
    return is_record_with(record, payload);
  }
  ADAPTYST_DETAIL_INLINE void keep_numbers(recorder& r, uint32_t depth, const payload_values* payload) const noexcept {
    if (payload == nullptr) return;
    for (uint32_t at = 0; at != payload->count; ++at) r.values[depth][at] = __builtin_nan("");  // until they are given
  }
};

// The fast path of a region without numbers, for begin_as_expected(): its row is recognised by its texts.
struct ADAPTYST_DETAIL_HIDDEN expected_callback {
  text name;
  const source_place& place;
  static constexpr const void* code = nullptr;

  ADAPTYST_DETAIL_INLINE bool matches(const recorder& r, const row& where, const adaptyst_site* record,
                                      const frame& top) const noexcept {
    return where.identity == make_identity(r, 0) && where.path->parent == top.path &&
           is_record_for(*record, name, ADAPTYST_SITE_CALLBACK, place.file, place.function, place.line) &&
           is_record_with(*record, nullptr);
  }
  static ADAPTYST_DETAIL_INLINE bool is_new(const frame&) noexcept { return true; }
  static ADAPTYST_DETAIL_INLINE const void* get_stack(const frame& top) noexcept { return top.stack; }
};

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_callback(text name, uint32_t kind,
                                                                               uint32_t device,
                                                                               const handed_over* below,
                                                                               const payload_values* payload,
                                                                               const source_place& place) noexcept {
  site marker{nullptr, 0, place.file, place.function, place.line, kind, nullptr};
  begin_of_callback how(below);
  return begin_event(how, {marker, name, device, payload});
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline uint64_t open_repeated_callback(
    text name, const source_place& place) noexcept {
  return begin_as_expected(expected_callback{name, place});
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t open_plain_callback(text name, const source_place& place) noexcept {
  const uint64_t token = open_repeated_callback(name, place);
  if (ADAPTYST_DETAIL_LIKELY(token != 0)) return token;
  return open_callback(name, ADAPTYST_SITE_CALLBACK, 0, nullptr, nullptr, place);
}

ADAPTYST_DETAIL_INLINE uint32_t to_depth(uint64_t token) noexcept {
  return 1 + static_cast<uint32_t>(token & (max_depth - 1));
}

template <class = void>
ADAPTYST_DETAIL_INLINE bool is_open_frame(const recorder& r, uint64_t token) noexcept {
  return to_depth(token) <= r.depth && r.frames[to_depth(token)].token == token;
}

// Opens the recorder first: this may be the first call on this thread. If the guessed next row is below a path of
// another thread, resets the guess, because the fast path would treat that path as open.
//
// False: not ended, because regions of this thread are open in it, unless `with_nested`; tested before, because the
// recorder may be impossible to open.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline bool end_callback(uint64_t token,
                                                                          bool with_nested = true) noexcept {
  const recorder* const own = this_thread_recorder;
  if (!with_nested && reinterpret_cast<uintptr_t>(own) > 1 && own->depth != to_depth(token) &&
      is_open_frame(*own, token))
    return false;
  recorder* const r = open_recorder();
  if (r == nullptr) return true;
  end_frame_in(*r, token);
  if (r->guess != &r->root && (weight_around(*r) != 1 || r->guess->path->parent != current_path(*r)))
    store(r->guess, &r->root);
  return true;
}

template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline void end_callback_with(uint64_t token,
                                                                               const double* numbers) noexcept {
  recorder* const r = open_recorder();
  if (r == nullptr) return;
  if (is_open_frame(*r, token)) {
    const writing now(*r);
    const uint32_t depth = to_depth(token);
    const uint32_t count = r->frames[depth].where->site->attribute_count;
    for (uint32_t at = 0; at != count; ++at) r->values[depth][at] = numbers[at];
  }
  end_callback(token);
}

template <class = void>
ADAPTYST_DETAIL_COLD inline void abandon_called_back(uint64_t token) noexcept {
  recorder* const opened = open_recorder();
  if (opened == nullptr) return;
  recorder& r = *opened;
  const writing now(r);
  if (is_open_frame(r, token)) abandon_frames(r, to_depth(token) - 1);
}

}  // namespace detail

template <class Name>
callback_region callback_region::begin(const Name& name, const source_place& where) noexcept {
  if (!detail::is_enabled()) return {};
  return of(detail::open_plain_callback(detail::to_event_text(name), where));
}

template <class Name>
callback_region callback_region::begin(const Name& name, const region_numbers& with,
                                       const source_place& where) noexcept {
  if (!detail::is_enabled()) return {};
  const detail::payload_values payload{with.names, with.count, detail::to_text(detail::terminated(with.label)), {}};
  return of(detail::open_callback(detail::to_event_text(name), ADAPTYST_SITE_CALLBACK, 0, nullptr, &payload, where));
}

template <class Name>
callback_region callback_region::begin_repeated(const Name& name, const source_place& where) noexcept {
  if (!detail::is_enabled()) return {};
  return of(detail::open_repeated_callback(detail::to_event_text(name), where));
}

template <class Name>
callback_region callback_region::begin_below(const submission& when, const Name& name,
                                             const source_place& where) noexcept {
  if (!detail::is_enabled()) return {};
  return of(detail::open_callback(detail::to_event_text(name), ADAPTYST_SITE_CALLBACK, 0,
                                  when ? &when.where() : nullptr, nullptr, where));
}

template <class Name>
callback_region callback_region::begin_wait(const Name& name, const source_place& where) noexcept {
  if (!detail::is_enabled()) return {};
  return of(detail::open_callback(detail::to_event_text(name), ADAPTYST_SITE_WAIT, 0, nullptr, nullptr, where));
}

template <class Name>
callback_region callback_region::begin_offload(const Name& name, const device& on, const source_place& where) noexcept {
  if (!detail::is_enabled()) return {};
  return of(detail::open_callback(detail::to_event_text(name), ADAPTYST_SITE_OFFLOAD, device_access::get_id(on),
                                  nullptr, nullptr, where));
}

template <class>
void callback_region::set_color(uint32_t rgb) const noexcept {
  const detail::recorder* const r = detail::this_thread_recorder;
  // Not in a forked child that still has its parent's store, and not if the path is of an earlier epoch.
  if (number_ == 0 || reinterpret_cast<uintptr_t>(r) <= 1 || r->own_epoch != detail::load(r->owner->control.epoch))
    return;
  const uint32_t depth = detail::to_depth(number_);
  if (depth > r->base && detail::is_open_frame(*r, number_)) detail::set_color(*r->frames[depth].path->site, rgb);
}

template <class>
bool callback_region::is_open_here() const noexcept {
  const detail::recorder* const r = detail::this_thread_recorder;
  return number_ != 0 && reinterpret_cast<uintptr_t>(r) > 1 && detail::is_open_frame(*r, number_);
}

template <class>
bool callback_region::is_innermost() const noexcept {
  return is_open_here() && detail::this_thread_recorder->depth == detail::to_depth(number_);
}

template <class>
void callback_region::end() noexcept {
  if (number_ != 0) detail::end_callback(number_);
}

template <class>
void callback_region::end(const double* numbers) noexcept {
  if (number_ != 0) detail::end_callback_with(number_, numbers);
}

template <class>
bool callback_region::end_if_innermost() noexcept {
  return number_ == 0 || detail::end_callback(number_, false);
}

template <class>
void callback_region::abandon() noexcept {
  if (number_ != 0) detail::abandon_called_back(number_);
}

template <class>
void callback_region::count_unmatched_end() noexcept {
  if (detail::is_enabled()) detail::count_end_without_begin();
}

#endif

}}  // namespace adaptyst::v1

#endif
