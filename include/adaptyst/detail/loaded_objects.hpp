// The ELF objects of this process that carry markers.
//
// An executable and the libraries next to it each have hidden state of their own (docs/design.md says why). They find
// one another through the note that each of them carries in memory, so neither visibility, nor symbol tables, nor the
// order of loading matters.
#ifndef ADAPTYST_DETAIL_LOADED_OBJECTS_HPP
#define ADAPTYST_DETAIL_LOADED_OBJECTS_HPP

#include "../probe_abi.h"
#include "system.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct program_header {  // Elf64_Phdr
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, bytes, alignment;
};

struct loaded_object {  // the beginning of dl_phdr_info
  uint64_t base;
  const char* path;  // "" for the executable
  const program_header* headers;
  uint16_t header_count;
};

// The control block that an object's note leads to, or null: no markers in it. `other_abi`: of markers that were built
// with other headers, if there are any.
template <class = void>
inline adaptyst_object* control_block(const loaded_object& object, uint32_t* other_abi = nullptr) noexcept {
  constexpr uint32_t note_segment = 4;  // PT_NOTE
  struct note_header {
    uint32_t name_bytes, body_bytes, type;
  };
  for (unsigned at = 0; at != object.header_count; ++at) {
    const program_header& segment = object.headers[at];
    if (segment.type != note_segment) continue;
    const uint64_t padding = segment.alignment == 8 ? 7 : 3;
    uint64_t note = object.base + segment.address;
    const uint64_t end = note + segment.bytes;
    while (note + sizeof(note_header) <= end) {
      note_header header;
      __builtin_memcpy(&header, reinterpret_cast<const void*>(note), sizeof header);
      const uint64_t name = note + sizeof header;
      const uint64_t body = (name + header.name_bytes + padding) & ~padding;
      const bool is_ours = header.name_bytes == 9 && header.body_bytes == 8 &&
                           __builtin_memcmp(reinterpret_cast<const void*>(name), "adaptyst", 9) == 0;
      if (is_ours && header.type != ADAPTYST_OBJECT_NOTE && other_abi != nullptr) *other_abi = header.type;
      if (is_ours && header.type == ADAPTYST_OBJECT_NOTE) {
        uint64_t offset;  // from the note's body to the control block
        __builtin_memcpy(&offset, reinterpret_cast<const void*>(body), sizeof offset);
        return reinterpret_cast<adaptyst_object*>(body + offset);
      }
      note = (body + header.body_bytes + padding) & ~padding;
    }
  }
  return nullptr;
}

// Calls `visit(adaptyst_object&, const loaded_object&)` for every loaded object that carries markers, until it returns
// false. The loader's lock is held meanwhile: no object comes or goes.
template <class Visit>
void for_each_object(Visit&& visit) noexcept {
  system::for_each_object(
      [](void* info, size_t, void* data) {
        loaded_object object;
        __builtin_memcpy(&object, info, sizeof object);
        adaptyst_object* const control = control_block(object);
        return control != nullptr && !(*static_cast<Visit*>(data))(*control, object) ? 1 : 0;
      },
      &visit);
}

}}}  // namespace adaptyst::v1::detail

#endif
