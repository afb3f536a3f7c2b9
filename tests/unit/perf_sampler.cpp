// Records in a ring of the kernel: samples in two parts, losses, damaged records.
#include "kernel/perf_sampler.hpp"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"

namespace {

using adaptyst::lib::perf_losses;
using adaptyst::lib::perf_records;
using adaptyst::lib::perf_sample;

constexpr std::size_t bytes = 256;

struct ring {
  std::array<char, bytes> content{};
  std::uint64_t tail = 0, head = 0;

  void put(std::uint64_t word) {
    std::memcpy(content.data() + head % bytes, &word, sizeof word);
    head += sizeof word;
  }
  void begin(std::uint32_t type, std::uint64_t words, std::uint64_t size = 0) {
    put(type | (size != 0 ? size : 8 * (words + 1)) << 48U);
  }
  void sample(std::uint64_t time_ns, const std::vector<std::uint64_t>& frames) {
    begin(PERF_RECORD_SAMPLE, 4 + frames.size());
    put(7);
    put(12 | std::uint64_t{13} << 32U);
    put(time_ns);
    put(frames.size());
    for (const std::uint64_t frame : frames) put(frame);
  }
  std::vector<perf_sample> take(perf_losses& lost) {
    std::vector<perf_sample> all;
    perf_records::take(content.data(), bytes, tail, head, 0, lost,
                       [&](const perf_sample& taken) { all.push_back(taken); });
    tail = head;
    return all;
  }
};

}  // namespace

TEST_CASE("samples in a ring are read, also across its end") {
  ring in;
  perf_losses lost;
  constexpr auto user = static_cast<std::uint64_t>(PERF_CONTEXT_USER);
  for (std::uint64_t round = 0; round != 100; ++round) {
    CAPTURE(round);
    in.sample(round, {user, 0x1000 + round, 0x2000, 0x3000});
    in.sample(round, {user});
    const std::vector<perf_sample> taken = in.take(lost);
    REQUIRE(taken.size() == 2);
    CHECK(taken[0].clock == 7);
    CHECK(taken[0].process == 12);
    CHECK(taken[0].thread == 13);
    CHECK(taken[0].time_ns == round);
    CHECK(taken[0].frames == std::vector<std::uint64_t>{0x1000 + round, 0x2000, 0x3000});
    CHECK(taken[1].frames.empty());
  }
  CHECK(lost.ring_full == 0);
}

TEST_CASE("samples that the kernel had no room for are counted, and pauses of the clock") {
  ring in;
  perf_losses lost;
  in.begin(PERF_RECORD_LOST, 2);
  in.put(1);
  in.put(17);
  in.begin(PERF_RECORD_THROTTLE, 3);
  for (int word = 0; word != 3; ++word) in.put(0);
  in.sample(5, {});
  CHECK(in.take(lost).size() == 1);
  CHECK(lost.ring_full == 17);
  CHECK(lost.throttled == 1);
}

TEST_CASE("a damaged record ends the read of a ring") {
  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{512}}) {
    CAPTURE(size);
    ring in;
    perf_losses lost;
    in.begin(PERF_RECORD_SAMPLE, 0, size);
    in.put(0);
    CHECK(in.take(lost).empty());
  }
  for (const std::uint64_t frames : {std::uint64_t{2}, ~std::uint64_t{0}}) {  // the record has room for 1
    CAPTURE(frames);
    ring longer;
    perf_losses lost;
    longer.begin(PERF_RECORD_SAMPLE, 5);
    for (const std::uint64_t word : {std::uint64_t{7}, std::uint64_t{1}, std::uint64_t{2}, frames, std::uint64_t{4}})
      longer.put(word);
    CHECK(longer.take(lost).empty());
  }
  perf_losses lost;
  ring beyond;
  beyond.head = bytes + 8;
  CHECK(beyond.take(lost).empty());
}

TEST_CASE("a damaged record counts as a lost sample") {
  ring in;
  perf_losses lost;
  in.begin(PERF_RECORD_SAMPLE, 0, 512);
  in.put(0);
  CHECK(in.take(lost).empty());
  CHECK(lost.ring_full == 1);
}

