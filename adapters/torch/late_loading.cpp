// libadaptyst-torch.so, for preloading: loads libadaptyst-torch-callbacks.so, which uses torch, as soon as the process
// has loaded the libtorch that this was built for. Before that, it does nothing. docs/torch.md
//
// This library must not need libtorch itself: it is preloaded into every program that the command starts. Python loads
// torch late, as a module, and only the call of dlopen() shows it. It needs no libstdc++ either: a program without libstdc++
// would then get this one, and a module that needs a newer one would fail.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "../inheritance.hpp"

namespace {

std::atomic<bool> is_done{false};

using path = char[PATH_MAX];

// The folder of this library also contains the other library. Empty: unknown.
void find_callbacks(path& found) noexcept {
  Dl_info own{};
  found[0] = '\0';
  if (dladdr(reinterpret_cast<const void*>(&is_done), &own) == 0 || own.dli_fname == nullptr) return;
  const char* const slash = std::strrchr(own.dli_fname, '/');
  const int folder = slash != nullptr ? static_cast<int>(slash + 1 - own.dli_fname) : 0;
  const int length = std::snprintf(found, sizeof found, "%.*s%s", folder, own.dli_fname, ADAPTYST_TORCH_CALLBACKS);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof found) found[0] = '\0';
}

int find_other_version(dl_phdr_info* object, std::size_t, void* found) {
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : object->dlpi_name;
  constexpr const char begin[] = "libtorch_cpu.so";
  if (std::strncmp(name, begin, sizeof begin - 1) != 0) return 0;
  std::snprintf(*static_cast<path*>(found), sizeof(path), "%s", object->dlpi_name);
  return 1;
}

using dlopen_function = void*(const char*, int);

dlopen_function* find_dlopen() noexcept {
  static std::atomic<dlopen_function*> kept{nullptr};  // constant initialization: no lock of libstdc++
  dlopen_function* found = kept.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = reinterpret_cast<dlopen_function*>(dlsym(RTLD_NEXT, "dlopen"));
    kept.store(found, std::memory_order_relaxed);
  }
  return found;
}

void load_callbacks() noexcept {
  path callbacks;
  find_callbacks(callbacks);
  void* const loaded = callbacks[0] == '\0' ? nullptr : find_dlopen()(callbacks, RTLD_NOW | RTLD_LOCAL);
  void* const start = loaded != nullptr ? dlsym(loaded, "adaptyst_torch_start") : nullptr;
  if (start != nullptr) return reinterpret_cast<void (*)()>(start)();
  std::fprintf(stderr, "adaptyst: torch is not observed: %s cannot be loaded: %s\n", callbacks, dlerror());
}

// Cheap enough to be called at each dlopen().
void find_torch() noexcept {
  if (is_done.load(std::memory_order_acquire)) return;
  if (void* const found = find_dlopen()(ADAPTYST_TORCH_SONAME, RTLD_NOLOAD | RTLD_LAZY)) {
    if (!is_done.exchange(true)) load_callbacks();
    dlclose(found);
    return;
  }
  path other;
  if (dl_iterate_phdr(find_other_version, &other) != 0 && !is_done.exchange(true))
    std::fprintf(stderr,
                 "adaptyst: torch is not observed: the program uses libtorch %s, this adapter was built for %s\n",
                 other, ADAPTYST_TORCH_SONAME);
}

__attribute__((constructor)) void find_torch_at_start() {
  find_torch();
  if (is_done.load(std::memory_order_relaxed)) adaptyst::adapters::end_inheritance();  // it is linked with torch
}

}  // namespace

// A name without a folder is searched for in the folders of the caller (DT_RUNPATH), which glibc finds by the return
// address. Such a call is therefore passed on as a jump, and the next call checks whether it loaded torch.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int mode) {
  if (is_done.load(std::memory_order_relaxed) || file == nullptr || std::strchr(file, '/') == nullptr ||
      std::strchr(file, '$') != nullptr) {
    if (file != nullptr) find_torch();
    return find_dlopen()(file, mode);
  }
  void* const loaded = find_dlopen()(file, mode);
  if (loaded == nullptr) return loaded;
  const int kept_errno = errno;
  find_torch();
  // The check for torch has set an error, which the program must not get from dlerror() for its own call.
  dlerror();
  errno = kept_errno;
  return loaded;
}
