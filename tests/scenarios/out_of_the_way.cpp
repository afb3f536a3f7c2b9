// That a program with a collector in it is what it is without: how its heap behaves, threads, descriptors, signals,
// errno, the locale; while the collector runs, as far as that can be, and after it.
#include <adaptyst/collector.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "catch.hpp"
#include "collecting.hpp"
#include "heap.hpp"
#include "sanitized.hpp"

namespace {

#ifdef ADAPTYST_TEST_HEAP

long page_faults() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

char* filled_block(std::size_t bytes) {
  char* volatile const block = static_cast<char*>(std::malloc(bytes));
  if (block != nullptr) std::memset(block, 1, bytes);
  return block;
}

// Each block is larger than those before, so glibc maps it for itself, unless something larger has been freed before.
long count_large_block_faults() {
  constexpr std::size_t first_bytes = 1'000'000;
  constexpr std::size_t more_bytes = 10'000;
  const long before = page_faults();
  for (std::size_t at = 0; at != 100; ++at) std::free(filled_block(first_bytes + at * more_bytes));
  return page_faults() - before;
}

// In a child, since it moves the threshold itself. -1: it failed.
long faults_now() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const long faults = count_large_block_faults();
    _exit(write(ends[1], &faults, sizeof faults) == sizeof faults ? 0 : 1);
  }
  close(ends[1]);
  long faults = -1;
  if (read(ends[0], &faults, sizeof faults) != sizeof faults) faults = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return faults;
}

// By the threshold that a program begins with, 128 KiB.
bool maps_smallest_large_block() {
  const std::size_t before = mallinfo2().hblks;
  static_cast<void>(filled_block(std::size_t{132} << 10));  // never freed: that would move the threshold
  return mallinfo2().hblks == before + 1;
}

void check_heap(long faults_before) {
  CHECK(maps_smallest_large_block());
  const long now = faults_now();
  CHECK(now > faults_before - faults_before / 20);
  CHECK(now < faults_before + faults_before / 20);
}

#else

long faults_now() { return 0; }
void check_heap(long) {}

#endif

std::set<std::string> names_in(const char* directory) {
  std::set<std::string> names;
  DIR* const all = opendir(directory);
  REQUIRE(all != nullptr);
  const std::string own = std::to_string(dirfd(all));
  while (const dirent* entry = readdir(all))
    if (entry->d_name[0] != '.' && entry->d_name != own) names.insert(entry->d_name);
  closedir(all);
  return names;
}

