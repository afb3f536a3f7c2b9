// Allocates in regions in the way that its argument names, and prints its own account: region, allocated bytes and
// calls, freed bytes and calls.
#include <adaptyst/region.hpp>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct tally {
  std::atomic<std::uint64_t> allocated{0}, allocations{0}, freed{0}, frees{0};

  void* note(void* block, std::size_t bytes) {
    if (block == nullptr) std::abort();
    std::memset(block, 1, bytes < 64 ? bytes : 64);
    allocated += bytes;
    ++allocations;
    return block;
  }
  void release(void* block, std::size_t bytes) {
    freed += bytes;
    ++frees;
    std::free(block);
  }
  void print(const char* region) const {
    std::printf("%s %lu %lu %lu %lu\n", region, allocated.load(), allocations.load(), freed.load(), frees.load());
  }
};

tally solve, release;
bool is_glibc = true;  // jemalloc has no pvalloc(), and does not set errno if a block is too large

struct block {
  void* at;
  std::size_t bytes;
};

// All functions, and realloc in each of its meanings.
void call_each(tally& in, std::vector<block>& kept) {
  const auto keep = [&](void* at, std::size_t bytes) { kept.push_back({in.note(at, bytes), bytes}); };
  keep(std::malloc(1000), 1000);
  keep(std::calloc(10, 8), 80);
  keep(std::aligned_alloc(256, 512), 512);
  keep(memalign(64, 300), 300);
  keep(valloc(100), 100);
  keep(is_glibc ? pvalloc(100) : valloc(100), 100);
  keep(reallocarray(nullptr, 3, 70), 210);
  keep(std::realloc(nullptr, 50), 50);
  void* aligned = nullptr;
  if (posix_memalign(&aligned, 128, 77) != 0) std::abort();
  keep(aligned, 77);
  keep(::operator new(33), 33);
  void* grown = in.note(std::malloc(10), 10);
  in.freed += 10;
  ++in.frees;
  grown = in.note(std::realloc(grown, 100'000), 100'000);
  in.freed += 100'000;
  ++in.frees;
  if (std::realloc(grown, 0) != nullptr) std::abort();  // NOLINT: glibc frees
  void* const remains = in.note(std::malloc(40), 40);
  if (std::realloc(remains, SIZE_MAX / 2) != nullptr || (is_glibc && errno != ENOMEM)) std::abort();
  if (reallocarray(remains, SIZE_MAX / 2, 3) != nullptr || std::calloc(SIZE_MAX / 2, 3) != nullptr) std::abort();
  in.release(remains, 40);
  errno = 77;
  std::free(nullptr);
  in.release(in.note(std::malloc(0), 0), 0);
  if (errno != 77) std::abort();
}

void exact_sums() {
  std::vector<block> kept;
  kept.reserve(1000);
  for (int step = 0; step != 10; ++step) {
    ADAPTYST_REGION("solve");
    call_each(solve, kept);
  }
  {
    ADAPTYST_REGION("release");
    for (std::size_t at = 0; at != 40; ++at) release.release(kept[at].at, kept[at].bytes);
  }
  solve.print("solve");
  release.print("release");
}

// Blocks of many sizes on four threads; those of one thread are freed on the next.
void mixed() {
  constexpr int threads = 4, rounds = 50'000;
  std::vector<std::vector<block>> kept(threads);
  for (auto& list : kept) list.reserve(rounds);
  const auto on_all = [&](auto work) {
    std::vector<std::thread> all;
    for (int number = 0; number != threads; ++number) all.emplace_back(work, number);
    for (std::thread& thread : all) thread.join();
  };
  on_all([&](int number) {
    std::uint64_t random = 88172645463325252U + static_cast<std::uint64_t>(number);
    ADAPTYST_REGION("solve");
    for (int round = 0; round != rounds; ++round) {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      const std::size_t bytes = std::size_t{1} << (random % 16);
      kept[static_cast<std::size_t>(number)].push_back({solve.note(std::malloc(bytes), bytes), bytes});
    }
  });
  on_all([&](int number) {
    auto& list = kept[static_cast<std::size_t>((number + 1) % threads)];
    ADAPTYST_REGION("release");
    for (std::size_t at = 0; at != list.size() / 4 * 3; ++at) release.release(list[at].at, list[at].bytes);
  });
  solve.print("solve");
  release.print("release");
}

// 64 MiB in one region, freed, then 16 MiB in another.
void peaks() {
  const auto hold = [](const char* name, std::size_t blocks) {
    std::vector<void*> kept;
    kept.reserve(blocks);
    ADAPTYST_REGION(name);
    for (std::size_t at = 0; at != blocks; ++at) kept.push_back(std::malloc(1 << 20));
    for (void* const held : kept) std::free(held);
  };
  hold("first", 64);
  hold("second", 16);
}

// A child frees blocks of its parent, and allocates its own, while a thread of the parent allocates all the time.
void forked() {
  std::atomic<bool> is_over{false};
  std::thread busy([&] {
    while (!is_over) std::free(std::malloc(100));
  });
  int failed = 0;
  for (int round = 0; round != 50; ++round) {
    std::vector<block> kept;
    {
      ADAPTYST_REGION("parent");
      for (int at = 0; at != 20; ++at) kept.push_back({std::malloc(5000), 5000});
    }
    const pid_t child = fork();
    if (child == 0) {
      {
        ADAPTYST_REGION("child");
        for (const block& of_parent : kept) std::free(of_parent.at);
        for (int at = 0; at != 5; ++at) std::free(std::malloc(3000));
      }
      exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failed += status != 0 ? 1 : 0;
    ADAPTYST_REGION("parent");
    for (const block& own : kept) std::free(own.at);
  }
  is_over = true;
  busy.join();
  std::printf("failed %d\n", failed);
}

// The C library is not in its allocator when it calls this handler.
volatile sig_atomic_t handled = 0;
void handle(int) {
  const int number = errno;
  std::free(std::aligned_alloc(64, 128));
  handled = handled + 1;
  errno = number;
}
void signals() {
  struct sigaction action {};
  action.sa_handler = handle;
  sigaction(SIGALRM, &action, nullptr);
  for (int round = 0; round != 20'000; ++round) {
    ADAPTYST_REGION("solve");
    void* const made = std::malloc(100);
    raise(SIGALRM);
    std::free(made);
  }
  std::printf("handled %d\n", static_cast<int>(handled));
}

void* allocate_once(void*) {
  ADAPTYST_REGION("thread");
  std::free(std::malloc(100));
  return nullptr;
}
void threads() {
  for (int round = 0; round != 20'000; ++round) {
    pthread_t made;
    if (pthread_create(&made, nullptr, allocate_once, nullptr) != 0) std::abort();
    pthread_join(made, nullptr);
  }
}

// Each step allocates and frees blocks all the time, keeps a block, and uses a cache that the first step has filled.
void steps() {
  std::vector<void*> kept, cached;
  kept.reserve(100);
  cached.reserve(100);
  for (int step = 0; step != 40; ++step) {
    {
      ADAPTYST_REGION("churn");
      for (int at = 0; at != 500'000; ++at) std::free(std::malloc(100));
    }
    {
      ADAPTYST_REGION("grow");
      kept.push_back(std::malloc(2 << 20));
    }
    ADAPTYST_REGION("cache");
    while (cached.size() != 60) cached.push_back(std::malloc(1 << 20));
    std::free(std::malloc(1 << 20));
  }
}

// Touches 64 MiB, then 64 MiB more, then returns all; prints when, in ns since the start, and how much it holds.
void resident() {
  constexpr std::size_t part = std::size_t{64} << 20;
  const auto now_ns = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  };
  const long long began_ns = now_ns();
  const auto pass_time = [&](std::size_t held) {
    std::printf("%lld %zu\n", now_ns() - began_ns, held);
    const timespec pause{0, 700'000'000};
    nanosleep(&pause, nullptr);
  };
  { ADAPTYST_REGION("begin"); }
  char* const made =
      static_cast<char*>(mmap(nullptr, 2 * part, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (made == MAP_FAILED) std::abort();
  pass_time(0);
  for (std::size_t held = 0; held != 2 * part; held += part) {
    std::memset(made + held, 1, part);
    pass_time(held + part);
  }
  munmap(made, 2 * part);
  pass_time(0);
}

// Before main(), and before the constructors of later objects.
struct before_main {
  before_main() {
    std::thread([] {
      for (int at = 0; at != 1000; ++at) std::free(std::malloc(1000));
    }).join();
  }
} early;

}  // namespace

int main(int, char** arguments) {
  const std::string_view way = arguments[1];
  is_glibc = way != "elsewhere";
  if (way == "known" || way == "elsewhere") exact_sums();
  else if (way == "mixed") mixed();
  else if (way == "peaks") peaks();
  else if (way == "forked") forked();
  else if (way == "signals") signals();
  else if (way == "threads") threads();
  else if (way == "steps") steps();
  else if (way == "resident") resident();
  else return 2;
  return 0;
}
