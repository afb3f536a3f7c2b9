// Finds or makes the site record of a marker.
#ifndef ADAPTYST_DETAIL_SITE_RECORDS_HPP
#define ADAPTYST_DETAIL_SITE_RECORDS_HPP

#include "interning.hpp"
#include "level_payload.hpp"
#include "recorder.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

template <class = void>
inline const adaptyst_site* make_record(process& in, const site& marker, text name,
                                        const payload_values* payload) noexcept {
  site_texts texts{};
  texts.name = name;
  texts.file = to_text(marker.file);
  texts.function = to_text(marker.function);
  texts.label = payload != nullptr ? payload->label : text{nullptr, 0};
  texts.attributes = payload != nullptr ? payload->names : nullptr;
  texts.attribute_count = payload != nullptr ? payload->count : 0;
  texts.line = marker.line;
  texts.kind = marker.kind;
  texts.level = payload != nullptr ? payload->level : 0;
  return intern_site(in, texts);
}

// A colour is no part of the record's identity: a name with two colours must not be two regions. It stays out of the
// events, too: a program uses one colour for a name. The first stays, because readers keep what they have read.
ADAPTYST_DETAIL_INLINE void set_color(const adaptyst_site& record, uint32_t rgb) noexcept {
  auto& color = const_cast<adaptyst_site&>(record).color;
  if (ADAPTYST_DETAIL_UNLIKELY(load(color) == 0)) store(color, rgb | 0xFF000000U);
}

// Label of the record of a marker that is too deep: only the level of its payload is known.
constexpr char bare_label[] = "\1";
ADAPTYST_DETAIL_INLINE bool is_bare(const adaptyst_site& record) noexcept {
  return record.attribute_count == 0 && record.label[0] == bare_label[0];
}

// The record of a marker; cached if name and label are constant.
template <class = void>
ADAPTYST_DETAIL_INLINE const adaptyst_site* find_record(process& in, site& marker, text name,
                                                        const payload_values* payload) noexcept {
  const bool constant = marker.name != nullptr && (payload == nullptr || payload->label.bytes == 0);
  const adaptyst_site* record = constant ? load_acquire(marker.record) : nullptr;
  if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr || (payload != nullptr && is_bare(*record)))) {
    record = make_record(in, marker, name, payload);
    if (constant) store_release(marker.record, record);
  }
  return record;
}

// Many texts are empty: those need no call.
ADAPTYST_DETAIL_INLINE bool is_same_text(const char* kept, const char* text) noexcept {
  return kept == text || (text != nullptr && *kept == *text && (*text == '\0' || __builtin_strcmp(kept, text) == 0));
}

// As memcmp(), for names that are mostly equal and short: without a call, the caller keeps its registers.
ADAPTYST_DETAIL_INLINE bool is_same_bytes(const char* kept, const char* text, size_t bytes) noexcept {
  uint64_t kept_word;
  uint64_t word;
  if (bytes < sizeof word) {
    for (size_t at = 0; at != bytes; ++at)
      if (kept[at] != text[at]) return false;  // NOLINT(clang-analyzer-core.NullDereference): no marker's name is null
    return true;
  }
  for (size_t at = 0;; at = at + sizeof word < bytes - sizeof word ? at + sizeof word : bytes - sizeof word) {
    __builtin_memcpy(&kept_word, kept + at, sizeof word);
    __builtin_memcpy(&word, text + at, sizeof word);  // NOLINT(clang-analyzer-unix.cstring.NullArg)
    if (kept_word != word) return false;
    if (at == bytes - sizeof word) return true;
  }
}

// True if a record matches a marker with a new site object and name per event; the name is never null. Otherwise a more
// expensive search is needed.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_record_for(const adaptyst_site& record, text name, uint32_t kind, const char* file,
                                          const char* function, uint32_t line) noexcept {
  return record.name_bytes == name.bytes && record.kind == kind && record.line == line &&
         is_same_bytes(record.name, name.data, name.bytes) && is_same_text(record.file, file) &&
         is_same_text(record.function, function);
}

// For payloads without texts, which differ between events.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_record_with(const adaptyst_site& record, const payload_values* payload) noexcept {
  const uint32_t count = payload != nullptr ? payload->count : 0;
  if (record.attribute_count != count || record.label[0] != '\0' || (payload != nullptr && payload->label.bytes != 0) ||
      record.level != (payload != nullptr ? payload->level : 0))
    return false;
  for (uint32_t at = 0; at != count; ++at)
    if (!is_same_text(record.attributes[at], payload->names[at])) return false;
  return true;
}

// The record of a marker that is too deep, or that differs only in its payload; null if it is not too deep. The same
// few names recur: comparing them takes a third of the time of hashing them.
template <class = void>
__attribute__((noinline)) ADAPTYST_DETAIL_HIDDEN inline const adaptyst_site* find_deeper(
    recorder& r, const site& marker, text name, const payload_values* payload) noexcept {
  const uint64_t hashed = mix(reinterpret_cast<uintptr_t>(name.data) ^ (uint64_t{marker.line} << 32) ^ marker.kind);
  const adaptyst_site*& cached_record = r.submitted[hashed >> (64 - submitted_log2)];
  if (cached_record == nullptr || cached_record->level != (payload != nullptr ? payload->level : 0) ||
      !is_record_for(*cached_record, name, marker.kind, marker.file, marker.function, marker.line)) {
    const adaptyst_site* const record = make_record(*r.owner, marker, name, payload);
    if (record == nullptr) return nullptr;
    cached_record = record;
  }
  return is_deeper(r, *cached_record) ? cached_record : nullptr;
}

template <class>
ADAPTYST_DETAIL_COLD bool is_beyond(const adaptyst_site*& record_of_marker, text name, uint32_t level) noexcept {
  site& marker = *reinterpret_cast<site*>(reinterpret_cast<char*>(&record_of_marker) - offsetof(site, record));
  if (marker.name != nullptr) name = {marker.name, marker.name_bytes};
  recorder* const opened = open_recorder();
  if (opened == nullptr) return true;
  recorder& r = *opened;
  const writing now(r);
  if (const adaptyst_site* const record = load_acquire(marker.record)) return is_deeper(r, *record);
  const level_settings& levels = r.owner->settings.levels;
  if (levels.deepest == 0) return false;
  if (level == unspelled_level) {  // a rule with precedence over the marker's own level decides, or nothing does
    const uint32_t by_rule = find_level(
        levels, {shortened(name, keep::head), shortened(to_text(marker.function), keep::head), marker.kind, level});
    return by_rule != unspelled_level && by_rule > levels.deepest;
  }
  const payload_values bare{nullptr, 0, to_text(bare_label), {}, level};
  const bool has_own_record = marker.kind == ADAPTYST_SITE_METRIC;  // nothing depends on the value
  const adaptyst_site* const record = find_deeper(r, marker, name, has_own_record ? nullptr : &bare);
  // From now on the marker's step is known without a call. find_record() replaces the record when the marker is
  // recorded.
  if (record != nullptr && marker.name != nullptr) store_release(marker.record, record);
  return record != nullptr;
}

}}}  // namespace adaptyst::v1::detail

#endif
