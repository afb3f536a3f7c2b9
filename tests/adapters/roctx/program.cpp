// Runs annotate() of this program, which is linked with ROCTX, or of a library, whose calls of ROCTX only an adapter answers.
#include <dlfcn.h>

#include <cstdio>

int main(int count, char** arguments) {
  void* const place = dlopen(count > 1 ? arguments[1] : nullptr, RTLD_NOW);
  void* const annotate = place != nullptr ? dlsym(place, "annotate") : nullptr;
  if (annotate == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 2;
  reinterpret_cast<void (*)()>(annotate)();
}
