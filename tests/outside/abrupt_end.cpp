// Passes short regions for a while, counts them in a file as it goes, and ends without goodbye:
// abrupt_end MILLISECONDS kill|_exit|quick_exit|abort|exec|exit|wait COUNTS [THREADS [CHILDREN]]
//
// "wait" goes on until it is killed; "exit" is as a program should. SIGUSR1 ends the time. CHILDREN are forked in a region
// that the parent has left when they begin, do the same as it does, and have ended before it. COUNTS exists: a `counts` for
// each thread.
// With $OPERATIONS, each region comes with an operation of a device, 10 ns long, that overlaps with none.
// Built with COLLECTING, it has a collector of its own, which looks at what is not in children.
#include <adaptyst/adaptyst.hpp>
#ifdef COLLECTING
#include <adaptyst/collector.hpp>
#endif
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct alignas(64) counts {
  std::atomic<std::uint64_t> process, begun, completed;
};

using deadline = std::chrono::steady_clock::time_point;

std::atomic<bool> is_over{false};
const bool has_operations = std::getenv("OPERATIONS") != nullptr;

void operate() {
  static const adaptyst::device device{adaptyst::device_kind::other, 0, "simulated"};
  static std::atomic<std::uint64_t> next_ns{adaptyst::now_ns() + 100'000'000'000};
  const std::uint64_t started = next_ns.fetch_add(20);
  adaptyst::submit("operation", device, 0, adaptyst::operation_kind::kernel).complete(started, started + 10);
}

void pass(counts& in) {
  const std::uint64_t before = in.begun.load(std::memory_order_relaxed);
  in.begun.store(before + 1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  { ADAPTYST_REGION("short"); }
  if (has_operations) operate();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  in.completed.store(before + 1, std::memory_order_relaxed);
}

void pass_until(deadline end, counts& in) {
  ADAPTYST_REGION("work");
  in.process.store(static_cast<std::uint64_t>(getpid()));
  while (!is_over && std::chrono::steady_clock::now() < end) pass(in);
}

void work(deadline end, counts* in, long threads) {
  std::vector<std::thread> others;
  for (long at = 1; at < threads; ++at) others.emplace_back([=] { pass_until(end, in[at]); });
  pass_until(end, *in);
  for (std::thread& thread : others) thread.join();
}

void end_by(std::string_view how) {
  if (how == "kill") raise(SIGKILL);
  if (how == "_exit") _exit(0);
  if (how == "quick_exit") std::quick_exit(0);
  if (how == "abort") std::abort();
  if (how == "exec") execl("/bin/true", "true", nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
#ifdef COLLECTING
  const adaptyst::collector collector("report=none");
#endif
  const std::string_view how = arguments[2];
  const auto length = std::chrono::milliseconds(how == "wait" ? 60'000 : std::atol(arguments[1]));
  const deadline end = std::chrono::steady_clock::now() + length;
  const long threads = count > 4 ? std::atol(arguments[4]) : 1, children = count > 5 ? std::atol(arguments[5]) : 0;
  const int file = open(arguments[3], O_RDWR | O_CLOEXEC);
  const auto bytes = static_cast<std::size_t>(threads * (children + 1)) * sizeof(counts);
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (file < 0 || mapped == MAP_FAILED) return 2;
  auto* mine = static_cast<counts*>(mapped);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  signal(SIGUSR1, [](int) { is_over = true; });

  for (int at = 0; at != 100; ++at) pass(*mine);
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return 2;
  std::vector<pid_t> forked;
  for (long at = 1; at <= children; ++at) {
    ADAPTYST_REGION("launch");
    const pid_t child = fork();
    if (child == 0) {
      char byte;
      close(gate[1]);
      if (read(gate[0], &byte, 1) != 0) return 2;  // until the parent has left the region
      work(end, mine + at * threads, threads);
      end_by(how);
      return 0;
    }
    forked.push_back(child);
  }
  { ADAPTYST_REGION("launched"); }
  close(gate[1]);
  work(end, mine, threads);
  for (const pid_t child : forked) waitpid(child, nullptr, 0);
  end_by(how);
}
