// What the README of November 2026 shows, each marker of its table and each line of code.
#include <adaptyst/adaptyst.hpp>
#include <adaptyst/collector.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <future>
#include <numeric>
#include <string>
#include <vector>

namespace {

double sum(const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0); }

void program() {
  adaptyst::collector collector;  // prints a report at the end
  const adaptyst::device worker{adaptyst::device_kind::accelerator, 0, "a thread, for want of a GPU"};
  std::vector<double> numbers(5'000'000);
  {
    ADAPTYST_REGION("fill");
    std::iota(numbers.begin(), numbers.end(), 1.0);
  }
  {
    ADAPTYST_OFFLOAD("sum", worker);
    std::printf("%.0f\n", std::async(std::launch::async, sum, std::cref(numbers)).get());
  }
}

struct payload {
  std::uint64_t bytes;
  int cells;
};
ADAPTYST_FIELDS(payload, bytes, cells);

void markers(const std::string& made_at_run_time) {
  ADAPTYST_FUNCTION();
  ADAPTYST_REGION("name");
  ADAPTYST_REGION("name", payload{8, 1});
  ADAPTYST_REGION(made_at_run_time);
  const adaptyst::device device{adaptyst::device_kind::gpu, 0, "GPU"};
  ADAPTYST_OFFLOAD("name", device);
  adaptyst::operation kernel = adaptyst::submit("name", device, 0, adaptyst::operation_kind::kernel);
  const std::uint64_t started_ns = adaptyst::now_ns();
  const std::uint64_t ended_ns = adaptyst::now_ns();
  kernel.complete(started_ns, ended_ns);
  ADAPTYST_WAIT("name");
  adaptyst::region_handle handle = ADAPTYST_REGION_BEGIN("name");
  handle.end();
  const double value = 1;
  ADAPTYST_METRIC("name", value);
  ADAPTYST_MARK("name");
}

std::uint64_t looking() {
  adaptyst::collector collector("report=none");
  const adaptyst::profile so_far = collector.snapshot();
  adaptyst::options asked;
  asked.overhead = 0.02;
  return adaptyst::collector(asked).stop().accounting.ended + so_far.accounting.ended;
}

}  // namespace

int main() {
  program();
  markers("made at run time");
  return looking() == 0 ? 0 : 1;
}
