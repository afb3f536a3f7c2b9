// libadaptyst-torch.so, for preloading: loads libadaptyst-torch-callbacks.so, which uses torch, as soon as the process
// has loaded the libtorch that this was built for. Before that, it does nothing. docs/torch.md
//
// This library must not need libtorch itself: it is preloaded into every program that the command starts. Python loads
// torch late, as a module, and only the call of dlopen() shows it.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "../inheritance.hpp"

namespace {

std::atomic<bool> is_done{false};

// The folder of this library also contains the other library.
std::string find_callbacks() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&is_done), &own) == 0 || own.dli_fname == nullptr) return {};
  const std::string path = own.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + ADAPTYST_TORCH_CALLBACKS;
}

int find_other_version(dl_phdr_info* object, std::size_t, void* found) {
  const char* const slash = std::strrchr(object->dlpi_name, '/');
  const char* const name = slash != nullptr ? slash + 1 : object->dlpi_name;
  constexpr const char begin[] = "libtorch_cpu.so";
  if (std::strncmp(name, begin, sizeof begin - 1) != 0) return 0;
  *static_cast<std::string*>(found) = object->dlpi_name;
  return 1;
}

using dlopen_function = void*(const char*, int);

dlopen_function* find_dlopen() noexcept {
  static dlopen_function* const found = reinterpret_cast<dlopen_function*>(dlsym(RTLD_NEXT, "dlopen"));
  return found;
}

void load_callbacks() noexcept {
  const std::string callbacks = find_callbacks();
  void* const loaded = callbacks.empty() ? nullptr : find_dlopen()(callbacks.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const start = loaded != nullptr ? dlsym(loaded, "adaptyst_torch_start") : nullptr;
  if (start != nullptr) return reinterpret_cast<void (*)()>(start)();
  std::fprintf(stderr, "adaptyst: torch is not observed: %s cannot be loaded: %s\n", callbacks.c_str(), dlerror());
}

// Cheap enough to be called at each dlopen().
void find_torch() noexcept {
  if (is_done.load(std::memory_order_acquire)) return;
  if (void* const found = find_dlopen()(ADAPTYST_TORCH_SONAME, RTLD_NOLOAD | RTLD_LAZY)) {
    if (!is_done.exchange(true)) load_callbacks();
    dlclose(found);
    return;
  }
  std::string other;
  if (dl_iterate_phdr(find_other_version, &other) != 0 && !is_done.exchange(true))
    std::fprintf(stderr,
                 "adaptyst: torch is not observed: the program uses libtorch %s, this adapter was built for %s\n",
                 other.c_str(), ADAPTYST_TORCH_SONAME);
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
