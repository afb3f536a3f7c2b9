// Names and values that a program tells of its run, also across fork() and beyond the room for them.
#include <adaptyst/metric.hpp>
#include <adaptyst/region.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collecting.hpp"

TEST_CASE("what a program says of its run stands in its profile, whether said before or after the start") {
  adaptyst::metadata("mesh", "512^3");
  const char half_filled[64] = "of an array";
  errno = 7;
  adaptyst::collector collector(support::options());
  adaptyst::metadata(std::string("solver"), std::string_view("multigrid"));
  adaptyst::metadata("input", half_filled);
  adaptyst::metadata("solver", "jacobi");
  adaptyst::metadata("long", std::string(500, 'x'));
  { ADAPTYST_REGION("step"); }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.metadata.at("mesh") == "512^3");
  CHECK(profile.metadata.at("solver") == "jacobi");
  CHECK(profile.metadata.at("input") == "of an array");
  CHECK(profile.metadata.at("long") == std::string(255, 'x'));
  CHECK_FALSE(profile.metadata_lost.has_value());
  CHECK_FALSE(profile.version.empty());
  REQUIRE(profile.processes.size() == 1);
  CHECK_FALSE(profile.processes[0].arguments.empty());
  CHECK(profile.processes[0].started.size() == std::string("2026-01-31T12:00:00Z").size());
  CHECK(profile.date() == profile.processes[0].started);
}

namespace {

template <class Question>
bool holds_in_child(Question&& question) {
  const pid_t child = fork();
  if (child == 0) _exit(question() ? 0 : 1);
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

bool has_only_own_metadata() {
  adaptyst::metadata("own", "yes");
  adaptyst::collector collector("engine=inline,report=none");
  const adaptyst::profile profile = collector.stop();
  return profile.metadata.size() == 1 && profile.metadata.count("own") == 1;
}

}  // namespace

TEST_CASE("a forked child has none of what its parent has said, wherever its memory is") {
  for (const rlim_t file_bytes : {RLIM_INFINITY, rlim_t{100'000}}) {  // with the latter, of no file
    CAPTURE(file_bytes);
    CHECK(holds_in_child([&] {
      const rlimit limit{file_bytes, file_bytes};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
      adaptyst::metadata("of", "the parent");
      return holds_in_child(&has_only_own_metadata);
    }));
  }
}

// The last: a process has room for 64 calls, and there is no way back.
TEST_CASE("what a process has no room for is counted") {
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 4; ++thread)
    threads.emplace_back([thread] {
      for (int at = 0; at != 30; ++at)
        adaptyst::metadata("thread " + std::to_string(thread) + " at " + std::to_string(at), "value");
    });
  for (std::thread& thread : threads) thread.join();
  adaptyst::collector collector(support::options());
  const adaptyst::profile profile = collector.stop();
  CHECK(profile.metadata.size() <= 64);
  CHECK(profile.metadata.size() >= 60);
  REQUIRE(profile.metadata_lost.has_value());
  CHECK(*profile.metadata_lost >= 56);
}
