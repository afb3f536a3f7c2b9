// What a task of ITT costs: with the adapter while the process's recorder sums, with the adapter while nothing listens,
// and without a tool.
#include <adaptyst/collector.hpp>
#include <dlfcn.h>

#include <cstdio>

#include "../measure.hpp"
#include "static_part.hpp"

namespace {

using adaptyst::itt::id;

void* begin_task;  // null: no tool
void* end_task;
void* create_domain;
void* create_string;
adaptyst::itt::domain own_domain{1, "own", nullptr, {}, nullptr, nullptr};
adaptyst::itt::domain* in = &own_domain;
adaptyst::itt::string_handle* name;

using begin_call = void (*)(const adaptyst::itt::domain*, id, id, adaptyst::itt::string_handle*);
using end_call = void (*)(const adaptyst::itt::domain*);

// As the macros of ITT do, which read `flags` from memory each time.
void task() {
  if (in->flags != 0 && begin_task != nullptr) reinterpret_cast<begin_call>(begin_task)(in, {}, {}, name);
  if (in->flags != 0 && end_task != nullptr) reinterpret_cast<end_call>(end_task)(in);
}

bool load() {
  void* const library = dlopen(ADAPTYST_BENCH_ITT, RTLD_NOW);
  if (library == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), false;
  adaptyst::itt::function functions[] = {{"__itt_task_begin", &begin_task, nullptr, nullptr, 0},
                                         {"__itt_task_end", &end_task, nullptr, nullptr, 0},
                                         {"__itt_domain_create", &create_domain, nullptr, nullptr, 0},
                                         {"__itt_string_handle_create", &create_string, nullptr, nullptr, 0},
                                         {nullptr, nullptr, nullptr, nullptr, 0}};
  adaptyst::itt::static_part part{};
  std::memcpy(part.magic, adaptyst::itt::magic, sizeof part.magic);
  part.major_version = adaptyst::itt::supported_version;
  part.build = 20180723;
  part.functions = functions;
  reinterpret_cast<void (*)(adaptyst::itt::static_part*, int)>(dlsym(library, "__itt_api_init"))(&part, -1);
  in = reinterpret_cast<adaptyst::itt::domain* (*)(const char*)>(create_domain)("solver");
  name = reinterpret_cast<adaptyst::itt::string_handle* (*)(const char*)>(create_string)("a task of ITT");
  return begin_task != nullptr && in != nullptr && name != nullptr;
}

}  // namespace

int main() {
  std::vector<double> without;
  for (unsigned round = 0; round != 25; ++round) without.push_back(bench::step_ns(200'000, task));
  if (!load()) return 1;
  std::vector<double> asleep;
  std::vector<double> awake;
  for (unsigned round = 0; round != 25; ++round) {
    asleep.push_back(bench::step_ns(200'000, task));
    adaptyst::collector collector("engine=inline,overhead=none,report=none");
    bench::step_ns(1000, task);
    awake.push_back(bench::step_ns(200'000, task));
  }
  std::printf("itt_task_ns %.4g\nitt_idle_task_ns %.4g\nitt_no_tool_task_ns %.4g\n", bench::median(awake),
              bench::median(asleep), bench::median(without));
}
