// Preloading reaches all children of a program by the environment. A program that uses the interface of an adapter is
// usually the last that needs it: the adapter then removes its entry, and children run as without adaptyst. Other
// programs, such as interpreters and launchers, pass it on: which of their children need it is unknown without
// intercepting exec().
#ifndef ADAPTYST_ADAPTERS_INHERITANCE_HPP
#define ADAPTYST_ADAPTERS_INHERITANCE_HPP

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace adaptyst::adapters {

// Removes one entry of a list with colons. Writes in place, because the environment of main() has the same text.
inline void remove_entry(const char* variable, const char* entry) noexcept {
  char* const list = std::getenv(variable);
  const std::size_t length = std::strlen(entry);
  char* at = list;
  while (at != nullptr && (at = std::strstr(at, entry)) != nullptr) {
    const bool is_begin = at == list || at[-1] == ':';
    const bool is_end = at[length] == '\0' || at[length] == ':';
    if (is_begin && is_end) break;
    ++at;
  }
  if (at == nullptr) return;
  char* rest = at + length;
  if (*rest == ':') ++rest;
  else if (at != list) --at;  // the last entry goes with the colon before it
  std::memmove(at, rest, std::strlen(rest) + 1);
  if (*list == '\0') unsetenv(variable);
}

// Whether the program, or a library other than this one, needs a library with a name that begins so.
inline bool is_needed_by_others(const char* begin) noexcept {
  Dl_info own{};
  void* program = nullptr;
  if (dladdr(reinterpret_cast<void*>(&is_needed_by_others), &own) == 0 ||
      (program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD)) == nullptr)
    return false;
  link_map* object = nullptr;
  dlinfo(program, RTLD_DI_LINKMAP, &object);
  bool is_needed = false;
  for (; object != nullptr && !is_needed; object = object->l_next) {
    if (object->l_ld == nullptr || std::strcmp(object->l_name, own.dli_fname) == 0) continue;
    const char* names = nullptr;
    // glibc replaces the offset by the address only if the dynamic section is writable.
    const auto address = [&](ElfW(Addr) at) { return at < object->l_addr ? object->l_addr + at : at; };
    for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(address(entry->d_un.d_ptr));
    for (const ElfW(Dyn)* entry = object->l_ld; names != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED)
        is_needed = is_needed || std::strncmp(names + entry->d_un.d_val, begin, std::strlen(begin)) == 0;
  }
  dlclose(program);
  return is_needed;
}

// For libraries that `adaptyst run --with auto` has preloaded, which are also in ADAPTYST_PRELOAD. Others stay.
// Call it from a constructor: it changes the environment.
inline void end_inheritance() noexcept {
  const int number = errno;
  Dl_info own{};
  const char* const automatic = std::getenv("ADAPTYST_PRELOAD");
  if (automatic != nullptr && dladdr(reinterpret_cast<void*>(&end_inheritance), &own) != 0 &&
      std::strstr(automatic, own.dli_fname) != nullptr) {
    remove_entry("LD_PRELOAD", own.dli_fname);
    remove_entry("ADAPTYST_PRELOAD", own.dli_fname);
  }
  errno = number;
}

}  // namespace adaptyst::adapters

#endif
