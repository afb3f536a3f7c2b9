// What the kernel says of regions, held against programs whose answers are known, the thread's own CPU clock,
// getrusage() and /proc/thread-self/schedstat. Where two spinners are to share a core they are bound to one.
#include <adaptyst/region.hpp>
#include <dlfcn.h>
#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "../../lib/session/observer.hpp"
#include "collecting.hpp"

namespace {

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

constexpr double ms = 1e6;

void spin(std::chrono::milliseconds time) {
  const auto end = clock_type::now() + time;
  while (clock_type::now() < end) {}
}

// Binds the thread to the last core that it may use, until the end of the scope.
class bound {
 public:
  bound() {
    sched_getaffinity(0, sizeof before_, &before_);
    int last = 0;
    for (int core = 0; core != CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &before_)) last = core;
    cpu_set_t last_cpu;
    CPU_ZERO(&last_cpu);
    CPU_SET(last, &last_cpu);
    sched_setaffinity(0, sizeof last_cpu, &last_cpu);
  }
  ~bound() { sched_setaffinity(0, sizeof before_, &before_); }
  bound(const bound&) = delete;
  bound& operator=(const bound&) = delete;

 private:
  cpu_set_t before_{};
};

double cpu_ns() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

double now_ns() { return static_cast<double>(clock_type::now().time_since_epoch().count()); }

double tick_ns() { return 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

// What a hypervisor has taken from all processors, to a tick: a thread's own clock stands still meanwhile, wall time
// does not.
double stolen_ns() {
  std::FILE* const file = std::fopen("/proc/stat", "r");
  REQUIRE(file != nullptr);
  unsigned long long ticks = 0;
  const int read = std::fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks);
  std::fclose(file);
  REQUIRE(read == 1);
  return static_cast<double>(ticks) * tick_ns();
}

// Until the only other thread of this process sleeps in the kernel.
void wait_until_asleep(const std::atomic<pid_t>& thread) {
  for (const auto deadline = clock_type::now() + 30s;; std::this_thread::sleep_for(1ms)) {
    REQUIRE(clock_type::now() < deadline);
    if (thread == 0) continue;
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
    std::FILE* const file = std::fopen(path.c_str(), "r");
    REQUIRE(file != nullptr);
    char state = 0;
    const int read = std::fscanf(file, "%*d (%*[^)]) %c", &state);
    std::fclose(file);
    REQUIRE(read == 1);
    if (state == 'S') return;
  }
}

// On a run queue, of this thread.
double waited_ns() {
  std::FILE* const file = std::fopen("/proc/thread-self/schedstat", "r");
  REQUIRE(file != nullptr);
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  const int read = std::fscanf(file, "%llu %llu", &ran, &waited);
  std::fclose(file);
  REQUIRE(read == 2);
  return static_cast<double>(waited);
}

rusage usage() {
  rusage now{};
  getrusage(RUSAGE_THREAD, &now);
  return now;
}

std::string options(const std::string& engine) {
  return "report=none,overhead=none,context=cpu,faults,engine=" + engine;
}

const adaptyst::os_context& find_context(const adaptyst::profile& in, const std::vector<std::string>& path) {
  const adaptyst::region& row = support::find(in, path);
  REQUIRE(row.context);
  REQUIRE(row.self_context);
  return *row.context;
}

// The kernel of a virtual machine may report neither that a thread could run nor that it ran again: no tool has events of
// that core for some milliseconds. Such a wait is counted as lost. A probe that misses all would lose more.
bool has_unseen_waits(const adaptyst::profile& in, std::uint64_t most = 3) {
  for (const auto& [why, count] : in.context->lost) {
    INFO(count << " lost: " << to_string(why));
    REQUIRE((why == adaptyst::loss_reason::no_wakeup && count <= most));
    WARN(count << " waits were not reported");
  }
  return !in.context->lost.empty();
}

// Other work on this machine may take the core at any moment: then it was waiting, and not on it.
void check_on_cpu(const adaptyst::os_context& context, double cpu, double tolerance) {
  REQUIRE(context.on_cpu_ns());
  INFO("on its core " << *context.on_cpu_ns() << " ns, by its own clock " << cpu << " ns");
  CHECK(std::abs(static_cast<double>(*context.on_cpu_ns()) - cpu) < tolerance);
}

}  // namespace

