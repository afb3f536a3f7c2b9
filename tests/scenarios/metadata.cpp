#include <adaptyst/metadata.hpp>
#include <adaptyst/region.hpp>
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

// The last: a process has room for 64 calls, and there is no way back.
TEST_CASE("what a process has no room for is counted") {
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 4; ++thread)
    threads.emplace_back([thread] {
      for (int at = 0; at != 30; ++at)
        adaptyst::metadata("thread " + std::to_string(thread) + " at " + std::to_string(at), "value");
    });
  for (std::thread& one : threads) one.join();
  adaptyst::collector collector(support::options());
  const adaptyst::profile profile = collector.stop();
  CHECK(profile.metadata.size() <= 64);
  CHECK(profile.metadata.size() >= 60);
  REQUIRE(profile.metadata_lost.has_value());
  CHECK(*profile.metadata_lost >= 56);
}
