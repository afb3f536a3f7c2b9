// The cost of a push and a pop of ROCTX: without the adapter, with the idle adapter, and while the process's recorder
// sums. The adapter passes each call on to a small library that has the name of the real library.
#include <adaptyst/collector.hpp>
#include <dlfcn.h>

#include <cstdio>

#include "../measure.hpp"

namespace {

struct calls {
  int (*push)(const char*);
  int (*pop)();
};

void* load(const char* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  return library;
}

calls find_calls(void* library) {
  return {reinterpret_cast<int (*)(const char*)>(dlsym(library, "roctxRangePushA")),
          reinterpret_cast<int (*)()>(dlsym(library, "roctxRangePop"))};
}

double measure(const calls& of) {
  return bench::step_ns(200'000, [&] {
    of.push("a range of ROCTX");
    of.pop();
  });
}

}  // namespace

int main() {
  void* const real = load(ADAPTYST_BENCH_ROCTX64);  // before the adapter, which searches for it
  void* const adapter = load(ADAPTYST_BENCH_ROCTX);
  if (real == nullptr || adapter == nullptr) return 1;
  const calls without_adapter = find_calls(real), with_adapter = find_calls(adapter);
  if (without_adapter.push == nullptr || with_adapter.push == nullptr) return 1;
  std::vector<double> without;
  std::vector<double> asleep;
  std::vector<double> awake;
  for (unsigned round = 0; round != 25; ++round) {
    without.push_back(measure(without_adapter));
    asleep.push_back(measure(with_adapter));
    adaptyst::collector collector("engine=inline,overhead=none,report=none");
    bench::step_ns(1000, [&] { with_adapter.push("a range of ROCTX"), with_adapter.pop(); });
    awake.push_back(measure(with_adapter));
  }
  std::printf("roctx_push_pop_ns %.4g\nroctx_idle_push_pop_ns %.4g\nroctx_without_tool_push_pop_ns %.4g\n",
              bench::median(awake), bench::median(asleep), bench::median(without));
}
