// Functions without markers and markers in one call tree, seen by a collector in the program.
#include <adaptyst/collector.hpp>
#include <adaptyst/metric.hpp>
#include <adaptyst/payload.hpp>
#include <adaptyst/profile.hpp>
#include <adaptyst/region.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "catch.hpp"
#include "collecting.hpp"

// So that the first instruction is one at which a probe is cheap, with any options of the compiler.
#ifdef __clang__
#define PROBED extern "C" __attribute__((noinline, no_sanitize("address", "undefined")))
#else
#define PROBED extern "C" __attribute__((noinline, noclone, no_sanitize("address", "undefined")))
#endif
#define SAVES_A_REGISTER() __asm__ volatile("" : : : "rbx", "memory")

namespace {

struct load {
  std::uint64_t bytes;
};

std::jmp_buf out;

}  // namespace

PROBED void nested_leaf() { SAVES_A_REGISTER(); }

PROBED void nested_step() {
  SAVES_A_REGISTER();
  for (int at = 0; at != 5; ++at) {
    ADAPTYST_REGION("inner", load{8});
    nested_leaf();
    ADAPTYST_METRIC("residual", 0.5);
  }
}

PROBED void nested_alone() {
  SAVES_A_REGISTER();
  ADAPTYST_REGION("below no marker");
  ADAPTYST_REGION("deeper");
  nested_leaf();
}

PROBED void nested_jump() {
  SAVES_A_REGISTER();
  ADAPTYST_REGION("left");
  std::longjmp(out, 1);
}

PROBED void nested_begin(adaptyst::region_handle& begun) {
  SAVES_A_REGISTER();
  begun = ADAPTYST_HANDLE_BEGIN("by hand");
}

namespace {

// One line each, so that a failing comparison shows them.
std::string counts(const adaptyst::profile& in) {
  std::map<std::string, std::uint64_t> all;
  for (const adaptyst::region& region : in.regions) {
    std::string path;
    for (const std::string& name : region.path) path += (path.empty() ? "" : "/") + name;
    if (region.count != 0) all[path] += region.count;
  }
  std::string text;
  for (const auto& [path, count] : all) text += path + " " + std::to_string(count) + "\n";
  return text;
}

std::string options() { return support::options() + ",functions=/proc/self/exe:nested_*"; }

}  // namespace

TEST_CASE("functions stand below markers, and markers below functions") {
  adaptyst::collector collector(options());
  for (int at = 0; at != 3; ++at) {
    ADAPTYST_REGION("solve");
    nested_step();
    nested_step();
  }
  nested_alone();
  const adaptyst::profile all = collector.stop();
  REQUIRE(collector.error() == nullptr);
  CHECK(counts(all) ==
        "nested_alone 1\n"
        "nested_alone/below no marker 1\n"
        "nested_alone/below no marker/deeper 1\n"
        "nested_alone/below no marker/deeper/nested_leaf 1\n"
        "solve 3\n"
        "solve/nested_step 6\n"
        "solve/nested_step/inner 30\n"
        "solve/nested_step/inner/nested_leaf 30\n");
  support::check_identity(all);
  CHECK(all.accounting.lost.empty());

  const adaptyst::region& solve = support::find(all, {"solve"});
  const adaptyst::region& step = support::find(all, {"solve", "nested_step"});
  const adaptyst::region& inner = support::find(all, {"solve", "nested_step", "inner"});
  const adaptyst::region& leaf = support::find(all, {"solve", "nested_step", "inner", "nested_leaf"});
  CHECK(step.kind == adaptyst::region_kind::function);
  CHECK(solve.self_ns == solve.total_ns - step.total_ns);
  CHECK(step.self_ns == step.total_ns - inner.total_ns);
  CHECK(inner.self_ns == inner.total_ns - leaf.total_ns);
  CHECK(inner.attributes.at("bytes").sum == 240);
  CHECK(inner.attributes.at("residual").count == 30);
  CHECK(inner.threads == 1);
}

TEST_CASE("a region that is left by longjmp takes nothing with it") {
  adaptyst::collector collector(options());
  for (volatile int at = 0; at != 10; ++at) {
    ADAPTYST_REGION("solve");
    if (setjmp(out) == 0) nested_jump();
    nested_leaf();
  }
  const adaptyst::profile all = collector.stop();
  CHECK(counts(all) ==
        "solve 10\n"
        "solve/nested_leaf 10\n");
  CHECK(support::lost(all, adaptyst::loss_reason::unmatched) == 20);  // ten functions, ten markers
  support::check_identity(all);
}

TEST_CASE("a region that is ended by hand belongs to the markers alone: it may end anywhere") {
  adaptyst::collector collector(options());
  ADAPTYST_REGION("solve");
  for (int at = 0; at != 4; ++at) {
    adaptyst::region_handle begun;
    nested_begin(begun);
    std::thread([&] { begun.end(); }).join();
  }
  const std::string found = counts(collector.stop());
  CHECK(found ==
        "solve/by hand 4\n"
        "solve/nested_begin 4\n");
}

TEST_CASE("threads that come and go are each found in their markers") {
  adaptyst::collector collector(options());
  for (int at = 0; at != 50; ++at)
    std::thread([] {
      ADAPTYST_REGION("worker");
      nested_leaf();
    }).join();
  const adaptyst::profile all = collector.stop();
  CHECK(counts(all) ==
        "worker 50\n"
        "worker/nested_leaf 50\n");
}

TEST_CASE("a marker that runs in several functions has a row below each") {
  adaptyst::collector collector(options());
  nested_step();
  {
    ADAPTYST_REGION("solve");
    nested_step();
  }
  const adaptyst::profile all = collector.stop();
  CHECK(counts(all) ==
        "nested_step 1\n"
        "nested_step/inner 5\n"
        "nested_step/inner/nested_leaf 5\n"
        "solve 1\n"
        "solve/nested_step 1\n"
        "solve/nested_step/inner 5\n"
        "solve/nested_step/inner/nested_leaf 5\n");
}

TEST_CASE("a forked child does not keep the probes of its parent") {
  adaptyst::collector collector(options());
  const auto links = [] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(entry.path(), gone).string().find("bpf_link") != std::string::npos) ++count;
    }
    return count;
  };
  CHECK(links() >= 2);  // of markers, of functions
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(links());
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("what is named and not there is said, and the markers are observed all the same") {
  adaptyst::collector collector(support::options() + ",functions=/proc/self/exe:no_such_*");
  { ADAPTYST_REGION("solve"); }
  CHECK(counts(collector.stop()) == "solve 1\n");
}