TEST_CASE("A region computes, sleeps, waits for a lock, a pipe, a core, and the kernel tells which") {
  const std::string engine = GENERATE("ebpf", "inline");
  adaptyst::collector collector(options(engine));
  REQUIRE(collector.error() == nullptr);
  const double stolen_before = stolen_ns();
  double spun_ns = 0;
  double shared_ns[2] = {};  // within the region, and around it
  double waited[2] = {};
  {
    ADAPTYST_REGION("spin");
    const double before = cpu_ns();
    spin(100ms);
    spun_ns = cpu_ns() - before;
  }
  {
    ADAPTYST_REGION("sleep");
    std::this_thread::sleep_for(80ms);
  }
  std::mutex mutex;
  mutex.lock();
  std::atomic<pid_t> waits{0};
  std::thread other([&] {
    ADAPTYST_REGION("lock");
    waits = gettid();
    mutex.lock();
    mutex.unlock();
  });
  wait_until_asleep(waits);
  std::this_thread::sleep_for(60ms);
  mutex.unlock();
  other.join();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  waits = 0;
  std::thread reader([&] {
    ADAPTYST_REGION("pipe");
    waits = gettid();
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
  });
  wait_until_asleep(waits);
  std::this_thread::sleep_for(50ms);
  CHECK(write(ends[1], "x", 1) == 1);
  reader.join();
  close(ends[0]);
  close(ends[1]);
  {
    const bound here;
    std::atomic<bool> begun{false};
    std::thread competitor([&] {  // inherits the binding
      begun = true;
      spin(250ms);
    });
    while (!begun) std::this_thread::sleep_for(1ms);
    shared_ns[1] = -cpu_ns();
    waited[1] = -waited_ns();
    {
      ADAPTYST_REGION("shared core");
      shared_ns[0] = -cpu_ns();
      waited[0] = -waited_ns();
      spin(200ms);
      waited[0] += waited_ns();
      shared_ns[0] += cpu_ns();
    }
    waited[1] += waited_ns();
    shared_ns[1] += cpu_ns();
    competitor.join();
  }
  const adaptyst::profile profile = collector.stop();
  REQUIRE(profile.engine == engine);
  REQUIRE(profile.context);
  CHECK(profile.context->threads >= 2);

  const double stolen = stolen_ns() - stolen_before + tick_ns();
  if (has_unseen_waits(profile)) return;

  const adaptyst::os_context& spin_context = find_context(profile, {"spin"});
  check_on_cpu(spin_context, spun_ns, 2 * ms + stolen);
  CHECK(static_cast<double>(spin_context.blocked_ns()) < 2 * ms);

  const adaptyst::os_context& sleep_context = find_context(profile, {"sleep"});
  CHECK(static_cast<double>(sleep_context.sleep_ns) >= 79 * ms);
  CHECK(sleep_context.blocked_ns() + sleep_context.runnable_ns <= sleep_context.wall_ns);
  CHECK(sleep_context.lock_ns + sleep_context.io_ns == 0);
  CHECK(sleep_context.voluntary_switches >= 1);

  const adaptyst::os_context& lock_context = find_context(profile, {"lock"});
  CHECK(static_cast<double>(lock_context.lock_ns) >= 40 * ms);
  CHECK(lock_context.sleep_ns + lock_context.io_ns == 0);

  const adaptyst::os_context& pipe_context = find_context(profile, {"pipe"});
  CHECK(static_cast<double>(pipe_context.io_ns) >= 35 * ms);
  CHECK(pipe_context.sleep_ns + pipe_context.lock_ns == 0);

  const adaptyst::os_context& shared = find_context(profile, {"shared core"});
  INFO("waiting by the kernel's own count " << waited[0] << " to " << waited[1] << " ns, by ours "
                                            << shared.runnable_ns);
  CHECK(static_cast<double>(shared.runnable_ns) > 0.9 * waited[0] - 10 * ms);
  CHECK(static_cast<double>(shared.runnable_ns) < 1.1 * waited[1] + 10 * ms);
  CHECK(static_cast<double>(shared.runnable_ns) > 50 * ms);
  CHECK(shared.involuntary_switches >= 1);
  const double between = (shared_ns[1] - shared_ns[0]) / 2;
  check_on_cpu(shared, shared_ns[0] + between, between + 0.1 * shared_ns[1] + 10 * ms + stolen);

  const adaptyst::device_usage& host = profile.devices.front();
  REQUIRE(host.context);
  CHECK(host.context->sleep_ns >= sleep_context.sleep_ns);
  CHECK(host.context->runnable_ns >= shared.runnable_ns);
}

