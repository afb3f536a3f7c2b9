// Many threads: counts, recorders that are handed on, handles that end elsewhere, and profiles taken meanwhile.
#include <adaptyst/adapter/callback_region.hpp>
#include <adaptyst/detail/recorder.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <asm/unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collecting.hpp"
#include "sanitized.hpp"

TEST_CASE("every region of every thread is counted, with more threads than processors") {
  constexpr int threads = 8;
  constexpr int rounds = 50000;
  adaptyst::collector collector(support::options());
  std::vector<std::thread> running;
  for (int at = 0; at != threads; ++at)
    running.emplace_back([] {
      ADAPTYST_REGION("thread");
      for (int i = 0; i != rounds; ++i) {
        ADAPTYST_REGION("round");
      }
    });
  for (std::thread& thread : running) thread.join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"thread"}).count == threads);
  CHECK(support::find(profile, {"thread"}).threads == threads);
  CHECK(support::find(profile, {"thread", "round"}).count == std::uint64_t{threads} * rounds);
  CHECK(support::find(profile, {"thread", "round"}).threads == threads);
}

TEST_CASE("threads that begin with thousands of call paths at once lose none") {
  constexpr int threads = 4;
  constexpr int paths = 4000;
  constexpr int turns = 3;
  adaptyst::collector collector(support::options());
  std::vector<std::thread> running;
  for (int at = 0; at != threads; ++at)
    running.emplace_back([] {
      for (int turn = 0; turn != turns; ++turn)
        for (int path = 0; path != paths; ++path) {
          ADAPTYST_REGION("path " + std::to_string(path));
        }
    });
  for (std::thread& thread : running) thread.join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.lost.empty());
  CHECK(profile.accounting.unnamed == 0);
  REQUIRE(profile.regions.size() == paths);
  for (const adaptyst::region& region : profile.regions)
    if (region.count != threads * turns) FAIL_CHECK(region.path.front() << " ran " << region.count << " times");
}

TEST_CASE("no marker changes errno, neither a thread's first nor a later one") {
  constexpr int threads = 20;
  constexpr int mark = 12345;
  const adaptyst::device accelerator(adaptyst::device_kind::gpu, 9, "errno");
  const std::string name = "a name of this event";
  const std::pair<const char*, std::function<void()>> markers[] = {
      {"region", [] { ADAPTYST_REGION("errno"); }},
      {"function", [] { ADAPTYST_FUNCTION(); }},
      {"name", [&] { ADAPTYST_REGION(name); }},
      {"offload", [&] { ADAPTYST_OFFLOAD("errno offload", accelerator); }},
      {"wait", [] { ADAPTYST_WAIT("errno wait"); }},
      {"metric", [] { ADAPTYST_METRIC("errno metric", 1); }},
      {"mark", [] { ADAPTYST_MARK("errno mark"); }},
      {"handle", [] { ADAPTYST_HANDLE_BEGIN("errno handle").end(); }},
      {"callback", [] { adaptyst::callback_region::begin("errno callback").end(); }},
      {"submission", [] { static_cast<void>(adaptyst::submitting()); }},
      {"operation",
       [&] {
         adaptyst::operation operation =
             adaptyst::submit("errno operation", accelerator, 0, adaptyst::operation_kind::kernel);
         const std::uint64_t now = adaptyst::now_ns();
         operation.complete(now, now);
       }},
  };
  for (const auto& [kind, marker] : markers) {
    int changed = 0;
    const auto run_marker = [&changed, &marker = marker] {
      errno = mark;
      marker();
      changed += errno != mark ? 1 : 0;
    };
    for (int collectors = 0; collectors != 2; ++collectors) {
      adaptyst::collector collector(support::options());
      run_marker();
      for (int at = 0; at != threads; ++at)  // each finds the recorder of one that has ended
        std::thread([&run_marker] { run_marker(), run_marker(); }).join();
    }
    INFO(kind);
    CHECK(changed == 0);
  }
}

