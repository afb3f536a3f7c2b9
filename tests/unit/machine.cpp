// What a machine consists of, out of folders as /sys has them, and what threads spent, out of /proc.
#include "discover/machine.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "catch.hpp"
#include "session/thread_times.hpp"

namespace {

namespace fs = std::filesystem;
using adaptyst::machine;
using adaptyst::lib::describe_machine;
using adaptyst::lib::parse_cpu_list;
using adaptyst::lib::parse_thread_schedstat;
using adaptyst::lib::parse_thread_stat;
using adaptyst::lib::thread_times;

class folder {
 public:
  folder() : path_(fs::temp_directory_path() / ("machine-" + std::to_string(getpid()))) {}
  ~folder() { fs::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text << "\n";
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

TEST_CASE("lists of processors are read as the kernel writes them") {
  CHECK(parse_cpu_list("0-2,7") == std::vector<std::uint32_t>{0, 1, 2, 7});
  CHECK(parse_cpu_list("").empty());
  CHECK(parse_cpu_list("x,3,-,4-").size() == 1);
  CHECK(parse_cpu_list("0-4294967295").size() == adaptyst::lib::max_described_cpus);
}

TEST_CASE("sockets, cores, nodes and devices are those of /sys") {
  const folder sys;
  sys.write("devices/system/cpu/online", "0-7");
  for (unsigned cpu = 0; cpu != 8; ++cpu) {
    const std::string topology = "devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    sys.write(topology + "physical_package_id", std::to_string(cpu / 4));
    const unsigned core = cpu / 2 * 2;
    sys.write(topology + "thread_siblings_list", std::to_string(core) + "-" + std::to_string(core + 1));
  }
  sys.write("devices/system/node/online", "0-1");
  sys.write("devices/system/node/node0/cpulist", "0-3");
  sys.write("devices/system/node/node0/meminfo", "Node 0 MemTotal:       65772180 kB");
  sys.write("devices/system/node/node1/cpulist", "4-7");
  sys.write("bus/pci/devices/0000:81:00.0/class", "0x030200");
  sys.write("bus/pci/devices/0000:81:00.0/vendor", "0x10de");
  sys.write("bus/pci/devices/0000:81:00.0/device", "0x2330");
  sys.write("bus/pci/devices/0000:81:00.0/numa_node", "1");
  sys.write("bus/pci/devices/0000:01:00.0/class", "0x020000");
  sys.write("bus/pci/devices/0000:01:00.0/numa_node", "-1");
  sys.write("bus/pci/devices/0000:00:1f.0/class", "0x060100");  // a bridge
  const machine found = describe_machine("node17", sys.path());
  CHECK(found.host == "node17");
  CHECK(found.sockets == 2U);
  CHECK(found.cores == 4U);
  CHECK(found.cpus == 8U);
  REQUIRE(found.nodes.size() == 2);
  CHECK(found.nodes[0].memory_bytes == 65772180ULL * 1024);
  CHECK(found.nodes[0].cpus == "0-3");
  CHECK(found.nodes[1].socket == 1U);
  CHECK_FALSE(found.nodes[1].memory_bytes.has_value());
  REQUIRE(found.devices.size() == 2);
  CHECK(found.devices[0].kind == "network");
  CHECK_FALSE(found.devices[0].node.has_value());
  CHECK(found.devices[0].id.empty());
  CHECK(found.devices[1].kind == "gpu");
  CHECK(found.devices[1].address == "0000:81:00.0");
  CHECK(found.devices[1].id == "10de:2330");
  CHECK(found.devices[1].node == 1U);
}

TEST_CASE("of a machine without /sys nothing is said") {
  const machine found = describe_machine("x", "/nowhere");
  CHECK_FALSE((found.sockets || found.cores || found.cpus));
  CHECK((found.nodes.empty() && found.devices.empty()));
}

TEST_CASE("a thread's name may hold anything") {
  const std::string rest = " S 1 1 1 0 -1 4 0 0 0 0 7 8 0 0 20 0 3 0 4711 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 5 0 0 0";
  const auto found = parse_thread_stat("42 (a) (b)" + rest);
  REQUIRE(found.has_value());
  CHECK(found->name == "a) (b");
  CHECK(found->started_ticks == 4711);
  CHECK(found->last_cpu == 5U);
  CHECK_FALSE(parse_thread_stat("42 (x) S 1").has_value());
  CHECK_FALSE(parse_thread_stat("").has_value());
}

TEST_CASE("a thread that computes was on a core, and one that sleeps was not") {
  std::atomic<bool> goes_on{true};
  std::atomic<std::int64_t> computing{0}, sleeping{0};
  std::thread worker([&] {
    computing = gettid();
    while (goes_on) {}
  });
  std::thread sleeper([&] {
    sleeping = gettid();
    while (goes_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  thread_times times;
  const auto find = [&](std::int64_t tid) {
    for (const adaptyst::thread_info& info : times.list())
      if (info.tid == tid) return info;
    return adaptyst::thread_info{};
  };
  times.poll(getpid(), 1);
  std::uint64_t now_ns = 10'000'000'000;
  for (int tries = 0; find(computing).on_cpu_ns < 20'000'000 && tries != 2000; ++tries, now_ns += 2'000'000'000) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    times.poll(getpid(), now_ns);
  }
  goes_on = false;
  worker.join();
  sleeper.join();
  if (!fs::exists("/proc/self/schedstat")) {
    WARN("the kernel has no schedstat");
    return;
  }
  CHECK(find(computing).on_cpu_ns >= 20'000'000);
  CHECK(find(computing).alive_ns >= find(computing).on_cpu_ns);
  CHECK(find(sleeping).on_cpu_ns < find(computing).on_cpu_ns);
  times.poll(getpid(), now_ns);
  CHECK(find(computing).tid != 0);  // what has ended is still known
}

TEST_CASE("a kernel that does not account for waits leaves them unknown") {
  const auto found = parse_thread_schedstat("1200 34 5");
  REQUIRE(found.has_value());
  CHECK(found->on_cpu_ns == 1200);
  CHECK(found->runnable_ns == 34);
  CHECK_FALSE(parse_thread_schedstat("0 0 0").has_value());
  CHECK_FALSE(parse_thread_schedstat("1200 34").has_value());
  CHECK_FALSE(parse_thread_schedstat("").has_value());
}

// Oracle: a computing thread waits for a core while its clock of CPU time does not advance. The thread and the kernel
// add a wait when it ends: the thread's number before poll() is a lower bound, and clocks after poll() are an upper one.
TEST_CASE("two threads that compute on the same core wait half of their time for it") {
  if (!fs::exists("/proc/self/schedstat")) {
    WARN("the kernel has no schedstat");
    return;
  }
  struct computing {
    std::atomic<std::int64_t> tid{0}, wait_ns{0};
  } both[2];
  const auto read = [](clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  };
  cpu_set_t allowed{}, first{};
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  for (int cpu = 0; cpu != CPU_SETSIZE && CPU_COUNT(&first) == 0; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &first);
  std::atomic<bool> goes_on{true};
  const auto compute = [&](computing& self) {
    sched_setaffinity(0, sizeof first, &first);
    const std::int64_t begin_ns = read(CLOCK_MONOTONIC), begin_cpu_ns = read(CLOCK_THREAD_CPUTIME_ID);
    self.tid = gettid();
    while (goes_on) self.wait_ns = read(CLOCK_MONOTONIC) - begin_ns - (read(CLOCK_THREAD_CPUTIME_ID) - begin_cpu_ns);
  };
  const std::int64_t created_ns = read(CLOCK_MONOTONIC);
  std::thread a(compute, std::ref(both[0])), b(compute, std::ref(both[1]));
  std::atomic<std::int64_t> sleeping{0};
  std::thread c([&] {
    sleeping = gettid();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const std::int64_t waits_ns[] = {both[0].wait_ns, both[1].wait_ns};
  std::int64_t cpu_ns[2]{};
  for (int at = 0; at != 2; ++at) {
    clockid_t clock{};
    REQUIRE(pthread_getcpuclockid((at == 0 ? a : b).native_handle(), &clock) == 0);
    cpu_ns[at] = read(clock);
  }
  thread_times times;
  times.poll(getpid(), 1);
  const std::int64_t end_ns = read(CLOCK_MONOTONIC);
  goes_on = false;
  a.join();
  b.join();
  c.join();
  int found = 0;
  for (const adaptyst::thread_info& info : times.list())
    for (int at = 0; at != 2; ++at) {
      if (info.tid != both[at].tid) continue;
      ++found;
      const auto wait_ns = static_cast<std::int64_t>(info.runnable_ns);
      INFO(info.alive_ns << " ns alive, waited " << wait_ns << " ns, by its clocks at least " << waits_ns[at]);
      CHECK(wait_ns > waits_ns[at] - 60'000'000);
      CHECK(wait_ns < end_ns - created_ns - cpu_ns[at] + 10'000'000);
      CHECK(wait_ns > static_cast<std::int64_t>(info.alive_ns / 4));
      CHECK(info.on_cpu_ns + info.runnable_ns > info.alive_ns / 4 * 3);
    }
  CHECK(found == 2);
  for (const adaptyst::thread_info& info : times.list())
    if (info.tid == sleeping) CHECK(info.runnable_ns < info.alive_ns / 4);
}