namespace {

// Starts a process whose main thread has ended, if `is_threaded`, beside one that computes.
pid_t fork_without_leader(bool is_threaded) {
  const pid_t made = fork();
  if (made != 0) return made;
  if (!is_threaded) _exit(0);
  std::thread([] {
    for (volatile std::uint64_t sum = 0;; sum = sum + 1) {}
  }).detach();
  for (;;) syscall(SYS_exit, 0);  // of this thread; pthread_exit() would unwind the test
}

std::size_t count_samples(adaptyst::lib::perf_sampler& from, pid_t process) {
  std::size_t samples = 0;
  for (int turn = 0; turn != 100 && samples == 0; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    from.read([&](const perf_sample& taken) { samples += taken.process == process ? 1 : 0; });
  }
  return samples;
}

}  // namespace

TEST_CASE("a process that has ended is not sampled, and does not prevent the sampling of the next") {
  using adaptyst::lib::perf_sampler;
  if (adaptyst::lib::find_perf_refusal()) {
    WARN("perf_event_open is refused");
    return;
  }
  perf_sampler sampler(1'000'000);
  const pid_t ended = fork_without_leader(false), running = fork_without_leader(true);
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(ended), &info, WEXITED | WNOWAIT);
  CHECK_FALSE(sampler.add(ended, perf_sampler::begin::at_once));
  CHECK_FALSE(sampler.add(ended, perf_sampler::begin::at_once));  // nor remembered
  waitpid(ended, nullptr, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // its main thread ends
  CHECK(sampler.add(running, perf_sampler::begin::at_once));
  CHECK(count_samples(sampler, running) != 0);
  sampler.stop();
  kill(running, SIGKILL);
  waitpid(running, nullptr, 0);
}

TEST_CASE("the time in which samples fill a ring is that of its largest records") {
  using adaptyst::lib::perf_sampler;
  if (adaptyst::lib::find_perf_refusal()) {
    WARN("perf_event_open is refused");
    return;
  }
  constexpr std::uint64_t period_ns = 1'000'000;
  perf_sampler chains(period_ns, 4);
  CHECK(chains.fill_ns() == ~std::uint64_t{0});
  REQUIRE(chains.add(getpid(), perf_sampler::begin::at_once));
  CHECK(chains.fill_ns() >= 10 * period_ns);  // 127 frames are about 1 KiB
  CHECK(chains.fill_ns() <= 16 * period_ns);
  perf_sampler copies(period_ns);
  copies.copy_stacks(1, 8);
  REQUIRE(copies.add(getpid(), perf_sampler::begin::at_once));
  CHECK(copies.stack_bytes() == perf_sampler::min_stack_bytes);
  CHECK(copies.fill_ns() >= 2 * period_ns);
  CHECK(copies.fill_ns() <= 3 * period_ns);
}

#ifndef ADAPTYST_TEST_SANITIZED  // a sanitizer needs descriptors for its checks
TEST_CASE("threads without descriptors are counted, and a later attempt samples them") {
  using adaptyst::lib::perf_sampler;
  if (adaptyst::lib::find_perf_refusal()) {
    WARN("perf_event_open is refused");
    return;
  }
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next) + 1;  // enough to list its threads
  close(next);
  perf_sampler sampler(1'000'000);
  setrlimit(RLIMIT_NOFILE, &few);
  const bool is_added = sampler.add(getpid(), perf_sampler::begin::at_once);
  setrlimit(RLIMIT_NOFILE, &before);
  CHECK_FALSE(is_added);
  CHECK(sampler.unsampled_threads() >= 1);
  CHECK(sampler.add(getpid(), perf_sampler::begin::at_once));
}
#endif

namespace {

// Starts a process that computes for this time, on one processor.
pid_t fork_computing(std::uint64_t cpu_ms) {
  const pid_t made = fork();
  if (made != 0) return made;
  const auto used_ms = [] {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<std::uint64_t>(used.tv_sec) * 1000 + static_cast<std::uint64_t>(used.tv_nsec) / 1'000'000;
  };
  // Seldom in the kernel, where it is not sampled.
  for (volatile std::uint64_t sum = 0; sum % (1U << 20U) != 0 || used_ms() < cpu_ms;) sum = sum + 1;
  _exit(0);
}

}  // namespace

TEST_CASE("a process that has inherited a clock and is added again is sampled once") {
  using adaptyst::lib::perf_sampler;
  if (adaptyst::lib::find_perf_refusal()) {
    WARN("perf_event_open is refused");
    return;
  }
  perf_sampler sampler(1'000'000, 64);
  REQUIRE(sampler.add(getpid(), perf_sampler::begin::at_once));
  const pid_t child = fork_computing(400);
  REQUIRE(sampler.add(child, perf_sampler::begin::at_once));
  std::size_t samples = 0;
  const auto count = [&](const perf_sample& taken) { samples += taken.process == child ? 1 : 0; };
  while (waitpid(child, nullptr, WNOHANG) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    sampler.read(count);
  }
  sampler.stop();
  sampler.read(count);
  CHECK(samples + sampler.lost().ring_full > 200);
  CHECK(samples < 600);  // of 400; not of 800
}

