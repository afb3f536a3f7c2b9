// What all threads and ELF objects of a process share: markers, call paths, devices, and the list of recorders.
//
// It is one anonymous mapping, made when a marker is first awake and never unmapped. Its control page is wiped in a
// forked child (MADV_WIPEONFORK), which is how a child notices that nobody looks at it.
//
// An executable and the libraries beside it each have hidden state of their own (docs/design.md says why). They find
// one another through the note that each of them carries in memory, so neither visibility, nor symbol tables, nor the
// order of loading matters.
#ifndef ADAPTYST_DETAIL_PROCESS_HPP
#define ADAPTYST_DETAIL_PROCESS_HPP

#include "../probe_abi.h"
#include "atomic.hpp"
#include "clock.hpp"
#include "device_ledger.hpp"
#include "system.hpp"
#include "text.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

struct recorder;

// ---- ELF objects of this process --------------------------------------------------------------------------------

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

// The control block that an object's note leads to, or null: no markers in it.
template <class = void>
inline adaptyst_object* control_block(const loaded_object& object) noexcept {
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
      if (header.type == ADAPTYST_OBJECT_NOTE && header.name_bytes == 9 && header.body_bytes == 8 &&
          __builtin_memcmp(reinterpret_cast<const void*>(name), "adaptyst", 9) == 0) {
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

// ---- the shared state -------------------------------------------------------------------------------------------

struct control_page {
  uint32_t abi;       // ADAPTYST_ABI_VERSION; 0 in a child that has forked
  uint32_t observer;  // the process outside that reads the recorders, or 0
  uint64_t layout;    // of all that it reads there, layout_of_state; 0 until there is a recorder
  uint32_t recorders_made;
  uint32_t owners;      // how often a recorder has got an owner
  uint64_t epoch;       // how many collectors have started; rows of an older epoch are not read
  recorder* recorders;  // all there are; only ever pushed to
  clock_line clock;
  void (*object_loaded)();  // the collector's, called when an ELF object with markers appears
  uint64_t trace_entries;   // of each thread's ring for a timeline, a power of two; 0: none is asked for
};

template <class T, size_t Slots>
struct intern_table {
  static_assert((Slots & (Slots - 1)) == 0, "a power of two");
  const T* slots[Slots];
};

constexpr size_t control_bytes = 4096;
constexpr size_t arena_bytes = size_t{48} << 20;

struct process {
  control_page control;
  char pad[control_bytes - sizeof(control_page)];
  device_ledger ledger;
  intern_table<adaptyst_site, size_t{1} << 16> sites;
  intern_table<adaptyst_path, size_t{1} << 18> paths;
  // Each thread's recorder, for the ELF objects in which it has none yet. Without a destructor: the code of one could be
  // unloaded before the thread ends.
  unsigned int recorder_key;
  uint64_t epochs;          // that there have been, also before a fork
  uint32_t forked;          // this is a child: it fires the probes that are never optimised
  uint32_t traced_process;  // in which a collector's uprobes are in the code; a child has them in its own, and must not
  uint64_t arena_used;
  char arena[arena_bytes];

  // Memory for what is never freed, 8-byte aligned; null when the arena is full.
  void* allocate(size_t bytes) noexcept {
    bytes = (bytes + 7) & ~size_t{7};
    if (load(arena_used) + bytes > arena_bytes) return nullptr;
    const uint64_t at = fetch_add(arena_used, bytes);
    return at + bytes <= arena_bytes ? arena + at : nullptr;
  }
};
static_assert(offsetof(process, ledger) == control_bytes, "only the control page is wiped in a child");

template <class = void>
inline void* map_memory(size_t bytes) noexcept {
  void* const memory = system::map(nullptr, bytes, system::read_write, system::private_memory, -1, 0);
  return reinterpret_cast<intptr_t>(memory) == -1 ? nullptr : memory;
}

template <class = void>
inline process* make_process() noexcept {
  auto* const made = static_cast<process*>(map_memory(sizeof(process)));
  if (made == nullptr) return nullptr;
  if (system::make_key(&made->recorder_key, nullptr) != 0) {
    system::unmap(made, sizeof(process));
    return nullptr;
  }
  system::advise(made, control_bytes, system::wipe_on_fork);
  made->control.abi = ADAPTYST_ABI_VERSION;
  made->control.epoch = made->epochs = 1;  // so that a child, where it is 0, sees that it has changed
  return made;
}

// The state of this process, found at another object or made; null when there is no memory for it.
template <class = void>
ADAPTYST_DETAIL_COLD inline process* find_process(adaptyst_object& self) noexcept {
  uint64_t found = 0;
  for_each_object([&](adaptyst_object& object, const loaded_object&) {
    found = load_acquire(object.process);
    return found == 0;
  });
  if (found == 0) {
    process* const made = make_process();
    if (made == nullptr) return nullptr;
    // All who come here at once agree by the first object in the loader's order.
    for_each_object([&](adaptyst_object& first, const loaded_object&) {
      if (compare_exchange(first.process, found, reinterpret_cast<uint64_t>(made)))
        found = reinterpret_cast<uint64_t>(made);
      return false;
    });
    if (found != reinterpret_cast<uint64_t>(made)) {
      system::delete_key(made->recorder_key);
      system::unmap(made, sizeof(process));
    }
  }
  if (found != 0) store_release(self.process, found);
  return reinterpret_cast<process*>(found);
}

template <class = void>
ADAPTYST_DETAIL_INLINE process* process_of(adaptyst_object& self) noexcept {
  const uint64_t known = load_acquire(self.process);
  return ADAPTYST_DETAIL_UNLIKELY(known == 0) ? find_process(self) : reinterpret_cast<process*>(known);
}

// ---- interning --------------------------------------------------------------------------------------------------

// The record with this id, made by `make()` if it is new. Lock-free: a signal handler may find a table half-way through
// any other thread's insertion. Null: no memory, or the neighbourhood of the slot is full.
template <class T, size_t Slots, class Make>
const T* intern(intern_table<T, Slots>& table, uint64_t id, Make&& make) noexcept {
  constexpr size_t longest_probe = 512;
  const T* made = nullptr;
  for (size_t step = 0; step != longest_probe; ++step) {
    const T*& slot = table.slots[(id + step) & (Slots - 1)];
    const T* there = load_acquire(slot);
    if (there == nullptr) {
      if (made == nullptr && (made = make()) == nullptr) return nullptr;
      if (compare_exchange(slot, there, made)) return made;
    }
    if (there->id == id) return there;
  }
  return nullptr;
}

struct site_texts {
  text name, file, function, label;
  const char* const* attributes;
  uint32_t attribute_count, line, kind;
};

enum class keep { head, tail };

template <class = void>
inline text shortened(text what, keep part) noexcept {
  constexpr size_t most = ADAPTYST_TEXT_BYTES - 1;
  if (what.bytes <= most) return what;
  return {part == keep::head ? what.data : what.data + (what.bytes - most), most};
}

template <class = void>
inline const adaptyst_site* intern_site(process& in, site_texts texts) noexcept {
  texts.name = shortened(texts.name, keep::head);
  texts.file = shortened(texts.file, keep::tail);
  texts.function = shortened(texts.function, keep::head);
  texts.label = shortened(texts.label, keep::head);
  uint64_t id = hash(texts.kind, texts.name);
  id = hash(id, texts.file);
  id = hash(id, texts.function);
  id = hash(id ^ texts.line, texts.label);
  for (uint32_t at = 0; at != texts.attribute_count; ++at) id = hash(id, text_of(texts.attributes[at]));
  return intern(in.sites, id, [&]() -> const adaptyst_site* {
    size_t bytes =
        sizeof(adaptyst_site) + texts.name.bytes + texts.file.bytes + texts.function.bytes + texts.label.bytes + 4;
    for (uint32_t at = 0; at != texts.attribute_count; ++at)
      bytes += shortened(text_of(texts.attributes[at]), keep::head).bytes + 1;
    auto* const site = static_cast<adaptyst_site*>(in.allocate(bytes));
    if (site == nullptr) return nullptr;
    char* end = reinterpret_cast<char*>(site + 1);
    const auto copy = [&end](text from) {
      char* const to = end;
      if (from.bytes != 0) __builtin_memcpy(to, from.data, from.bytes);
      to[from.bytes] = '\0';
      end += from.bytes + 1;
      return const_cast<const char*>(to);
    };
    site->id = id;
    site->name = copy(texts.name);
    site->file = copy(texts.file);
    site->function = copy(texts.function);
    site->label = copy(texts.label);
    for (uint32_t at = 0; at != texts.attribute_count; ++at)
      site->attributes[at] = copy(shortened(text_of(texts.attributes[at]), keep::head));
    site->name_bytes = static_cast<uint32_t>(texts.name.bytes);
    site->line = texts.line;
    site->kind = texts.kind;
    site->attribute_count = texts.attribute_count;
    return site;
  });
}

template <class = void>
ADAPTYST_DETAIL_INLINE uint64_t path_id(uint64_t parent, uint64_t site, uint32_t device) noexcept {
  return mix(mix(parent ^ 0xA0761D6478BD642FU) ^ site ^ (uint64_t{device} << 56));
}

template <class = void>
inline const adaptyst_path* intern_path(process& in, uint64_t id, const adaptyst_path* parent,
                                        const adaptyst_site* site, uint32_t device) noexcept {
  return intern(in.paths, id, [&]() -> const adaptyst_path* {
    auto* const path = static_cast<adaptyst_path*>(in.allocate(sizeof(adaptyst_path)));
    if (path == nullptr) return nullptr;
    path->id = id;
    path->parent = parent;
    path->site = site;
    path->device = device;
    path->depth = parent != nullptr ? parent->depth + 1 : 0;
    return path;
  });
}

// ---- devices ----------------------------------------------------------------------------------------------------

template <class = void>
inline uint32_t find_device(process& in, uint32_t kind, uint32_t index,
                            const char (&name)[name_bytes_of_device]) noexcept {
  constexpr unsigned longest_wait = 1U << 28;
  for (uint32_t at = 0; at != most_devices; ++at) {
    device_entry& entry = in.ledger.devices[at];
    uint32_t state = load_acquire(entry.state);
    if (state == 0 && compare_exchange(entry.state, state, uint32_t{1})) {
      entry.kind = kind;
      entry.index = index;
      __builtin_memcpy(entry.name, name, sizeof entry.name);
      store_release(entry.state, 2);
      return at + 1;
    }
    // A handful of stores on another thread, unless that has lost its processor to ours for good.
    for (unsigned spin = 0; load_acquire(entry.state) == 1; ++spin)
      if (spin == longest_wait) return most_devices + 1;
    if (entry.kind == kind && entry.index == index && __builtin_memcmp(entry.name, name, sizeof entry.name) == 0)
      return at + 1;
  }
  return most_devices + 1;  // no row for it: counted as lost by who asked
}

}}}  // namespace adaptyst::v1::detail

#endif
