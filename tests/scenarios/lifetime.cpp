// Collectors that stop twice, never, late or in a child; objects that come and go.
#include <adaptyst/options.hpp>
#include <adaptyst/region.hpp>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "collecting.hpp"

TEST_CASE("stopping again returns the same, and another collector begins at nothing") {
  adaptyst::collector first(support::options());
  { ADAPTYST_REGION("first"); }
  const adaptyst::profile once = first.stop();
  const adaptyst::profile twice = first.stop();
  support::check_account(once);
  CHECK(support::find(twice, {"first"}).count == 1);
  CHECK(first.snapshot().accounting.begun == 1);
  { ADAPTYST_REGION("between"); }
  adaptyst::collector second(support::options());
  { ADAPTYST_REGION("second"); }
  const adaptyst::profile profile = second.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 1);
  CHECK(support::find(profile, {"second"}).count == 1);
}

TEST_CASE("a second collector is refused while the first goes on") {
  adaptyst::collector first(support::options());
  CHECK(first.error() == nullptr);
  {
    adaptyst::collector second(support::options());
    REQUIRE(second.error() != nullptr);
    CHECK(second.error()->summary().find("second collector") != std::string::npos);
    CHECK_FALSE(second.error()->hint().empty());
    CHECK(second.stop().regions.empty());
  }
  { ADAPTYST_REGION("still seen"); }
  CHECK(support::find(first.stop(), {"still seen"}).count == 1);
}

TEST_CASE("a collector takes values as it takes text, and what is wrong in either does not stop it") {
  adaptyst::options options = adaptyst::parse_options(support::options());
  options.overhead = 7;  // a share, no percentage
  options.trace_events = 4096;
  for (const bool as_text : {false, true}) {
    CAPTURE(as_text);
    std::optional<adaptyst::collector> collector;
    if (as_text) collector.emplace(support::options() + std::string(",overhaed=7%,trace_events=4096"));
    else collector.emplace(options);
    CHECK(collector->error() == nullptr);
    { ADAPTYST_REGION("seen"); }
    const adaptyst::profile profile = collector->stop();
    CHECK(support::find(profile, {"seen"}).count == 1);
    CHECK(profile.options.at("trace_events") == "4096");
    CHECK(profile.options.count("overhead") == (as_text ? 1 : 0));  // none, and the default
  }
}

TEST_CASE("regions that are open when a collector starts or stops are not recorded, and do no harm") {
  auto early = std::make_unique<adaptyst::collector>(support::options());
  {
    ADAPTYST_REGION("straddles");
    const adaptyst::profile before = early->stop();
    support::check_account(before);
    CHECK(before.accounting.open == 1);
    adaptyst::collector late(support::options());
    { ADAPTYST_REGION("inside"); }
    const adaptyst::profile now = late.snapshot();
    support::check_account(now);
    CHECK(now.accounting.begun == 1);
    CHECK(now.accounting.open == 0);
    CHECK(support::find(now, {"straddles", "inside"}).count == 1);
  }
}

TEST_CASE("a path is that of its own collector: neither rows nor guesses outlive one") {
  const auto inner = [] { ADAPTYST_REGION("inner"); };
  auto first = std::make_unique<adaptyst::collector>(support::options());
  std::unique_ptr<adaptyst::collector> second;
  {
    ADAPTYST_REGION("outer");
    inner();
    {
      ADAPTYST_REGION("middle");
      inner();
      inner();
      first.reset();
      second = std::make_unique<adaptyst::collector>(support::options());
      inner();
    }
    inner();  // as often before, and now below another region
  }
  inner();
  inner();
  const adaptyst::profile profile = second->stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 3);
  CHECK(support::find(profile, {"outer", "middle", "inner"}).count == 1);
  CHECK(support::find(profile, {"outer", "inner"}).count == 1);
  CHECK(support::find(profile, {"inner"}).count == 2);
}

TEST_CASE("a child of fork runs on unobserved, and the parent's account is its own") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 100; ++i) {
    ADAPTYST_REGION("before");  // the kernel has put its call into the code
  }
  {
    ADAPTYST_REGION("parent");
    const pid_t child = fork();
    if (child == 0) {
      for (int i = 0; i != 1000; ++i) {
        ADAPTYST_REGION("child");
      }
      std::thread([] { ADAPTYST_REGION("child's thread"); }).join();
      if (collector.snapshot().regions.size() + collector.stop().regions.size() != 0) _exit(2);
      // A child may look at itself.
      adaptyst::collector own("report=none,engine=auto");
      { ADAPTYST_REGION("child"); }
      _exit(own.stop().accounting.ended == 1 ? 0 : 3);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  { ADAPTYST_REGION("parent, later"); }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  REQUIRE(profile.regions.size() == 3);
  CHECK(support::find(profile, {"parent"}).count == 1);
  CHECK(support::find(profile, {"parent, later"}).count == 1);
}

TEST_CASE("exec from an observed program is sane on both sides") {
  adaptyst::collector collector(support::options());
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/true", "true", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  support::check_account(collector.stop());
}

TEST_CASE("libraries that are loaded and unloaded meanwhile are observed, below the regions of their callers") {
  adaptyst::collector collector(support::options());
  for (int round = 0; round != 3; ++round) {
    ADAPTYST_REGION("host");
    void* const plugin = dlopen(ADAPTYST_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    REQUIRE(plugin != nullptr);
    const auto run = reinterpret_cast<void (*)(int)>(dlsym(plugin, "run"));
    REQUIRE(run != nullptr);
    run(100);
    dlclose(plugin);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"host"}).count == 3);
  const adaptyst::region& row = support::find(profile, {"host", "plugin"});
  CHECK(row.count == 300);
  CHECK(row.site.file.find("plugin.cpp") != std::string::npos);
}

TEST_CASE("a collector that is not stopped is stopped by its end, also as a static object") {
  static adaptyst::collector never_stopped("report=none,engine=off");
  CHECK(never_stopped.error() == nullptr);
  CHECK(never_stopped.stop().engine == "off");
}
