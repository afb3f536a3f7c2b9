// An MPI program whose ranks have known times, and end their collector in several ways: uneven_ranks WAY [LIMIT_S]
//
// Rank r sleeps r + 1 times 2 ms in `work`, 5 times; the odd ranks have a region of their own. Each rank prints what `work`
// took by its own clock, read inside and outside of the region: it may lose its core between both. With `short` it then has regions that hold next to nothing for two seconds: an observer that shares
// two CPUs with four busy ranks and other tests needs time to see what they cost. With `late` rank 0 comes to the merge later
// than the others by one and a half times the limit, and their messages are too long to be sent before it is there.
#include <adaptyst/mpi.hpp>
#include <adaptyst/region.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

struct bounds {
  std::chrono::nanoseconds inside{0}, outside{0};
};

bounds work(int rank) {
  using clock = std::chrono::steady_clock;
  bounds took;
  for (int step = 0; step != 5; ++step) {
    const auto before = clock::now();
    {
      ADAPTYST_REGION("work");
      const auto begin = clock::now();
      std::this_thread::sleep_for(std::chrono::milliseconds(2 * (rank + 1)));
      took.inside += clock::now() - begin;
    }
    took.outside += clock::now() - before;
  }
  if (rank % 2 != 0) {
    ADAPTYST_REGION("odd");
  }
  return took;
}

void work_in_short_regions() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (std::chrono::steady_clock::now() < end) {
    for (int step = 0; step != 1000; ++step) {
      ADAPTYST_REGION("short");
    }
  }
}

void have_many_regions() {
  for (int number = 0; number != 1000; ++number) {
    ADAPTYST_REGION("number " + std::to_string(number));
  }
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view way = count > 1 ? arguments[1] : "finalize";
  const std::chrono::seconds limit(count > 2 ? std::atoi(arguments[2]) : 30);
  MPI_Init(&count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = 0;
  {
    MPI_Comm group = MPI_COMM_WORLD;
    if (way == "split") MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &group);  // of which the last rank is the first
    adaptyst::mpi::collector collector(group, "", limit);
    const bounds took = work(rank);
    std::printf("rank %d: %lld to %lld ns\n", rank, static_cast<long long>(took.inside.count()),
                static_cast<long long>(took.outside.count()));
    std::fflush(stdout);
    if (way == "short") work_in_short_regions();
    if (way == "late") have_many_regions();
    if (way == "late" && rank == 0) std::this_thread::sleep_for(limit * 3 / 2);
    if (way == "stuck" && rank == 1) std::this_thread::sleep_for(2 * limit);
    if (way == "exit") {
      MPI_Barrier(MPI_COMM_WORLD);
      std::exit(7);
    }
    if (way == "abort") MPI_Abort(MPI_COMM_WORLD, 5);
    if (way == "stop") {
      const adaptyst::profile all = collector.stop();
      const bool is_first = rank == 0;
      if (all.ranks.has_value() != is_first || collector.stop().ranks != all.ranks) status = 9;
    }
    if (way == "finalize") {
      MPI_Finalize();
      return status;
    }
  }
  MPI_Finalize();
  return status;
}