std::string read_target(const std::string& descriptor) {
  std::array<char, 256> name{};
  const ssize_t length = readlink(("/proc/self/fd/" + descriptor).c_str(), name.data(), name.size());
  return {name.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
}

std::string blocked_signals(const std::string& thread) {
  std::ifstream status("/proc/self/task/" + thread + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.compare(0, 7, "SigBlk:") == 0) return line.substr(8);
  return {};
}

// Of the markers: it is there from the first that is awake, for observers that come later.
bool is_store(const std::string& descriptor) { return read_target(descriptor).find("/memfd:adaptyst") == 0; }

// But those that cannot be blocked; the C library keeps two for itself. One that has just ended may still be listed.
bool takes_no_signals(const std::string& thread) {
  constexpr unsigned long long of_c_library = 0x180000000;
  const std::string blocked = blocked_signals(thread);
  return blocked.empty() || (std::stoull(blocked, nullptr, 16) | of_c_library) == 0xfffffffffffbfeff;
}

struct process_facts {
  std::set<std::string> threads = names_in("/proc/self/task");
  std::set<std::string> descriptors = names_in("/proc/self/fd");
  std::string locale = std::setlocale(LC_ALL, nullptr);
  std::string blocked = blocked_signals(std::to_string(getpid()));
  std::array<struct sigaction, 65> handlers{};

  process_facts() {
    for (int signal = 1; signal != 65; ++signal)
      sigaction(signal, nullptr, &handlers[static_cast<std::size_t>(signal)]);
  }
};

void check_same_signals(const process_facts& now, const process_facts& before) {
  CHECK(now.locale == before.locale);
  CHECK(now.blocked == before.blocked);
  for (std::size_t signal = 1; signal != 65; ++signal) {
    INFO("signal " << signal);
    CHECK(now.handlers[signal].sa_handler == before.handlers[signal].sa_handler);
    CHECK(now.handlers[signal].sa_flags == before.handlers[signal].sa_flags);
  }
}

void check_inevitable(const process_facts& now, const process_facts& before) {
  for (const std::string& thread : now.threads)
    if (before.threads.count(thread) == 0) {
      INFO("thread " << thread);
      CHECK(takes_no_signals(thread));
    }
  for (const std::string& descriptor : now.descriptors)
    if (before.descriptors.count(descriptor) == 0) {
      INFO("descriptor " << descriptor << ", " << read_target(descriptor));
      CHECK((fcntl(std::stoi(descriptor), F_GETFD) & FD_CLOEXEC) != 0);
    }
}

// So many that their profile is a large block.
void run_many_names() {
  for (int name = 0; name != 2000; ++name) {
    const std::string called = std::to_string(name);
    ADAPTYST_REGION(called);
  }
}

void recur(int levels) {
  ADAPTYST_REGION("level");
  if (levels != 1) recur(levels - 1);
}

// Large blocks for a few names: periods of waiting, and long call paths.
void run_few_names() {
  recur(100);
  for (int wait = 0; wait != 70'000; ++wait) {
    ADAPTYST_WAIT("wait");
  }
}

void check_program_with(const std::string& options, void (*run)() = run_many_names) {
  INFO(options);
  // ThreadSanitizer starts a thread of its own with the first thread of the program.
  std::thread([] {}).join();
  const long faults_before = faults_now();
  const process_facts before;
  errno = ERANGE;
  {
    adaptyst::collector collector("report=none,engine=" + support::engine() + options);
    CHECK(errno == ERANGE);
    REQUIRE(collector.error() == nullptr);
    for (int event = 0; event != 100'000; ++event) {
      ADAPTYST_REGION("event");
    }
    run();
    const process_facts meanwhile;
    check_same_signals(meanwhile, before);
    check_inevitable(meanwhile, before);
    check_heap(faults_before);
    errno = ERANGE;
    static_cast<void>(collector.snapshot());
    CHECK(errno == ERANGE);
    check_heap(faults_before);
    errno = ERANGE;
    static_cast<void>(collector.stop());
    CHECK(errno == ERANGE);
  }
  // The kernel lists a thread for a moment after it has been joined.
  for (int tries = 0; tries != 100 && names_in("/proc/self/task") != before.threads; ++tries) usleep(10'000);
  const process_facts after;
  check_same_signals(after, before);
#ifndef ADAPTYST_TEST_SANITIZED  // ThreadSanitizer has a thread from the first one of ours on
  CHECK(after.threads == before.threads);
#endif
  for (const std::string& descriptor : after.descriptors) {
    INFO("descriptor " << descriptor << ", " << read_target(descriptor));
    CHECK((before.descriptors.count(descriptor) != 0 || is_store(descriptor)));
  }
  check_heap(faults_before);
}

}  // namespace

// First: the names of the others remain.
TEST_CASE("a collector of few regions that has much to read leaves the program as it is") {
  check_program_with(",context=none", run_few_names);
}

TEST_CASE("a collector leaves the program as it is") { check_program_with(",context=none"); }

TEST_CASE("a collector with all that it can ask for leaves the program as it is") {
  const std::string outputs = "out_of_the_way-" + support::engine();
  std::string options = ",output=" + outputs + ".json;" + outputs + ".trace.json";
  if (support::engine() == "ebpf") options += ";" + outputs + ".folded,context=cpu,functions=malloc";
  check_program_with(options);
}
