// As much of everything as a node may have: crowd FILE PROCESSES THREADS PATHS ROUNDS LEVELS WAVES
//
// PROCESSES in all, of which every other one is forked and the rest are this program anew. In each, THREADS at once,
// which pass PATHS regions ROUNDS times, each thread in an order of its own, and then descend LEVELS regions; then
// WAVES times as many threads, each of which passes two regions and ends. What has been passed is counted next to the
// markers, by name or level, and written to FILE.PID as JSON.
//
// Built with COLLECTING, it has a collector of its own in each process.
#include <adaptyst/adaptyst.hpp>
#ifdef COLLECTING
#include <adaptyst/collector.hpp>
#endif
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using counts = std::deque<std::atomic<std::uint64_t>>;  // need not be moved to be made

struct amounts {
  std::size_t threads, paths, rounds, levels, waves;
};

struct tally {
  explicit tally(const amounts& amounts) : paths(amounts.paths), levels(amounts.levels), outer(1), inner(1) {}
  counts paths, levels, outer, inner;
};

void descend(counts& levels, std::size_t level) {
  if (level == levels.size()) return;
  ADAPTYST_REGION("level");
  ++levels[level];
  descend(levels, level + 1);
}

// All have begun before one goes on, so that all are there at once. They sleep until then: hundreds that ask again and again
// would be most of what is run.
template <class Work>
void at_once(std::size_t threads, Work work) {
  pthread_barrier_t begun;
  if (pthread_barrier_init(&begun, nullptr, static_cast<unsigned>(threads)) != 0) std::abort();
  std::vector<std::thread> running;
  running.reserve(threads);
  for (std::size_t at = 0; at != threads; ++at)
    running.emplace_back([&begun, work, at] {
      pthread_barrier_wait(&begun);
      work(at);
    });
  for (std::thread& thread : running) thread.join();
  pthread_barrier_destroy(&begun);
}

void write(std::FILE* file, const char* name, const counts& all, const char* end) {
  std::fprintf(file, "\"%s\": [", name);
  for (std::size_t at = 0; at != all.size(); ++at)
    std::fprintf(file, at == 0 ? "%llu" : ", %llu", static_cast<unsigned long long>(all[at]));
  std::fprintf(file, "]%s", end);
}

int work(const std::string& file, const amounts& amounts) {
#ifdef COLLECTING
  const std::string written = file + "." + std::to_string(getpid()) + ".json";
  adaptyst::collector collector("overhead=none,context=none,report=none,output=" + written);
#endif
  tally passed(amounts);
  at_once(amounts.threads, [&](std::size_t thread) {
    for (std::size_t at = 0; at != amounts.rounds * amounts.paths; ++at) {
      const std::size_t path = (at * (2 * thread + 1) + thread) % amounts.paths;
      ADAPTYST_REGION("path " + std::to_string(path));
      ++passed.paths[path];
    }
    descend(passed.levels, 0);
  });
  for (std::size_t wave = 0; wave != amounts.waves; ++wave)
    at_once(amounts.threads, [&](std::size_t) {
      ADAPTYST_REGION("outer");
      ++passed.outer[0];
      ADAPTYST_REGION("inner");
      ++passed.inner[0];
    });
  std::FILE* const to = std::fopen((file + "." + std::to_string(getpid())).c_str(), "w");
  if (to == nullptr) return 1;
  std::fputs("{", to);
  write(to, "path", passed.paths, ", ");
  write(to, "level", passed.levels, ", ");
  write(to, "outer", passed.outer, ", ");
  write(to, "inner", passed.inner, "}\n");
  return std::fclose(to) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 8) return 2;
  const auto number = [&](int at) { return static_cast<std::size_t>(std::atol(arguments[at])); };
  const amounts amounts{number(3), number(4), number(5), number(6), number(7)};
  std::vector<pid_t> children;
  for (std::size_t child = 1; child < number(2); ++child) {
    pid_t made = -1;
    if (child % 2 == 0) {
      std::string alone = "1";
      char* const again[] = {arguments[0], arguments[1], alone.data(), arguments[3], arguments[4],
                             arguments[5], arguments[6], arguments[7], nullptr};
      if (posix_spawn(&made, arguments[0], nullptr, nullptr, again, environ) != 0) return 1;
    } else if ((made = fork()) == 0) {
      return work(arguments[1], amounts);
    }
    if (made < 0) return 1;
    children.push_back(made);
  }
  int result = work(arguments[1], amounts);
  for (const pid_t child : children) {
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) result = 1;
  }
  return result;
}
