// What a push and a pop of NVTX cost: without a tool, with an idle adapter, and while the process's recorder sums. NVTX's
// own part, a call through a function pointer that may be null, is restated here.
#include <adaptyst/collector.hpp>
#include <dlfcn.h>

#include <cstdio>

#include "../measure.hpp"

namespace {

using any_function = void (*)();
any_function push = nullptr;
any_function pop = nullptr;
any_function* places[16] = {};

int get_functions(std::uint32_t module, any_function*** functions, std::uint32_t* count) {
  if (module != 1) return 0;
  *functions = places;
  *count = 16;
  return 1;
}

const void* get_table(std::uint32_t) {
  static const struct {
    std::size_t bytes;
    int (*get)(std::uint32_t, any_function***, std::uint32_t*);
  } table{sizeof table, get_functions};
  return &table;
}

any_function read(any_function& from) { return *static_cast<any_function volatile*>(&from); }

void push_and_pop() {
  if (const any_function now = read(push)) reinterpret_cast<int (*)(const char*)>(now)("a range of NVTX");
  if (const any_function now = read(pop)) reinterpret_cast<int (*)()>(now)();
}

}  // namespace

int main() {
  std::vector<double> without;
  std::vector<double> asleep;
  std::vector<double> awake;
  for (unsigned round = 0; round != 25; ++round) without.push_back(bench::step_ns(200'000, push_and_pop));
  void* const library = dlopen(ADAPTYST_BENCH_NVTX, RTLD_NOW);
  void* const start = library != nullptr ? dlsym(library, "InitializeInjectionNvtx2") : nullptr;
  if (start == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
  places[9] = &push;
  places[11] = &pop;
  reinterpret_cast<int (*)(const void* (*)(std::uint32_t))>(start)(get_table);
  for (unsigned round = 0; round != 25; ++round) {
    asleep.push_back(bench::step_ns(200'000, push_and_pop));
    adaptyst::collector collector("engine=inline,overhead=none,report=none");
    bench::step_ns(1000, push_and_pop);
    awake.push_back(bench::step_ns(200'000, push_and_pop));
  }
  std::printf("nvtx_push_pop_ns %.4g\nnvtx_idle_push_pop_ns %.4g\nnvtx_without_tool_push_pop_ns %.4g\n",
              bench::median(awake), bench::median(asleep), bench::median(without));
}
