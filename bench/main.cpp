// adaptyst_bench [idle N | plain N | work | inline | ebpf | devices | trace | context | samples | attach | budget | nested |
// fine | memory]: prints its figures as lines "key value"; without an argument all but the last eight and "work".
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "measure.hpp"

int main(int count, char* arguments[]) {
  const std::string what = count > 1 ? arguments[1] : "all";
  if (count > 2) return bench::only_idle_steps(what == "idle", std::strtoull(arguments[2], nullptr, 10));
  bench::measurements figures;
  if (what == "inline") figures["inline_region_ns"] = bench::one_inline_region_ns();
  if (what == "work") figures["work_ns"] = bench::marked_work_ns();  // observed from outside
  if (what == "ebpf") figures["ebpf_region_ns"] = bench::one_ebpf_region_ns();
  if (what == "devices") bench::devices(figures);
  if (what == "trace") figures["trace_event_ns"] = bench::one_trace_event_ns();
  if (what == "context") bench::try_measuring("context", [&] { bench::context(figures); });
  if (what == "samples") bench::samples(figures);
  if (what == "attach") bench::attach(figures);
  if (what == "budget") bench::budget(figures);
  if (what == "nested") bench::try_measuring("nested", [&] { bench::nested_budget(figures); });
  if (what == "fine") bench::fine_grained(figures);
  if (what == "memory") bench::try_measuring("memory", [&] { bench::kernel_memory(figures); });
  if (what == "all") {
    bench::idle(figures);
    bench::inline_engine(figures);
    bench::devices(figures);
    figures["trace_event_ns"] = bench::one_trace_event_ns();
    bench::ebpf_engine(figures);
    bench::perturbation(figures);
  }
  for (const auto& [key, value] : figures) std::printf("%s %.6g\n", key.c_str(), value);
}
