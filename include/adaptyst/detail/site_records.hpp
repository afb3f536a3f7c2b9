// Finds the site record of a marker, or makes it.
#ifndef ADAPTYST_DETAIL_SITE_RECORDS_HPP
#define ADAPTYST_DETAIL_SITE_RECORDS_HPP

#include "interning.hpp"
#include "site.hpp"

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

// The record of a marker: remembered where name and label cannot change from one event to the next.
template <class = void>
ADAPTYST_DETAIL_INLINE const adaptyst_site* find_record(process& in, site& marker, text name,
                                                        const payload_values* payload) noexcept {
  const bool constant = marker.name != nullptr && (payload == nullptr || payload->label.bytes == 0);
  const adaptyst_site* record = constant ? load_acquire(marker.record) : nullptr;
  if (ADAPTYST_DETAIL_UNLIKELY(record == nullptr)) {
    record = make_record(in, marker, name, payload);
    if (constant) store_release(marker.record, record);
  }
  return record;
}

ADAPTYST_DETAIL_INLINE bool is_same_text(const char* kept, const char* text) noexcept {
  return kept == text || (text != nullptr && __builtin_strcmp(kept, text) == 0);
}

// Whether a record is that of a marker whose site object is made anew for each event. If not, the record has to be
// searched for, which costs more.
template <class = void>
ADAPTYST_DETAIL_INLINE bool is_record_for(const adaptyst_site& record, text name, uint32_t kind, const char* file,
                                          const char* function, uint32_t line) noexcept {
  return record.name_bytes == name.bytes && record.kind == kind && record.line == line &&
         __builtin_memcmp(record.name, name.data, name.bytes) == 0 && is_same_text(record.file, file) &&
         is_same_text(record.function, function);
}

// For payloads without texts, as these differ from event to event.
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

}}}  // namespace adaptyst::v1::detail

#endif