TEST_CASE("Nested regions have their own part and that of what is below") {
  const std::string engine = GENERATE("ebpf", "inline");
  adaptyst::collector collector(options(engine));
  {
    ADAPTYST_REGION("outer");
    std::this_thread::sleep_for(20ms);
    for (int i = 0; i != 3; ++i) {
      ADAPTYST_REGION("inner");
      std::this_thread::sleep_for(10ms);
    }
    {
      ADAPTYST_REGION("busy");
      spin(10ms);
    }
  }
  std::this_thread::sleep_for(30ms);  // of no region
  const adaptyst::profile profile = collector.stop();
  if (has_unseen_waits(profile)) return;
  const adaptyst::region& outer = support::find(profile, {"outer"});
  const adaptyst::region& inner = support::find(profile, {"outer", "inner"});
  REQUIRE((outer.context && inner.context && outer.self_context));
  CHECK(static_cast<double>(outer.context->sleep_ns) >= 49 * ms);
  CHECK(static_cast<double>(outer.self_context->sleep_ns) >= 19 * ms);
  CHECK(outer.context->sleep_ns == outer.self_context->sleep_ns + inner.context->sleep_ns);
  CHECK(inner.context->sleep_ns == inner.self_context->sleep_ns);
  CHECK(outer.context->wall_ns == outer.total_ns);
  CHECK(outer.self_context->wall_ns == outer.self_ns);
  CHECK(support::find(profile, {"outer", "busy"}).context->sleep_ns == 0);
  CHECK(static_cast<double>(profile.devices.front().context->sleep_ns - outer.context->sleep_ns) >= 29 * ms);
}

TEST_CASE("Page faults are counted one by one") {
  adaptyst::collector collector(options("ebpf"));
  constexpr std::size_t page = 4096;
  constexpr std::size_t pages = 500;
  void* const memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  rusage before{};
  rusage after{};
  for (int round = 0; round != 2; ++round) {
    ADAPTYST_REGION("touch");  // the first round also touches pages of its own
    if (round == 1) before = usage();
    if (round == 1)
      for (std::size_t at = 0; at != pages; ++at) static_cast<volatile char*>(memory)[at * page] = 1;
    if (round == 1) after = usage();
  }
  {
    ADAPTYST_REGION("no page");
    spin(2ms);
  }
  const adaptyst::profile profile = collector.stop();
  munmap(memory, pages * page);
  const adaptyst::os_context& touched = find_context(profile, {"touch"});
  REQUIRE((touched.minor_faults && touched.major_faults));
  const auto by_the_kernel = static_cast<std::uint64_t>(after.ru_minflt - before.ru_minflt);
  CHECK(by_the_kernel >= pages);
  CHECK(*touched.minor_faults + *touched.major_faults >= by_the_kernel);
  CHECK(*touched.minor_faults + *touched.major_faults <= by_the_kernel + 20);
  CHECK(*find_context(profile, {"no page"}).minor_faults <= 5);
}

namespace {

struct many_faults {
  adaptyst::profile profile;
  std::uint64_t storm = 0, half = 0;  // as counted by the kernel, in these regions
  double attached = 0;                // share of the time
  double per_s = 0;                   // page faults in a second of CPU time
};

// Whether this process has a link to the tracepoint of page faults.
bool has_fault_program() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.find("page_fault_user") != std::string::npos) return true;
  }
  return false;
}

// Touches pages for some seconds of CPU time: in one region, in another one half as often, and not in a third one. With
// some hypervisors, a page fault takes 20 us.
many_faults fault_for(double seconds, const std::string& overhead) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t pages = 4096;
  adaptyst::collector collector("report=none,engine=ebpf,context=cpu,faults,overhead=" + overhead);
  REQUIRE(collector.error() == nullptr);
  void* const memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  many_faults made;
  // A read maps the page of zeros, in less time than a page of the program.
  const auto touch = [&](std::size_t end, std::uint64_t& faults) {
    const rusage before = usage();
    for (std::size_t at = 0; at != end; ++at) static_cast<void>(static_cast<const volatile char*>(memory)[at * page]);
    faults += static_cast<std::uint64_t>(usage().ru_minflt - before.ru_minflt);
    madvise(memory, end * page, MADV_DONTNEED);
  };
  double looks = 0;
  double attached = 0;
  std::atomic<bool> is_over{false};
  std::thread observer([&] {
    pid_t child = 0;
    for (; !is_over; std::this_thread::sleep_for(1ms), ++looks) {
      if (!has_fault_program()) continue;
      ++attached;
      // A child that is forked in a window must not keep the program attached: each page fault would count twice.
      if (child == 0 && looks > 500 && attached < looks) child = fork();
      if (child == 0 && looks > 500 && attached < looks) {
        pause();
        _exit(0);
      }
    }
    if (child <= 0) return;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  });
  const double begin_ns = cpu_ns();
  while (cpu_ns() < begin_ns + seconds * 1000 * ms) {
    {
      ADAPTYST_REGION("storm");
      touch(pages, made.storm);
    }
    {
      ADAPTYST_REGION("half");
      touch(pages / 2, made.half);
    }
    ADAPTYST_REGION("calm");
    spin(1ms);
  }
  made.per_s = static_cast<double>(made.storm + made.half) / (cpu_ns() - begin_ns) * 1000 * ms;
  is_over = true;
  observer.join();
  made.attached = attached / looks;
  made.profile = collector.stop();
  munmap(memory, pages * page);
  return made;
}

}  // namespace

