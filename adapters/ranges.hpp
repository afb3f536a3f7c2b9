// Ranges and marks of an annotation interface, such as NVTX or ROCTX, as regions and instant events. For adapters.
//
// A range that one thread pushes and pops is a callback_region in a range_stack, one object for each thread. A range
// that any thread may stop is a region_handle in a range_table, one object for the process.
//
// Both classes are also used without an attached tool, so that a collector that starts later does not count ends of
// earlier ranges as unmatched. Nothing here allocates memory or waits for a lock.
#ifndef ADAPTYST_ADAPTERS_RANGES_HPP
#define ADAPTYST_ADAPTERS_RANGES_HPP

#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/metric.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace adaptyst::adapters {

// Longest name that a region keeps. A name of the program may be longer: no further byte is read.
constexpr std::size_t max_name_bytes = ADAPTYST_TEXT_BYTES - 1;

inline std::string_view bounded(const char* name) noexcept { return {name, strnlen(name, max_name_bytes)}; }

struct annotation {
  std::string_view name;
  source_place place;
  const char* label = "";  // the report shows it as "name [label]"
  bool has_payload = false;
  double payload = 0;
  bool has_color = false;
  std::uint32_t color = 0;  // 0xRRGGBB
};

// `limit(name)` returns the permitted name. A repeated range needs no call, because its name was permitted before. A payload
// is a metric of the region: a row with a payload and one without would be two rows.
template <class Limit>
callback_region begin_range(const annotation& range, Limit&& limit) noexcept {
  const bool has_label = *range.label != '\0';
  callback_region begun = has_label ? callback_region{} : callback_region::begin_repeated(range.name, range.place);
  if (begun.number() == 0) {
    const std::string_view name = limit(range.name);
    begun = has_label ? callback_region::begin(name, {nullptr, 0, range.label}, range.place)
                      : callback_region::begin(name, range.place);
  }
  if (range.has_color) begun.set_color(range.color);
  if (range.has_payload && begun.number() != 0) ADAPTYST_METRIC("payload", range.payload);
  return begun;
}

// Other threads may end a handle, so its payload is a number of the region itself.
inline region_handle begin_handle(const annotation& range) noexcept {
  static constexpr const char* names[] = {"payload"};
  if (!detail::is_enabled()) return {};
  const detail::payload_values payload{
      names, range.has_payload ? 1U : 0U, detail::to_text(detail::terminated(range.label)), {range.payload}};
  detail::site marker{nullptr, 0, range.place.file, range.place.function, range.place.line, ADAPTYST_SITE_HANDLE,
                      nullptr};
  const detail::pending begun = detail::begin_pending(marker, detail::to_text(range.name), 0, &payload);
  if (range.has_color && begun.path != nullptr) detail::set_color(*begun.path->site, range.color);
  return region_handle{begun};
}

// An instant event that sets the colour of its record.
struct ADAPTYST_DETAIL_HIDDEN colored_instant : detail::instant {
  const annotation& mark;

  colored_instant(const detail::site& of, const annotation& from) noexcept : instant(of, 0), mark(from) {}
  void remember(const adaptyst_site* record) const noexcept {
    if (record != nullptr && mark.has_color) detail::set_color(*record, mark.color);
  }
};

// A payload is a metric with the name of the mark.
inline void record_mark(const annotation& mark) noexcept {
  if (!detail::is_enabled()) return;
  detail::site marker{nullptr, 0, mark.place.file, mark.place.function, mark.place.line, ADAPTYST_SITE_MARK, nullptr};
  colored_instant how(marker, mark);
  detail::begin_event(how, {marker, detail::to_text(mark.name), 0, nullptr});
  if (!mark.has_payload) return;
  marker.kind = ADAPTYST_SITE_METRIC;
  detail::record_instant(marker, detail::to_text(mark.name), mark.payload);
}