TEST_CASE("a child that cannot ask its observer finds errno as it was") {
  adaptyst::collector collector(support::options());
  const pid_t child = fork();
  if (child == 0) {
    const rlimit no_files{0, 0};
    setrlimit(RLIMIT_NOFILE, &no_files);
    setenv("ADAPTYST_OBSERVER", "nobody", 1);
    errno = 12345;
    { ADAPTYST_REGION("child"); }
    _exit(errno == 12345 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("short-lived threads share a handful of recorders") {
  // Under a sanitizer a thread costs a hundred times as much.
#ifdef ADAPTYST_TEST_SANITIZED
  constexpr std::uint64_t threads = 2000;
#else
  constexpr std::uint64_t threads = 20000;
#endif
  adaptyst::collector collector(support::options());
  const auto bytes = [] { return adaptyst::detail::get_process(adaptyst_object_v5)->store->head.below; };
  const std::uint64_t before = bytes();
  for (std::uint64_t at = 0; at < threads; at += 4) {
    std::thread some[4];
    for (std::thread& thread : some) thread = std::thread([] { ADAPTYST_REGION("short life"); });
    for (std::thread& thread : some) thread.join();
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& region = support::find(profile, {"short life"});
  CHECK(region.count == threads);
  CHECK(region.threads == threads);
  CHECK(bytes() - before <= 16 * adaptyst::detail::recorder_bytes);
}

TEST_CASE("where it is not known whether a thread lives, its recorder is left to it") {
  const pid_t child = fork();
  if (child == 0) {
    sock_filter refuse_tgkill[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_tgkill, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{4, refuse_tgkill};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
      _exit(0);
    constexpr std::uint64_t times = 20000;
    adaptyst::collector collector("engine=inline,overhead=none,report=none");
    const auto work = [] {
      for (std::uint64_t at = 0; at != times; ++at) {
        ADAPTYST_REGION("beside");
      }
    };
    std::thread thread(work), other(work);
    thread.join();
    other.join();
    const adaptyst::profile profile = collector.stop();
    const bool is_exact = profile.regions.size() == 1 && profile.regions[0].count == 2 * times;
    _exit(is_exact && profile.accounting.lost.empty() ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("a handle ends on any thread, and a dropped one stays open") {
  adaptyst::collector collector(support::options());
  constexpr std::uint64_t handles = 1000;
  std::vector<adaptyst::region_handle> begun;
  {
    ADAPTYST_REGION("producer");
    for (std::uint64_t at = 0; at != handles; ++at) begun.push_back(ADAPTYST_HANDLE_BEGIN("task"));
  }
  adaptyst::region_handle dropped = ADAPTYST_HANDLE_BEGIN("dropped");
  dropped = adaptyst::region_handle();
  std::thread([&] {
    ADAPTYST_REGION("consumer");
    for (auto handle = begun.rbegin(); handle != begun.rend(); ++handle) {
      handle->end();
      handle->end();  // does nothing
    }
  }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"producer", "task"}).count == handles);
  CHECK(profile.accounting.open == 1);
}

TEST_CASE("a profile can be had while the program runs, and is consistent each time") {
  adaptyst::collector collector(support::options());
  std::atomic<bool> go_on{true};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> running;
  for (int at = 0; at != 3; ++at)
    running.emplace_back([&] {
      while (go_on) {
        ADAPTYST_REGION("loop");
        ADAPTYST_REGION("body");
        done.fetch_add(1, std::memory_order_relaxed);
      }
    });
  std::uint64_t last = 0;
  for (int at = 0; at != 50; ++at) {
    while (done.load() < last / 2 + 100) std::this_thread::yield();
    const std::uint64_t before = done.load();
    const adaptyst::profile now = collector.snapshot();
    support::check_identity(now);
    CHECK(now.accounting.ended >= last);
    // What was done before is in the account, but for the regions that were just about to end.
    CHECK(now.accounting.ended + 2 * 3 >= 2 * before - std::min<std::uint64_t>(2 * before, 6));
    // The kernel's rows are read first: what ends before the account is read counts as open still.
    if (support::engine() == "inline") CHECK(now.accounting.open <= 6);
    last = now.accounting.ended;
  }
  go_on = false;
  for (std::thread& thread : running) thread.join();
  const adaptyst::profile all = collector.stop();
  support::check_account(all);
  CHECK(support::find(all, {"loop", "body"}).count == done.load());
}
