// Does a little of everything that a timeline shows: traced_program inside|outside all|crowd|bursts N|endless|fork
//
// inside: with a collector of its own, which the environment tells what to do. What its device does is made up.
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/adaptyst.hpp>
#include <adaptyst/collector.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "simulated GPU"};

void nap(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void nested(int depth) {
  ADAPTYST_REGION("nested");
  if (depth > 1) nested(depth - 1);
}

void regions() {
  for (int at = 0; at != 200; ++at) {
    ADAPTYST_REGION("step \"quoted\"\n\xff");
    nested(1 + at % 5);
    ADAPTYST_METRIC("residual", 1.0 / (1 + at));
    if (at % 10 == 0) ADAPTYST_MARK("tenth");
    ADAPTYST_WAIT("wait");
  }
}

void phases() {
  for (int at = 0; at != 50; ++at) {
    ADAPTYST_PHASES("load");
    ADAPTYST_NEXT("compute");
    { ADAPTYST_REGION("inner"); }
    ADAPTYST_NEXT("store");
  }
}

// Two queues; on the second, operations overlap.
void operations() {
  for (int at = 0; at != 100; ++at) {
    adaptyst::operation copy;
    adaptyst::operation kernel;
    {
      ADAPTYST_REGION("submitter");
      copy = adaptyst::submit("upload", gpu, 1, adaptyst::operation_kind::copy_to, adaptyst::work{1000});
      kernel = adaptyst::submit("kernel", gpu, 2, adaptyst::operation_kind::kernel);
    }
    const std::uint64_t now = adaptyst::now_ns();
    kernel.complete(now, now + 20'000);
    copy.complete(now, now + 10);
    while (adaptyst::now_ns() < now + 5'000) {}
  }
  ADAPTYST_OFFLOAD("offload", gpu);
}

// More at once than a queue has tracks.
void crowd() {
  std::vector<adaptyst::operation> all;
  for (int at = 0; at != 100; ++at)
    all.push_back(adaptyst::submit("crowded", gpu, 1, adaptyst::operation_kind::kernel));
  const std::uint64_t now = adaptyst::now_ns();
  for (adaptyst::operation& operation : all) operation.complete(now, now + 1'000'000);
}

void handles() {
  adaptyst::region_handle a = ADAPTYST_HANDLE_BEGIN("handle");
  adaptyst::region_handle b = ADAPTYST_HANDLE_BEGIN("handle");
  a.end();
  std::thread([&b] { b.end(); }).join();
}

void all() {
  std::thread first([] {
    regions();
    phases();
  });
  std::thread second([] { operations(); });
  first.join();
  second.join();
  handles();
}

void bursts(long count) {
  for (long at = 0; at != count; ++at) {
    ADAPTYST_REGION("burst");
    if (at % 20000 == 19999) nap(10);
  }
}

void print_peak_memory() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("VmHWM:", 0) == 0) std::printf("%ld\n", std::strtol(line.c_str() + 6, nullptr, 10));
}

}  // namespace

int main(int, char** words) {
  {
    std::unique_ptr<adaptyst::collector> collector;
    if (std::strcmp(words[1], "inside") == 0) collector = std::make_unique<adaptyst::collector>();
    const std::string what = words[2];
    if (what == "all") all();
    if (what == "crowd") crowd();
    if (what == "bursts") bursts(std::strtol(words[3], nullptr, 10));
    if (what == "fork") {
      regions();
      const pid_t child = fork();
      if (child == 0) {
        regions();
        std::exit(0);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) return 1;
    }
    while (what == "endless") {
      regions();
      nap(1);
    }
  }
  print_peak_memory();
}
