// Records of markers and call paths: one per process and id.
#ifndef ADAPTYST_DETAIL_INTERNING_HPP
#define ADAPTYST_DETAIL_INTERNING_HPP

#include "process.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// The record with this id; `make()` creates a new one. Lock-free, because a signal handler may interrupt an insertion
// of any thread. Null: no memory, or no free slot nearby.
template <class T, size_t Slots, class Make>
const T* intern(intern_table<T, Slots>& table, uint64_t id, Make&& make) noexcept {
  constexpr size_t max_steps = 512;
  const T* made = nullptr;
  for (size_t step = 0; step != max_steps; ++step) {
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

static_assert(sizeof(adaptyst_site) == 136 && offsetof(adaptyst_site, color) == 128,
              "ELF objects share records: another size or place needs another ADAPTYST_ABI_VERSION");

struct site_texts {
  text name, file, function, label;
  const char* const* attributes;
  uint32_t attribute_count, line, kind, level;
};

enum class keep { head, tail };

template <class = void>
inline text shortened(text what, keep part) noexcept {
  constexpr size_t max_bytes = ADAPTYST_TEXT_BYTES - 1;
  if (what.bytes <= max_bytes) return what;
  return {part == keep::head ? what.data : what.data + (what.bytes - max_bytes), max_bytes};
}

// Step of a new marker. A marker deeper than the run's level gets a separate, constant step.
template <class = void>
inline const uint64_t* find_step(process& in, uint64_t number, const site_texts& texts) noexcept {
  if (ADAPTYST_DETAIL_LIKELY(!is_too_deep(in.settings.levels, {texts.name, texts.function, texts.kind, texts.level})))
    return &in.settings.steps[number];
  store(in.deeper_steps[number], uint64_t{ADAPTYST_STEP_DEEPER});
  store(in.has_deeper, uint64_t{1});
  return &in.deeper_steps[number];
}

template <class = void>
inline const adaptyst_site* intern_site(process& in, site_texts texts) noexcept {
  texts.name = shortened(texts.name, keep::head);
  texts.file = shortened(texts.file, keep::tail);
  texts.function = shortened(texts.function, keep::head);
  texts.label = shortened(texts.label, keep::head);
  uint64_t id = hash(texts.kind | uint64_t{texts.level} << 32U, texts.name);
  id = hash(id, texts.file);
  id = hash(id, texts.function);
  id = hash(id ^ texts.line, texts.label);
  for (uint32_t at = 0; at != texts.attribute_count; ++at) id = hash(id, to_text(texts.attributes[at]));
  return intern(in.sites, id, [&]() -> const adaptyst_site* {
    size_t bytes =
        sizeof(adaptyst_site) + texts.name.bytes + texts.file.bytes + texts.function.bytes + texts.label.bytes + 4;
    for (uint32_t at = 0; at != texts.attribute_count; ++at)
      bytes += shortened(to_text(texts.attributes[at]), keep::head).bytes + 1;
    const uint64_t number = fetch_add(in.store->head.numbered, 1);
    if (number >= max_sites) return nullptr;
    auto* const site = static_cast<adaptyst_site*>(in.store->allocate(bytes));
    if (site == nullptr) return nullptr;
    char* end = reinterpret_cast<char*>(site + 1);
    const auto copy = [&end](text from) {
      char* const place = end;
      if (from.bytes != 0) __builtin_memcpy(place, from.data, from.bytes);
      place[from.bytes] = '\0';
      end += from.bytes + 1;
      return const_cast<const char*>(place);
    };
    site->id = id;
    site->name = copy(texts.name);
    site->file = copy(texts.file);
    site->function = copy(texts.function);
    site->label = copy(texts.label);
    for (uint32_t at = 0; at != texts.attribute_count; ++at)
      site->attributes[at] = copy(shortened(to_text(texts.attributes[at]), keep::head));
    site->step = find_step(in, number, texts);
    site->name_bytes = static_cast<uint32_t>(texts.name.bytes);
    site->line = texts.line;
    site->kind = texts.kind;
    site->attribute_count = static_cast<uint16_t>(texts.attribute_count);
    site->level = static_cast<uint16_t>(texts.level);
    site->color = 0;
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
    auto* const path = static_cast<adaptyst_path*>(in.store->allocate(sizeof(adaptyst_path)));
    if (path == nullptr) return nullptr;
    path->id = id;
    path->parent = parent;
    path->site = site;
    path->device = device;
    path->depth = parent != nullptr ? parent->depth + 1 : 0;
    return path;
  });
}

}}}  // namespace adaptyst::v1::detail

#endif
