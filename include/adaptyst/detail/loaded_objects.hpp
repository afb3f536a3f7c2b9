// The ELF objects of this process that contain markers. Each has separate hidden state (reasons: docs/design.md). They
// find each other by a note in memory, independent of visibility, symbol tables and loading order.
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

// The note that probes.hpp writes into .note.adaptyst.
struct object_note {
  uint32_t name_bytes, body_bytes, type;
  char name[12];
  uint64_t offset;  // from here to the control block
};

// Calls `found(uint32_t type, uint64_t offset_at, uint64_t offset)` for each of our notes in a segment, until it
// returns false. It searches instead of walking: notes are padded to 4 or 8 bytes, and linkers mix both in one segment.
// `bytes` begins at a multiple of 4.
template <class Found>
inline void for_each_object_note(const char* bytes, uint64_t size, Found&& found) noexcept {
  constexpr char head[] = "\t\0\0\0\b\0\0";  // lengths of name and body
  static_assert(sizeof head == 8 && sizeof(object_note) == 32 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  for (uint64_t at = 0; at + sizeof(object_note) <= size; at += 4) {
    const char* const note = bytes + at;
    if (__builtin_memcmp(note, head, sizeof head) != 0) continue;
    if (__builtin_memcmp(note + offsetof(object_note, name), "adaptyst\0\0\0", sizeof object_note::name) != 0) continue;
    object_note ours;
    __builtin_memcpy(&ours, note, sizeof ours);
    if (!found(ours.type, at + offsetof(object_note, offset), ours.offset)) return;
  }
}

// True if the loader has mapped all of a segment, readable.
template <class = void>
inline bool is_loaded(const loaded_object& object, const program_header& part) noexcept {
  constexpr uint32_t load = 1, readable = 4;  // PT_LOAD, PF_R
  for (unsigned at = 0; at != object.header_count; ++at) {
    const program_header& whole = object.headers[at];
    if (whole.type == load && (whole.flags & readable) != 0 && part.address >= whole.address &&
        part.address - whole.address <= whole.bytes && part.bytes <= whole.bytes - (part.address - whole.address))
      return true;
  }
  return false;
}

// The control block of an object, or null if it has no markers. `other_abi`: ABI of markers built with other headers,
// if any.
template <class = void>
inline adaptyst_object* control_block(const loaded_object& object, uint32_t* other_abi = nullptr) noexcept {
  constexpr uint32_t note_segment = 4;  // PT_NOTE
  adaptyst_object* block = nullptr;
  for (unsigned at = 0; at != object.header_count && block == nullptr; ++at) {
    const program_header& segment = object.headers[at];
    if (segment.type != note_segment || !is_loaded(object, segment)) continue;
    const uint64_t unaligned = -segment.address & 3;
    if (segment.bytes < unaligned) continue;
    const auto* const notes = reinterpret_cast<const char*>(object.base + segment.address + unaligned);
    for_each_object_note(notes, segment.bytes - unaligned, [&](uint32_t type, uint64_t offset_at, uint64_t offset) {
      if (type == ADAPTYST_OBJECT_NOTE)
        block = reinterpret_cast<adaptyst_object*>(reinterpret_cast<uint64_t>(notes) + offset_at + offset);
      else if (other_abi != nullptr) *other_abi = type;
      return block == nullptr;
    });
  }
  return block;
}

// Calls `visit(adaptyst_object&, const loaded_object&)` for every loaded object with markers, until it returns false.
// The loader's lock is held: no object comes or goes.
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
