// What is promised of the eBPF engine alone.
#include <adaptyst/collector.hpp>
#include <adaptyst/detail/recorder.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <bpf/libbpf.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../lib/kernel/attach_point.hpp"
#include "../../lib/kernel/kernel_rows.hpp"
#include "../../lib/kernel/uprobe_multi.hpp"
#include "../../lib/support/stopwatch.hpp"
#include "../../probes/function_layout.h"
#include "../../probes/kernel_layout.h"
#include "../../probes/recorder_layout.h"
#include "catch.hpp"
#include "collecting.hpp"
#include "function.skel.h"
#include "region.skel.h"

namespace {

std::atomic<int> slowly_closed{-1};
std::atomic<bool> closes{false};

}  // namespace

// Instead of the C library's function: leaves time to fork a child before a descriptor is closed.
int close(int descriptor) {
  if (descriptor >= 0 && descriptor == slowly_closed) {
    slowly_closed = -1;
    closes = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return static_cast<int>(syscall(SYS_close, descriptor));
}

namespace {

struct code {
  unsigned char bytes[17];
  friend bool operator==(const code& a, const code& b) { return std::memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0; }
};

code read_code(void (*probe)(const char*, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             const adaptyst_path*)) {
  code now;
  std::memcpy(now.bytes, reinterpret_cast<const void*>(probe), sizeof now.bytes);
  return now;
}

[[gnu::noinline]] std::uint64_t leaf(std::uint64_t seed) {
  // Live values in registers and on the stack across the marker.
  std::uint64_t values[20];
  for (std::uint64_t i = 0; i != 20; ++i) values[i] = seed * 31 + i;
  __asm__ volatile("" : : "r"(values) : "memory");
  { ADAPTYST_REGION("leaf"); }
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i != 20; ++i) wrong += values[i] != seed * 31 + i ? 1 : 0;
  return wrong;
}

// The same work whatever listens, and however fast the processor happens to be.
constexpr std::chrono::microseconds inner_time{200};

adaptyst::profile deterministic(const std::string& engine) {
  adaptyst::collector collector("report=none,overhead=none,engine=" + engine);
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t)
    threads.emplace_back([] {
      for (int i = 0; i != 200; ++i) {
        ADAPTYST_REGION("outer");
        for (int k = 0; k != 5; ++k) {
          ADAPTYST_REGION("inner");
          const auto until = std::chrono::steady_clock::now() + inner_time;
          while (std::chrono::steady_clock::now() < until) {}
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  return collector.stop();
}

// Instructions that the verifier processes before it accepts a program.
std::uint64_t verified_instructions(bpf_object* object, bpf_program* checked) {
  std::vector<char> log(1 << 16);
  bpf_program* each = nullptr;
  bpf_object__for_each_program(each, object) bpf_program__set_autoload(each, each == checked);
  bpf_program__set_log_level(checked, 4);
  bpf_program__set_log_buf(checked, log.data(), log.size());
  REQUIRE(bpf_object__load(object) == 0);
  const std::string text(log.data());
  const std::size_t at = text.find("processed ");
  REQUIRE(at != std::string::npos);
  return std::stoull(text.substr(at + std::strlen("processed ")));
}

std::ptrdiff_t count_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

// Descriptors of links to BPF programs.
std::vector<int> find_links(pid_t process) {
  std::vector<int> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    std::error_code ended;
    if (std::filesystem::read_symlink(entry.path(), ended).string().find("bpf_link") != std::string::npos)
      all.push_back(std::stoi(entry.path().filename()));
  }
  return all;
}

}  // namespace

// The load time follows the number of instructions: 1,000 take 0.6 ms. With Clang 14 and Linux 6.18, there are 3,213,
// 5,775 and 1,707. Before loops had functions as bodies, there were 11,626, 14,518 and 10,450.
TEST_CASE("the verifier checks each loop of the programs once") {
  region_bpf* const regions = region_bpf__open();
  REQUIRE(regions != nullptr);
  CHECK(verified_instructions(regions->obj, regions->progs.region_end) < 6000);
  region_bpf__destroy(regions);
  for (const bool with_sessions : {true, false}) {
    function_bpf* const functions = function_bpf__open();
    REQUIRE(functions != nullptr);
    CHECK(verified_instructions(functions->obj, with_sessions ? functions->progs.function_session
                                                              : functions->progs.function_entry) < 9000);
    function_bpf__destroy(functions);
  }
}

TEST_CASE("the row of a trial is counted and removed, with and without reading the table") {
  constexpr std::uint64_t path = 0x1234;
  constexpr unsigned hits = 10;
  constexpr std::uint64_t events = std::uint64_t{adaptyst::lib::stopwatch_rounds} * hits;
  const bool multi = adaptyst::lib::kernel_has_uprobe_multi();
  const adaptyst::lib::kernel_rows rows(multi, adaptyst::lib::process_filter::this_process, false);
  const adaptyst::lib::trial_site site = adaptyst::lib::find_trial_site();
  const adaptyst::lib::uprobe_link link = rows.attach(site.file, {{site.offset, 0}}, getpid());
  for (const std::uint64_t expected : {events, events + 1, std::uint64_t{0}}) {
    static_cast<void>(adaptyst::lib::try_hits(hits, path, adaptyst::lib::attach_point::breakpoint));
    CHECK(rows.take(path, expected) == events);
    CHECK(rows.read().rows.empty());
  }
}

TEST_CASE("an early probe leaves nothing, and a forked child does not wait for it") {
  if (!adaptyst::lib::kernel_has_uprobe_multi()) return;
  const std::ptrdiff_t before = count_descriptors();
  for (int round = 0; round != 3; ++round) {
    auto early = std::make_unique<adaptyst::lib::early_probe>();
    if (round != 0) early->wait();
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(10);
      early.reset();
      _exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  CHECK(count_descriptors() == before);
}

TEST_CASE("a child that is forked while a link closes does not keep it") {
  if (!adaptyst::lib::kernel_has_uprobe_multi()) return;
  const adaptyst::lib::kernel_rows rows(true, adaptyst::lib::process_filter::this_process, false);
  const adaptyst::lib::trial_site site = adaptyst::lib::find_trial_site();
  auto link = std::make_unique<adaptyst::lib::uprobe_link>(rows.attach(site.file, {{site.offset, 0}}, getpid()));
  const std::vector<int> links = find_links(getpid());
  REQUIRE(links.size() == 1);
  closes = false;
  slowly_closed = links.front();
  std::thread closing([&] { link.reset(); });
  while (!closes) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  closing.join();
  CHECK(find_links(child).empty());
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
}

TEST_CASE("detaching leaves code and semaphores as they were") {
  const code before = read_code(adaptyst_probe_region_end);
  const unsigned char expected[] = {0x90, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00,
                                    0x00, 0x00, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3};
  CHECK(std::memcmp(before.bytes, expected, sizeof expected) == 0);
  CHECK(adaptyst_object_v5.region_end == 0);
  {
    adaptyst::collector collector(support::options());
    REQUIRE(collector.error() == nullptr);
    CHECK(adaptyst_object_v5.region_end != 0);
    CHECK(adaptyst_object_v5.region_begin == 0);
    CHECK(adaptyst_object_v5.recorder == 0);
    for (std::uint64_t i = 0; i != 10; ++i) CHECK(leaf(i) == 0);
    const code attached = read_code(adaptyst_probe_region_end);
    CHECK_FALSE(attached == before);
    const std::string mechanism = collector.snapshot().mechanism;
    if (mechanism.find("nop5 optimised") != std::string::npos) CHECK(attached.bytes[11] == 0xe8);
    if (mechanism.find("nop10 optimised") != std::string::npos) CHECK(attached.bytes[6] == 0xe8);
  }
  CHECK(read_code(adaptyst_probe_region_end) == before);
  CHECK(adaptyst_object_v5.region_end == 0);
}

TEST_CASE("the program's state survives every hit") {
  adaptyst::collector collector(support::options());
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i != 200000; ++i) wrong += leaf(i);
  CHECK(wrong == 0);
  CHECK(support::find(collector.stop(), {"leaf"}).count == 200000);
}

TEST_CASE("both engines tell the same of the same program") {
  const adaptyst::profile kernel = deterministic("ebpf");
  const adaptyst::profile program = deterministic("inline");
  REQUIRE(kernel.engine == "ebpf");
  REQUIRE(program.engine == "inline");
  REQUIRE(kernel.regions.size() == program.regions.size());
  for (std::size_t at = 0; at != kernel.regions.size(); ++at) {
    const adaptyst::region& a = kernel.regions[at];
    const adaptyst::region& b = program.regions[at];
    CHECK(a.path == b.path);
    CHECK(a.id == b.id);
    CHECK(a.count == b.count);
    CHECK(a.threads == b.threads);
    CHECK(a.site.line == b.site.line);
    CHECK(a.durations.count() == b.durations.count());
  }
  // Times on a busy machine agree within its noise: the fastest run of the inner loop is the steadiest figure.
  const double expected = std::chrono::nanoseconds(inner_time).count();
  for (const adaptyst::profile* profile : {&kernel, &program}) {
    const auto fastest = static_cast<double>(support::find(*profile, {"outer", "inner"}).min_ns);
    CHECK(fastest >= expected);
    CHECK(fastest <= 1.25 * expected);
  }
}

TEST_CASE("65,536 call paths are exact in the kernel, and those beyond are lost and counted, exactly") {
  constexpr int threads = 18;
  constexpr int outer = 4;
  constexpr int inner = 1000;
  constexpr std::uint64_t turns = 2;
  constexpr std::uint64_t paths = threads * outer * (inner + 1);
  constexpr std::uint64_t room = 65536;
  adaptyst::collector collector(support::options());
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int t = 0; t != threads; ++t)
    running.emplace_back([t] {
      for (std::uint64_t turn = 0; turn != turns; ++turn)
        for (int above = 0; above != outer; ++above) {
          ADAPTYST_REGION("outer " + std::to_string(outer * t + above));
          for (int below = 0; below != inner; ++below) {
            ADAPTYST_REGION("inner " + std::to_string(below));
          }
        }
    });
  for (std::thread& thread : running) thread.join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.begun == paths * turns);
  CHECK(profile.accounting.open == 0);
  CHECK(profile.accounting.unnamed == 0);
  // Processors that take the last place at the same moment may both get one.
  const std::uint64_t kept = profile.regions.size();
  CHECK(kept >= room);
  CHECK(kept <= room + std::thread::hardware_concurrency());
  CHECK(profile.accounting.ended == kept * turns);
  CHECK(support::lost(profile, adaptyst::loss_reason::kernel_rows_full) == (paths - kept) * turns);
  std::uint64_t inexact = 0;
  for (const adaptyst::region& region : profile.regions)
    inexact += region.count != turns || region.durations.count() != turns || region.path.front().rfind("outer ", 0) != 0
                   ? 1
                   : 0;
  CHECK(inexact == 0);
}

TEST_CASE("attaching and detaching while threads run loses nothing without a name") {
  std::atomic<bool> go_on{true};
  std::vector<std::thread> running;
  for (int t = 0; t != 3; ++t)
    running.emplace_back([&] {
      while (go_on) {
        ADAPTYST_REGION("busy");
        ADAPTYST_REGION("busy below");
      }
    });
  for (int round = 0; round != 8; ++round) {
    adaptyst::collector collector(support::options());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const adaptyst::profile profile = collector.stop();
    support::check_identity(profile);
    CHECK(profile.accounting.ended > 0);
    for (const adaptyst::region& region : profile.regions) {
      CHECK(region.max_ns < 10'000'000'000U);
      CHECK(region.min_ns <= region.max_ns);
    }
  }
  go_on = false;
  for (std::thread& thread : running) thread.join();
}