TEST_CASE("losses of a ring are known without a later sample") {
  using adaptyst::lib::perf_sampler;
  if (adaptyst::lib::find_perf_refusal()) {
    WARN("perf_event_open is refused");
    return;
  }
  perf_sampler sampler(1'000'000, 1);
  const pid_t child = fork_computing(400);
  REQUIRE(sampler.add(child, perf_sampler::begin::at_once));
  waitpid(child, nullptr, 0);  // no thread reads the rings
  std::size_t samples = 0;
  sampler.read([&](const perf_sample&) { ++samples; });
  sampler.count_losses();
  CHECK(samples + sampler.lost().ring_full > 200);  // of 400
  CHECK(sampler.lost().ring_full > 50);
}

TEST_CASE("copies of stacks are read, and damaged ones are not") {
  ring in;
  perf_losses lost;
  constexpr auto kernel = static_cast<std::uint64_t>(PERF_CONTEXT_KERNEL);
  const auto put = [&](std::uint64_t size, std::uint64_t reserved, std::uint64_t copied) {
    in.begin(PERF_RECORD_SAMPLE, 0, size);
    for (const std::uint64_t word :
         {std::uint64_t{7}, 12 | std::uint64_t{13} << 32U, std::uint64_t{5}, std::uint64_t{2}, kernel,
          std::uint64_t{0x3000}, std::uint64_t{PERF_SAMPLE_REGS_ABI_64}, std::uint64_t{0x1000}, std::uint64_t{0x2000},
          reserved, std::uint64_t{0x11}, std::uint64_t{0x22}, copied})
      in.put(word);
  };
  std::vector<perf_sample> all;
  const auto take = [&] {
    all.clear();
    perf_records::take(in.content.data(), bytes, in.tail, in.head, 2, lost,
                       [&](const perf_sample& taken) { all.push_back(taken); });
    in.tail = in.head;
    return all.size();
  };
  for (int round = 0; round != 20; ++round) {
    put(112, 16, 8);
    REQUIRE(take() == 1);
    CHECK(all[0].registers == std::vector<std::uint64_t>{0x1000, 0x2000});
    CHECK(all[0].stack == std::vector<char>{0x11, 0, 0, 0, 0, 0, 0, 0});
    CHECK(all[0].frames == std::vector<std::uint64_t>{0x3000});  // of the kernel
  }
  CHECK(lost.ring_full == 0);
  for (const auto& [reserved, copied] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
           {24, 8}, {16, 17}, {~std::uint64_t{0}, 8}, {std::uint64_t{1} << 63U, 8}}) {
    CAPTURE(reserved, copied);
    put(112, reserved, copied);
    CHECK(take() == 0);
  }
  CHECK(lost.ring_full == 4);
}

TEST_CASE("copies of stacks have the frames of the kernel only if these are included") {
  using adaptyst::lib::perf_sampler;
  if (adaptyst::lib::find_perf_refusal()) {
    WARN("perf_event_open is refused");
    return;
  }
  for (const bool includes_kernel : {true, false}) {
    CAPTURE(includes_kernel);
    perf_sampler sampler(1'000'000);
    if (includes_kernel) sampler.include_kernel();
    try {
      sampler.copy_stacks(1);
    } catch (const adaptyst::lib::error&) {
      REQUIRE(includes_kernel);  // which needs CAP_PERFMON
      WARN("time in the kernel is refused");
      continue;
    }
    const pid_t child = fork();
    if (child == 0) {
      timespec used{};
      while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 && used.tv_sec == 0) syscall(SYS_getppid);
      _exit(0);
    }
    REQUIRE(sampler.add(child, perf_sampler::begin::at_once));
    std::size_t in_program = 0, in_kernel = 0;
    const auto count = [&](const perf_sample& taken) {
      ++(taken.frames.empty() ? in_program : in_kernel);
      if (!taken.stack.empty()) CHECK(taken.registers.size() == 1);
    };
    while (waitpid(child, nullptr, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      sampler.read(count);
    }
    sampler.stop();
    CHECK(in_program + in_kernel > 100);
    CHECK((in_kernel > 20) == includes_kernel);
  }
}
