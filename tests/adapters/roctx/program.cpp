// Runs annotate() of this program, which is linked with ROCTX, or of a library, whose calls of ROCTX only an adapter
// answers. A second argument is a library with ROCTX that is loaded after the first calls.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

namespace {

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// False: the library cannot be loaded.
bool load_between_calls(const char* library) {
  find<void(const char*)>("roctxMarkA")("early");
  find<int(const char*)>("roctxRangePushA")("before");
  const std::uint64_t number = find<std::uint64_t(const char*)>("roctxRangeStartA")("started before");
  if (dlopen(library, RTLD_NOW | RTLD_LOCAL) == nullptr) return false;
  find<void(std::uint64_t)>("roctxRangeStop")(number);
  std::printf("%d\n", find<int()>("roctxRangePop")());
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  void* const place = dlopen(count > 1 ? arguments[1] : nullptr, RTLD_NOW);
  void* const annotate = place != nullptr ? dlsym(place, "annotate") : nullptr;
  if (annotate == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  if (count > 2 && !load_between_calls(arguments[2])) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  reinterpret_cast<void (*)()>(annotate)();
}