TEST_CASE("Page faults within the budget are all counted") {
  const many_faults all = fault_for(1, "none");
  REQUIRE(all.profile.context);
  CHECK_FALSE(all.profile.context->faults_one_of);
  const adaptyst::os_context& exact = find_context(all.profile, {"storm"});
  CHECK_FALSE(exact.faults_variance);
  CHECK(*exact.minor_faults >= all.storm);
  CHECK(*exact.minor_faults <= all.storm + 500);
  CHECK(all.attached == 1);
}

TEST_CASE("Page faults far beyond the budget are recorded in windows, and their numbers are within their errors") {
  const many_faults sampled = fault_for(5, "2%");
  REQUIRE(sampled.profile.context);
  const adaptyst::context_account& account = *sampled.profile.context;
  INFO(sampled.per_s << " faults/s, attached " << sampled.attached << ", cost " << account.cost_ns.value_or(0) / 5e9);
  if (sampled.per_s < 100'000) return;  // they need no windows
  REQUIRE(account.faults_one_of);
  CHECK(account.lost.count(adaptyst::loss_reason::not_attached) == 0);
  CHECK(sampled.attached < 0.25);
  CHECK(account.cost_ns.value_or(0) < 1.33 * 0.02 * 5e9);
  for (const auto& [name, truth] : {std::pair{"storm", sampled.storm}, std::pair{"half", sampled.half}}) {
    const adaptyst::os_context& estimated = find_context(sampled.profile, {name});
    INFO(name << ": " << *estimated.minor_faults << " of " << truth);
    REQUIRE(estimated.faults_variance);
    const double error = std::sqrt(*estimated.faults_variance);
    CHECK(error > 0);
    CHECK(error < 0.25 * static_cast<double>(truth));
    CHECK(static_cast<double>(*estimated.minor_faults) < 1.6 * static_cast<double>(truth));
    CHECK(std::abs(static_cast<double>(*estimated.minor_faults) - static_cast<double>(truth)) < 4.5 * error + 500);
  }
  const adaptyst::os_context& calm = find_context(sampled.profile, {"calm"});
  CHECK(*calm.minor_faults < sampled.storm / 1000);
}

namespace {

// Counts its page faults where others can read them.
void touch_for(double seconds, std::atomic<std::uint64_t>& faults) {
  constexpr std::size_t page = 4096, pages = 256;
  void* const memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (const double begin_ns = cpu_ns(); cpu_ns() < begin_ns + seconds * 1000 * ms;) {
    ADAPTYST_REGION("outside");
    for (std::size_t at = 0; at != pages; ++at) static_cast<void>(static_cast<const volatile char*>(memory)[at * page]);
    madvise(memory, pages * page, MADV_DONTNEED);
    faults += pages;
  }
  munmap(memory, pages * page);
}

constexpr const char* options_of_windows = "report=none,engine=ebpf,context=cpu,faults,overhead=2%";

// `other`: page faults that may be counted or not.
void check_outside(const adaptyst::profile& in, std::uint64_t truth, double seconds, double other) {
  const adaptyst::os_context& estimated = find_context(in, {"outside"});
  REQUIRE(in.context);
  INFO(*estimated.minor_faults << " of " << truth << " page faults, standard error "
                               << std::sqrt(estimated.faults_variance.value_or(0)));
  CHECK(in.context->lost.count(adaptyst::loss_reason::not_attached) == 0);
  if (static_cast<double>(truth) < 100'000 * seconds) return;  // they need no windows
  REQUIRE(in.context->faults_one_of);
  REQUIRE(estimated.faults_variance);
  CHECK(std::abs(static_cast<double>(*estimated.minor_faults) - static_cast<double>(truth)) <
        4.5 * std::sqrt(*estimated.faults_variance) + other);
}

}  // namespace

TEST_CASE("Page faults of a running process are recorded in windows after an observer has attached") {
  void* const shared =
      mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto& faults = *new (shared) std::atomic<std::uint64_t>(0);
  const pid_t child = fork();
  if (child == 0) {
    touch_for(20, faults);
    _exit(0);
  }
  while (faults == 0) std::this_thread::sleep_for(1ms);
  std::uint64_t before = 0;
  const adaptyst::profile profile = [&] {
    adaptyst::observer watching(options_of_windows, child);
    watching.attach(child);
    before = faults;
    const auto end = clock_type::now() + 1500ms;
    watching.run(1, {}, [&] { return clock_type::now() < end ? std::optional(10) : std::nullopt; });
    return watching.stop();
  }();
  const std::uint64_t truth = faults - before;
  kill(child, SIGKILL);
  CHECK(waitpid(child, nullptr, 0) == child);
  munmap(shared, sizeof faults);
  check_outside(profile, truth, 1.5, 20'000);
}

namespace {

// Returns 0 if the profile of a program with refused windows is right.
int run_with_refused_windows() {
  adaptyst::collector collector(options_of_windows);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 17, 0, 1),  // BPF_RAW_TRACEPOINT_OPEN
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  if (collector.error() != nullptr || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0)
    return 1;
  std::atomic<std::uint64_t> faults{0};
  touch_for(0.6, faults);
  const adaptyst::profile profile = collector.stop();
  if (faults < 60'000) return 0;  // they need no windows
  const adaptyst::region& row = support::find(profile, {"outside"});
  const bool is_counted = profile.context && profile.context->lost.count(adaptyst::loss_reason::not_attached) != 0;
  return is_counted && row.context && !row.context->minor_faults ? 0 : 2;
}

}  // namespace

TEST_CASE("Windows that the kernel refuses are counted, and numbers of page faults are absent") {
  const pid_t child = fork();
  if (child == 0) _exit(run_with_refused_windows());
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

// Runs as a program of its own, and again after exec().
TEST_CASE("touches pages for others", "[.touches]") {
  std::atomic<std::uint64_t> faults{0};
  touch_for(0.7, faults);
  if (std::getenv("AGAIN") != nullptr) return;
  setenv("AGAIN", "no", 1);
  execl("/proc/self/exe", "live_context", "[.touches]", nullptr);
}

TEST_CASE("Page faults in windows are those of a program and of the program after exec()") {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  adaptyst::observer watching(options_of_windows);
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    if (read(ready[0], &byte, 1) != 1) _exit(1);
    setenv("ADAPTYST_OBSERVER", watching.socket().c_str(), 1);
    execl("/proc/self/exe", "live_context", "[.touches]", nullptr);
    _exit(1);
  }
  watching.expect(child, {"live_context"});
  REQUIRE(write(ready[1], "", 1) == 1);
  for (const int end : ready) close(end);
  int status = -1;
  rusage used{};
  watching.run(1, {}, [&] { return wait4(child, &status, WNOHANG, &used) == 0 ? std::optional(10) : std::nullopt; });
  CHECK(status == 0);
  check_outside(watching.stop(), static_cast<std::uint64_t>(used.ru_minflt), 1.4, 20'000);
}

TEST_CASE("Switches are those that getrusage() counts") {
  adaptyst::collector collector(options("inline"));
  rusage before{};
  rusage after{};
  {
    ADAPTYST_REGION("switch");
    before = usage();
    for (int i = 0; i != 50; ++i) std::this_thread::sleep_for(100us);
    after = usage();
  }
  const adaptyst::profile profile = collector.stop();
  if (has_unseen_waits(profile)) return;
  const adaptyst::os_context& switched = find_context(profile, {"switch"});
  const auto voluntary = static_cast<std::uint64_t>(after.ru_nvcsw - before.ru_nvcsw);
  CHECK(voluntary >= 50);
  CHECK(switched.voluntary_switches >= voluntary);
  CHECK(switched.voluntary_switches <= voluntary + 5);
}

namespace {

// Two threads on one core hand a byte to and fro.
struct exchanged {
  adaptyst::profile profile;
  std::uint64_t switches = 0;  // voluntary ones in both regions, by the kernel
  std::uint64_t exchanges = 0;
  double blocked_ns = 0;  // time off the core without waiting for it, in both regions
  double cpu_ns = 0;
};

class handing_over {
 public:
  explicit handing_over(std::chrono::microseconds pause) : pause_(pause) {
    REQUIRE((pipe(there_) == 0 && pipe(back_) == 0));
  }
  ~handing_over() {
    for (const int end : {there_[0], there_[1], back_[0], back_[1]}) close(end);
  }
  handing_over(const handing_over&) = delete;
  handing_over& operator=(const handing_over&) = delete;

  // `options`: empty for no collector.
  exchanged run(const std::string& options, std::uint64_t exchanges) {
    exchanged made;
    made.exchanges = exchanges;
    std::optional<adaptyst::collector> collector;
    if (!options.empty()) REQUIRE(collector.emplace("report=none,context=cpu," + options).error() == nullptr);
    std::mutex mutex;
    const auto hand_over = [&](int from, int to) {
      const rusage before = usage();
      const double began_ns = now_ns(), cpu_before_ns = cpu_ns(), waited_before_ns = waited_ns();
      char byte = 0;
      for (std::uint64_t left = exchanges; left != 0; --left) {
        if (read(from, &byte, 1) != 1) break;
        if (pause_.count() != 0) std::this_thread::sleep_for(pause_);
        if (write(to, &byte, 1) != 1) break;
      }
      const std::lock_guard lock(mutex);
      made.switches += static_cast<std::uint64_t>(usage().ru_nvcsw - before.ru_nvcsw);
      made.cpu_ns += cpu_ns() - cpu_before_ns;
      made.blocked_ns += now_ns() - began_ns - (cpu_ns() - cpu_before_ns) - (waited_ns() - waited_before_ns);
    };
    const bound on_one_core;  // threads inherit it
    const char byte = 0;
    REQUIRE(write(back_[1], &byte, 1) == 1);
    std::thread echo([&] {
      ADAPTYST_REGION("echo");
      hand_over(there_[0], back_[1]);
    });
    std::thread call([&] {
      ADAPTYST_REGION("call");
      hand_over(back_[0], there_[1]);
    });
    call.join();
    echo.join();
    if (collector) made.profile = collector->stop();
    return made;
  }

 private:
  std::chrono::microseconds pause_;
  int there_[2]{}, back_[2]{};
};

struct sums_of_switches {
  double switches = 0, blocked_ns = 0;
  double switches_variance = 0, blocked_variance = 0;  // 0: exact
};

sums_of_switches sum_both(const adaptyst::profile& in) {
  sums_of_switches sum;
  for (const char* const name : {"echo", "call"}) {
    const adaptyst::os_context& of = find_context(in, {name});
    sum.switches += static_cast<double>(of.voluntary_switches);
    sum.blocked_ns += static_cast<double>(of.blocked_ns());
    sum.switches_variance += of.voluntary_variance.value_or(0);
    sum.blocked_variance += of.blocked_variance.value_or(0);
  }
  return sum;
}

double cost_of_a_switch_ns(const exchanged& of) {
  return of.profile.context->cost_ns.value_or(0) / static_cast<double>(of.switches);
}

}  // namespace

TEST_CASE("Thread switches beyond the budget are sampled, and figures are within their errors") {
  constexpr std::uint64_t exchanges = 300'000;  // more than 200,000 switches a second
  const exchanged all = handing_over(0us).run("overhead=none", exchanges);
  REQUIRE(all.profile.context);
  CHECK_FALSE(all.profile.context->switches_one_of);
  const sums_of_switches exact = sum_both(all.profile);
  CHECK(exact.switches_variance == 0);
  CHECK(std::abs(exact.switches - static_cast<double>(all.switches)) < 50);

  const exchanged sampled = handing_over(0us).run("overhead=2%", exchanges);
  REQUIRE(sampled.profile.context);
  REQUIRE(sampled.profile.context->switches_one_of);
  CHECK(*sampled.profile.context->switches_one_of >= 4);
  const sums_of_switches estimate = sum_both(sampled.profile);
  const double error = std::sqrt(estimate.switches_variance);
  INFO(estimate.switches << " switches, " << sampled.switches << " by the kernel, standard error " << error);
  CHECK(error > 0);
  CHECK(error < 0.05 * estimate.switches);
  CHECK(std::abs(estimate.switches - static_cast<double>(sampled.switches)) < 4.5 * error + 50);
  INFO(estimate.blocked_ns << " ns blocked, " << sampled.blocked_ns << " by the kernel, standard error "
                           << std::sqrt(estimate.blocked_variance));
  // The kernel measures waits at other points. Twice the difference without sampling is permitted.
  const double offset = std::abs(exact.blocked_ns / all.blocked_ns - 1);
  CHECK(offset < 0.25);
  CHECK(std::abs(estimate.blocked_ns - sampled.blocked_ns) <
        4.5 * std::sqrt(estimate.blocked_variance) + (2 * offset + 0.05) * sampled.blocked_ns);
  CHECK(cost_of_a_switch_ns(sampled) < 0.7 * cost_of_a_switch_ns(all));
  CHECK(adaptyst::to_table(sampled.profile).find("thread switches sampled (~)") != std::string::npos);
}

TEST_CASE("A thousand thread switches a second are all recorded under a budget") {
  const exchanged few = handing_over(2000us).run("overhead=2%", 1500);
  REQUIRE(few.profile.context);
  REQUIRE(few.cpu_ns > 20e6);  // enough for decisions of the budget
  CHECK_FALSE(few.profile.context->switches_one_of);
  if (has_unseen_waits(few.profile, few.switches / 50)) return;
  const sums_of_switches exact = sum_both(few.profile);
  CHECK(exact.switches_variance == 0);
  CHECK(std::abs(exact.switches - static_cast<double>(few.switches)) <= 10);
  CHECK(adaptyst::to_table(few.profile).find("sampled (~)") == std::string::npos);
}

TEST_CASE("Threads that ran before the collector are known from their next region on") {
  std::atomic<bool> end{false}, rest{false}, rests{false};
  std::atomic<int> rounds{0};
  std::thread worker([&] {
    while (!end) {
      rests = rest.load();
      if (rests) {
        std::this_thread::sleep_for(1ms);
        continue;
      }
      ADAPTYST_REGION("round");
      std::this_thread::sleep_for(2ms);
      ++rounds;
    }
  });
  const auto wait_until = [](const auto& holds) {
    while (!holds()) std::this_thread::sleep_for(1ms);
  };
  wait_until([&] { return rounds >= 3; });
  for (const char* const engine : {"ebpf", "inline", "ebpf"}) {
    CAPTURE(engine);
    adaptyst::collector collector(options(engine));
    const int before = rounds;
    wait_until([&] { return rounds >= before + 10; });
    // Of what ends while the kernel is read, the waits may be known and the times not, or the other way round.
    rest = true;
    wait_until([&] { return rests.load(); });
    const adaptyst::profile profile = collector.stop();
    rest = false;
    wait_until([&] { return !rests; });
    const adaptyst::region& row = support::find(profile, {"round"});
    REQUIRE(row.context);
    if (has_unseen_waits(profile)) continue;
    // The one that was open at the beginning is not counted.
    CHECK(static_cast<double>(row.context->sleep_ns) >= 0.9 * 2 * ms * static_cast<double>(row.count - 1));
    CHECK(row.context->sleep_ns <= row.total_ns + 20'000'000);
  }
  end = true;
  worker.join();
}

TEST_CASE("A region that is open has its waits, and no time on a core yet") {
  adaptyst::collector collector(options("ebpf"));
  {
    ADAPTYST_REGION("open");
    {
      ADAPTYST_REGION("below");
      std::this_thread::sleep_for(10ms);
    }
    std::this_thread::sleep_for(10ms);
    const adaptyst::profile now = collector.snapshot();
    const adaptyst::region& open = support::find(now, {"open"});
    CHECK(open.count == 0);
    REQUIRE(open.context);
    CHECK(open.context->open == 1);
    CHECK(static_cast<double>(open.context->sleep_ns) >= 19 * ms);
    CHECK_FALSE(open.context->on_cpu_ns());
    CHECK(find_context(now, {"open", "below"}).on_cpu_ns());
  }
  const adaptyst::profile all = collector.stop();
  CHECK(find_context(all, {"open"}).open == 0);
  CHECK(find_context(all, {"open"}).on_cpu_ns());
}

TEST_CASE("Threads that end in a region, children and other programs leave nothing behind") {
  adaptyst::collector collector(options("ebpf"));
  for (int i = 0; i != 20; ++i) {
    pthread_t thread;
    REQUIRE(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  ADAPTYST_REGION("left");
                  std::this_thread::sleep_for(1ms);
                  pthread_exit(nullptr);
                },
                nullptr) == 0);
    pthread_join(thread, nullptr);
  }
  {
    ADAPTYST_REGION("parent");
    const pid_t child = fork();
    if (child == 0) {
      ADAPTYST_REGION("of a child");
      usleep(20000);
      execl("/bin/sleep", "sleep", "0.02", nullptr);  // whose memory is another
      _exit(1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  const adaptyst::profile profile = collector.stop();
  if (has_unseen_waits(profile)) return;
  CHECK(support::find(profile, {"parent"}).context->other_ns > 0);  // wait4()
  CHECK(static_cast<double>(find_context(profile, {"left"}).sleep_ns) >= 18 * ms);
  for (const adaptyst::region& region : profile.regions) CHECK(region.path.back() != "of a child");
}

TEST_CASE("A recorder that is nowhere, or another's, is counted, and nothing is made of it") {
  adaptyst::collector collector(options("ebpf"));
  std::thread nowhere([] {
    adaptyst_probe_thread(reinterpret_cast<const void*>(std::uintptr_t{4096}), adaptyst::detail::state_layout);
    for (int i = 0; i != 3; ++i) std::this_thread::sleep_for(1ms);
  });
  nowhere.join();
  static const std::uint64_t nonsense[1024] = {~std::uint64_t{0}, 1, 2, 3};
  std::thread other([] {
    adaptyst_probe_thread(nonsense, 1);
    std::this_thread::sleep_for(1ms);
  });
  other.join();
  const adaptyst::profile profile = collector.stop();
  REQUIRE(profile.context);
  CHECK(profile.context->lost.at(adaptyst::loss_reason::unreadable) >= 3);
  CHECK(profile.context->lost.at(adaptyst::loss_reason::other_layout) == 1);
  CHECK(profile.regions.empty());
}

// Probes are found through section headers.
void remove_section_headers(const std::string& file) {
  std::fstream elf(file, std::ios::in | std::ios::out | std::ios::binary);
  Elf64_Ehdr header{};
  elf.read(reinterpret_cast<char*>(&header), sizeof header);
  header.e_shoff = 0;
  header.e_shnum = header.e_shstrndx = 0;
  elf.seekp(0);
  elf.write(reinterpret_cast<const char*>(&header), sizeof header);
  REQUIRE(elf.flush());
}

TEST_CASE("A thread whose first marker is in a library without probes is not known, and counted") {
  const std::string file = "/tmp/adaptyst-without-probes-" + std::to_string(getpid()) + ".so";
  std::filesystem::copy_file(ADAPTYST_TEST_PLUGIN, file, std::filesystem::copy_options::overwrite_existing);
  remove_section_headers(file);
  void* const library = dlopen(file.c_str(), RTLD_NOW);
  REQUIRE(library != nullptr);
  unlink(file.c_str());
  const auto run = reinterpret_cast<void (*)(int)>(dlsym(library, "run"));
  REQUIRE(run != nullptr);
  adaptyst::collector collector(options("inline"));
  const auto pass = [] {
    ADAPTYST_REGION("by both");
    std::this_thread::sleep_for(1ms);
  };
  std::thread unknown([&] {
    run(10);
    pass();
  });
  unknown.join();
  pass();
  {
    ADAPTYST_REGION("by one");
    std::this_thread::sleep_for(10ms);
  }
  const adaptyst::profile profile = collector.stop();
  CHECK(support::find(profile, {"plugin"}).count == 10);
  for (const char* const name : {"plugin", "by both"}) {
    INFO(name);
    CHECK_FALSE(support::find(profile, {name}).context);
    CHECK_FALSE(support::find(profile, {name}).self_context);
  }
  CHECK(find_context(profile, {"by one"}).sleep_ns >= 10'000'000);
  REQUIRE(profile.context);
  CHECK(profile.context->threads == 1);
  CHECK(profile.context->lost.at(adaptyst::loss_reason::not_announced) == 1);
  dlclose(library);
}

TEST_CASE("What is not asked for is not there") {
  adaptyst::collector collector("report=none,engine=ebpf,context=none");
  { ADAPTYST_REGION("plain"); }
  const adaptyst::profile profile = collector.stop();
  CHECK_FALSE(profile.context);
  CHECK_FALSE(support::find(profile, {"plain"}).context);
  CHECK_FALSE(profile.devices.front().context);

  adaptyst::collector without_faults("report=none,engine=ebpf,context=cpu");
  { ADAPTYST_REGION("plain"); }
  const adaptyst::profile of_cpu = without_faults.stop();
  CHECK_FALSE(find_context(of_cpu, {"plain"}).minor_faults);
}
