/* Loads the module that its argument names, so that no other module sees it, and runs it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* const module = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (module == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  int (*run)(void) = (int (*)(void))dlsym(module, "run");
  return run != NULL ? run() : 3;
}
