// What observing from outside costs the observer, and functions without markers the program: adaptyst_bench_outside;
// with an argument, only what the first event of this process costs, in us.
#include <adaptyst/region.hpp>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "../lib/discover/process_objects.hpp"
#include "../lib/kernel/function_probes.hpp"
#include "../lib/model/activity.hpp"
#include "../lib/report/activity_table.hpp"
#include "../lib/session/observed_process.hpp"
#include "../lib/session/observer.hpp"
#include "../lib/support/heap_reserve.hpp"
#include "measure.hpp"

extern "C" int adaptyst_bench_function_0(int);

namespace {

constexpr int rounds = 7;

// A child that does `work` until it is killed.
template <class Work>
class program {
 public:
  explicit program(Work&& work) : id_(fork()) {
    if (id_ == 0)
      for (;;) work();
  }
  ~program() {
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  pid_t id() const { return id_; }

 private:
  pid_t id_;
};

template <class Step>
double ms(Step&& step) {
  return bench::step_ns(1, step) / 1e6;
}

// What makes the store, the recorder and the first row of a process: a new one each time.
void first_event(bench::measurements& results) {
  std::vector<double> all;
  for (int round = 0; round != 3 * rounds; ++round) {
    std::FILE* const report = popen("/proc/$PPID/exe first", "r");
    double took = 0;
    if (report == nullptr || std::fscanf(report, "%lf", &took) != 1) return;
    pclose(report);
    all.push_back(took);
  }
  results["first_event_us"] = bench::median(all);
}

int print_first_event() {
  adaptyst_object_v5.recorder = 1;
  std::printf("%.6g\n", ms([] { ADAPTYST_REGION("first"); }) * 1e3);
  return 0;
}

// Rows of which each changes between two looks, as `adaptyst top` meets them.
void changing(bench::measurements& results) {
  constexpr int paths = 4'000;
  const program running([] {
    for (int at = 0; at != paths; ++at) {
      ADAPTYST_REGION(std::to_string(at));
    }
    usleep(20'000);
  });
  adaptyst::observer watching("engine=inline,overhead=none,report=none");
  watching.attach(running.id());
  usleep(300'000);
  adaptyst::activity_meter meter;
  meter.next(watching.changes(), 0);
  std::vector<double> looks;
  for (int round = 0; round != rounds; ++round) {
    usleep(100'000);
    looks.push_back(ms([&] { to_table(meter.next(watching.changes(), 1e9)); }));
  }
  results["top_changing_rows_percent"] = bench::median(looks) / 10;  // of a core, once a second
}

void attaching(bench::measurements& results) {
  const program running([] {
    ADAPTYST_REGION("running");
    usleep(100);
  });
  std::vector<double> attach;
  std::vector<double> detach;
  for (int round = 0; round != rounds; ++round) {
    std::unique_ptr<adaptyst::observer> watching;
    attach.push_back(ms([&] {
      watching =
          std::make_unique<adaptyst::observer>("engine=ebpf,overhead=none,context=none,report=none", running.id());
      watching->attach(running.id());
    }));
    usleep(20'000);
    detach.push_back(ms([&] { watching->stop(); }));
  }
  results["attach_running_ms"] = bench::median(attach);
  results["detach_running_ms"] = bench::median(detach);
}

void functions(bench::measurements& results) {
  using adaptyst::lib::function_probes;
  const adaptyst::lib::function_request all = adaptyst::lib::parse_function("/proc/self/exe:adaptyst_bench_function_*");
  std::vector<double> attach;
  std::vector<double> detach;
  for (int round = 0; round != rounds; ++round) {
    std::unique_ptr<function_probes> probes;
    attach.push_back(ms([&] {
      probes = std::make_unique<function_probes>(adaptyst::lib::function_options{getpid()});
      probes->attach("/proc/self/exe", {all});
    }));
    if (probes->attached() < 500) return;
    detach.push_back(ms([&] { probes->stop(); }));
  }
  results["attach_500_functions_ms"] = bench::median(attach);
  results["detach_500_functions_ms"] = bench::median(detach);

  const adaptyst::lib::function_request request =
      adaptyst::lib::parse_function("/proc/self/exe:adaptyst_bench_function_0");
  for (const bool sessions : {true, false}) {
    adaptyst::lib::function_options how{getpid()};
    how.sessions = sessions;
    function_probes probes(how);
    probes.attach("/proc/self/exe", {request});
    std::vector<double> call;
    for (int round = 0; round != rounds; ++round)
      call.push_back(bench::step_ns(100'000, [] { adaptyst_bench_function_0(1); }));
    results[sessions ? "function_session_ns" : "function_pair_ns"] = bench::median(call);
  }
}

// A program that passes 10,000 call paths, and then rests: the first reading has it all to do, the others nothing.
void reading(bench::measurements& results) {
  constexpr int threads = 4;
  constexpr int paths = 2'500;
  const program running([] {
    std::vector<std::thread> all;
    for (int thread = 0; thread != threads; ++thread)
      all.emplace_back([thread] {
        for (int at = 0;; at = (at + 1) % paths) {
          { ADAPTYST_REGION(std::to_string(thread) + " " + std::to_string(at)); }
          if (at == paths - 1) usleep(2'500'000);
        }
      });
    for (std::thread& thread : all) thread.join();
  });
  {
    adaptyst::lib::observed_process alone(running.id(), false);
    for (const adaptyst::lib::process_object& object : adaptyst::lib::find_objects(running.id()))
      alone.add_object(object.control_block);
    alone.claim({});
    alone.enable();
    usleep(3'000'000);  // it may have been resting
    results["remote_rows_ms"] = ms([&] { alone.poll(false); });
    alone.release();
  }
  adaptyst::observer watching("engine=inline,overhead=none,report=none");
  watching.attach(running.id());
  usleep(3'000'000);
  results["inline_remote_rows"] = static_cast<double>(watching.snapshot().regions.size());
  // As `adaptyst top` does it, once a second.
  adaptyst::activity_meter meter;
  meter.next(watching.changes(), 0);
  std::vector<double> again;
  for (int round = 0; round != rounds; ++round)
    again.push_back(ms([&] { to_table(meter.next(watching.changes(), 1e9)); }));
  results["observer_cpu_percent"] = bench::median(again) / 10;
}

}  // namespace

int main(int count, char**) {
  if (count == 2) return print_first_event();
  adaptyst::lib::use_huge_pages_in_heap();  // as the command
  bench::measurements figures;
  first_event(figures);
  attaching(figures);
  functions(figures);
  reading(figures);
  changing(figures);
  for (const auto& [key, value] : figures) std::printf("%s %.6g\n", key.c_str(), value);
}
