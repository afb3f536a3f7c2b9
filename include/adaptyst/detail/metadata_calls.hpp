// Stores the metadata of a program.
#ifndef ADAPTYST_DETAIL_METADATA_CALLS_HPP
#define ADAPTYST_DETAIL_METADATA_CALLS_HPP

#include "../metric.hpp"
#include "recorder.hpp"

#ifndef ADAPTYST_DISABLE

namespace adaptyst { inline namespace v1 { namespace detail {

template <size_t Bytes>
inline void copy_text(char (&to)[Bytes], text from) noexcept {
  size_t bytes = from.bytes < Bytes ? from.bytes : Bytes - 1;
  // Long texts are cut between two UTF-8 characters.
  while (bytes != from.bytes && bytes != 0 && (static_cast<unsigned char>(from.data[bytes]) & 0xC0) == 0x80) --bytes;
  if (bytes != 0) __builtin_memcpy(to, from.data, bytes);
  to[bytes] = '\0';
}

// Each entry is assigned only once: no lock and no second check are needed.
template <class>
ADAPTYST_DETAIL_COLD void keep_metadata(text name, text value) noexcept {
  const system::errno_kept unchanged;
  process* const in = get_process(adaptyst_object_v5);
  if (in == nullptr || !notice_fork(*in)) return;
  store(in->store->head.layout, state_layout);
  metadata_table& all = in->store->metadata;
  const uint64_t place = fetch_add(all.calls, 1);
  if (place >= max_metadata) return;
  copy_text(all.entries[place].name, name);
  copy_text(all.entries[place].value, value);
  store_release(all.entries[place].is_present, uint64_t{1});
}

}}}  // namespace adaptyst::v1::detail

#endif

#endif