// Ranges of one thread. Each domain has a stack of its own: a pop ends the innermost range of its domain.
//
// A range that encloses other regions at its pop, of another domain or of the program, must not end: they would be
// abandoned with it. Such a range and its pop are counted as unmatched. The range stays open until the next call after
// the end of these regions.
class range_stack {
 public:
  // `begin()` returns the range's region. Returns the level of the range in its domain, from 0. A range that is nested
  // too deep is counted as lost, as `unmatched`.
  template <class Begin>
  int push(const void* domain, Begin&& begin) noexcept {
    drop_ended();
    callback_region begun = begin();
    const std::size_t enclosing = find(domain);
    const int level = enclosing != none ? open_[enclosing].level + 1 : 0;
    if (depth_ == max_depth) {
      begun.abandon();
      return level + beyond_++;
    }
    open_[depth_] = {begun, domain, level};
    ++depth_;
    return level;
  }

  // Returns the level of the ended range; -1: the domain has no range.
  int pop(const void* domain) noexcept {
    const std::size_t at = find(domain);
    if (beyond_ != 0) return (at != none ? open_[at].level : -1) + beyond_--;
    if (at == none) {
      callback_region::count_unmatched_end();
      return -1;
    }
    const int level = open_[at].level;
    callback_region& range = open_[at].region;
    if (range.end_if_innermost()) range = {};
    else callback_region::count_unmatched_end();
    if (at + 1 == depth_ && range.number() == 0) --depth_;
    else open_[at].domain = &ended;
    drop_ended();
    return level;
  }

 private:
  struct entry {
    callback_region region;
    const void* domain = nullptr;  // null: the default domain
    int level = 0;
  };

  std::size_t find(const void* domain) const noexcept {
    std::size_t at = depth_;
    while (at != 0 && open_[at - 1].domain != domain) --at;
    return at - 1;  // `none` after 0
  }

  void drop_ended() noexcept {
    while (depth_ != 0 && open_[depth_ - 1].domain == &ended) {
      callback_region& last = open_[depth_ - 1].region;
      if (last.is_open_here() && !last.is_innermost()) return;
      last.abandon();
      --depth_;
    }
  }

  static constexpr std::size_t max_depth = 256;
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr char ended = 0;
  entry open_[max_depth]{};
  std::size_t depth_ = 0;
  int beyond_ = 0;  // further ranges, of any domain
};

// Open ranges of the process that any thread may stop. Lock-free: a forked child may use it.
class range_table {
 public:
  // Returns the number of the range. 0: not begun, because there is no room (counted as unmatched). `other`: kept for
  // stop().
  std::uint64_t start(const annotation& range, std::uint64_t other = 0) noexcept {
    const std::uint64_t serial = next_.fetch_add(1, std::memory_order_relaxed);
    for (std::uint64_t step = 0; step != max_ranges; ++step) {
      const std::uint64_t at = (serial + step) % max_ranges;
      slot& taken = slots_[at];
      std::uint64_t found = is_free;
      if (taken.number.load(std::memory_order_relaxed) != is_free ||
          !taken.number.compare_exchange_strong(found, is_changing, std::memory_order_acquire))
        continue;
      taken.other = other;
      taken.range = begin_handle(range);
      const std::uint64_t number = is_ours | (serial * max_ranges + at);
      taken.number.store(number, std::memory_order_release);
      return number;
    }
    callback_region::count_unmatched_end();
    return 0;
  }

  // False for a number of another library, and for 0.
  static bool may_have(std::uint64_t number) noexcept { return (number & is_ours) != 0; }

  // Returns `other`; 0 if there is no such range: a second stop, which is counted as unmatched.
  std::uint64_t stop(std::uint64_t number) noexcept {
    slot& ended = slots_[number % max_ranges];
    if (!may_have(number) || !ended.number.compare_exchange_strong(number, is_changing, std::memory_order_acquire)) {
      callback_region::count_unmatched_end();
      return 0;
    }
    const std::uint64_t other = ended.other;
    region_handle range = static_cast<region_handle&&>(ended.range);
    ended.number.store(is_free, std::memory_order_release);
    range.end();
    return other;
  }

 private:
  static constexpr std::uint64_t max_ranges = 1024;
  static constexpr std::uint64_t is_ours = std::uint64_t{1} << 63;
  static constexpr std::uint64_t is_free = 0, is_changing = 1;

  struct slot {
    std::atomic<std::uint64_t> number{is_free};
    std::uint64_t other = 0;
    region_handle range;
  };
  std::atomic<std::uint64_t> next_{0};
  slot slots_[max_ranges]{};
};

}  // namespace adaptyst::adapters

#endif
