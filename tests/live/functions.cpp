// Functions of programs without markers: exact counts, whatever way they are left.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "kernel/function_probes.hpp"
#include "model/region_list.hpp"
#include "support/error.hpp"

namespace {

using namespace adaptyst::lib;

const std::string& unmarked() {
  static const std::string file = std::string(std::getenv("ADAPTYST_TEST_PROGRAMS")) + "/unmarked";
  return file;
}

// A program that prints a line when it is ready, and begins when it gets one.
class program {
 public:
  explicit program(const std::vector<std::string>& command) {
    int to_it[2];
    int from_it[2];
    REQUIRE(pipe(to_it) == 0);
    REQUIRE(pipe(from_it) == 0);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ == 0) {
      dup2(to_it[0], STDIN_FILENO);
      dup2(from_it[1], STDOUT_FILENO);
      for (const int end : {to_it[0], to_it[1], from_it[0], from_it[1]}) close(end);
      std::vector<char*> words;
      for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
      words.push_back(nullptr);
      execvp(words.front(), words.data());
      _exit(127);
    }
    close(to_it[0]);
    close(from_it[1]);
    to_ = to_it[1];
    char last = 0;
    while (last != '\n' && read(from_it[0], &last, 1) == 1) {}
    close(from_it[0]);
    REQUIRE(last == '\n');
  }
  explicit program(const char* scenario) : program(std::vector<std::string>{unmarked(), scenario}) {}
  ~program() {
    if (pid_ > 0) finish();
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  pid_t pid() const { return pid_; }
  void begin() const { CHECK(write(to_, "\n", 1) == 1); }
  // Its status as waitpid() tells it.
  int finish() {
    if (to_ >= 0) close(std::exchange(to_, -1));
    int status = -1;
    waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  int run() {
    begin();
    return finish();
  }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
};

using counts = std::map<std::string, std::uint64_t>;

std::string spelled(const adaptyst::region& region) {
  std::string text;
  for (const std::string& name : region.path) text += (text.empty() ? "" : "/") + name;
  return text;
}

counts collect_counts(const measurements& all) {
  counts found;
  for (const adaptyst::region& region : assemble(all, {0}))
    if (region.count != 0) found[spelled(region)] = region.count;
  return found;
}

void check_account(const measurements& all) {
  std::uint64_t sum = all.accounting.ended + all.accounting.open;
  for (const auto& [why, count] : all.accounting.lost) sum += count;
  CHECK(sum == all.accounting.begun);
}

std::uint64_t lost(const measurements& all, adaptyst::loss_reason why) {
  const auto found = all.accounting.lost.find(why);
  return found != all.accounting.lost.end() ? found->second : 0;
}

function_options make_options(const program& observed) {
  function_options options;
  options.pid = observed.pid();
  return options;
}

measurements observe(const char* scenario, const std::vector<const char*>& globs, bool sessions) {
  program observed(scenario);
  function_options options = make_options(observed);
  options.sessions = sessions;
  function_probes probes(options);
  if (!sessions) CHECK(probes.mechanism() == "uprobe_multi, entry and return");
  std::vector<function_request> requests;
  for (const char* const glob : globs) requests.push_back({"unmarked", glob});
  const auto refused = probes.attach(unmarked(), requests);
  CHECK(refused.empty());
  CHECK(observed.run() == 0);
  measurements all = probes.read();
  probes.stop();
  CHECK(collect_counts(probes.read()) == collect_counts(all));
  check_account(all);
  return all;
}

// What a scenario leaves when these functions of it have probes, whichever way they are attached.
measurements observe(const char* scenario, const std::vector<const char*>& globs) {
  const measurements with_sessions = observe(scenario, globs, true);
  const measurements with_two_links = observe(scenario, globs, false);
  CHECK(collect_counts(with_sessions) == collect_counts(with_two_links));
  CHECK(with_sessions.accounting.lost == with_two_links.accounting.lost);
  CHECK(with_sessions.accounting.begun == with_two_links.accounting.begun);
  return with_sessions;
}

}  // namespace

TEST_CASE("functions nest in the functions that called them") {
  const measurements all = observe("nesting", {"root", "branch", "leaf"});
  CHECK(collect_counts(all) == counts{{"root", 10}, {"root/branch", 20}, {"root/branch/leaf", 60}, {"leaf", 5}});
  CHECK(all.accounting.begun == 95);
  CHECK(all.accounting.unmatched == 0);
  std::map<std::string, adaptyst::region> regions;
  for (const adaptyst::region& region : assemble(all, {0})) regions[spelled(region)] = region;
  const adaptyst::region& root = regions["root"];
  const adaptyst::region& branch = regions["root/branch"];
  const adaptyst::region& leaf = regions["root/branch/leaf"];
  CHECK(root.kind == adaptyst::region_kind::function);
  CHECK(root.site.function == "root");
  CHECK(root.site.file == "unmarked");
  CHECK(root.total_ns == root.self_ns + branch.total_ns);
  CHECK(branch.total_ns == branch.self_ns + leaf.total_ns);
  CHECK(leaf.total_ns == leaf.self_ns);
  CHECK(leaf.durations.count() == 60);
  CHECK(leaf.min_ns <= leaf.total_ns / 60);
  CHECK(leaf.max_ns >= leaf.total_ns / 60);
  CHECK(leaf.min_ns > 0);
}

TEST_CASE("a function that is not probed is passed over") {
  CHECK(collect_counts(observe("nesting", {"root", "leaf"})) == counts{{"root", 10}, {"root/leaf", 60}, {"leaf", 5}});
}

TEST_CASE("a recursion has a region for each level") {
  const counts found = collect_counts(observe("recursion", {"recurse", "leaf"}));
  counts expected;
  std::string path;
  for (int level = 0; level != 40; ++level) {
    path += level == 0 ? "recurse" : "/recurse";
    expected[path] = 10;
  }
  expected[path + "/leaf"] = 10;
  CHECK(found == expected);
}

TEST_CASE("a recursion beyond the kernel's return probes is counted as lost, and what comes later is right") {
  const measurements all = observe("deep_recursion", {"recurse", "root", "leaf"});
  CHECK(all.accounting.begun == 200 + 1 + 1 + 6);
  CHECK(all.accounting.ended == 64 + 1 + 6);
  CHECK(lost(all, adaptyst::loss_reason::function_too_deep) == 137);
  CHECK(lost(all, adaptyst::loss_reason::unmatched) == 0);
  const counts found = collect_counts(all);
  CHECK(found.at("root") == 1);
  CHECK(found.at("root/leaf") == 6);
  CHECK(found.at("recurse") == 1);
}

TEST_CASE("what longjmp leaves is dropped, and counted") {
  const measurements all = observe("jumps", {"jumps", "jumps_over", "alternate", "root", "leaf"});
  CHECK(collect_counts(all) == counts{{"root", 1}, {"root/leaf", 6}});
  CHECK(lost(all, adaptyst::loss_reason::unmatched) == 200);
  CHECK(all.accounting.open == 0);
}

TEST_CASE("a function that longjmp comes back to is counted") {
  const measurements all = observe("jumps_within", {"jumps", "jumps_within"});
  CHECK(collect_counts(all) == counts{{"jumps_within", 50}});
  CHECK(lost(all, adaptyst::loss_reason::unmatched) == 50);
}

TEST_CASE("a tail call nests") {
  CHECK(collect_counts(observe("tail", {"tail", "leaf"})) == counts{{"tail", 10}, {"tail/leaf", 10}});
}

TEST_CASE("an exception that is caught below a probe does no harm; a C++ function has none unless asked for") {
  CHECK(collect_counts(observe("exceptions", {"catches"})) == counts{{"catches", 30}});
  const program idle("nesting");
  function_options options = make_options(idle);
  function_probes careful(options);
  const auto refused = careful.attach(unmarked(), {{"unmarked", "passes_on(*)"}});
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].name == "passes_on(int)");
  CHECK(refused[0].why.reason.find("exception") != std::string::npos);
  CHECK(careful.attached() == 0);
  options.may_crash_on_exception = true;
  function_probes daring(options);
  CHECK(daring.attach(unmarked(), {{"unmarked", "passes_on(*)"}}).empty());
  CHECK(daring.attached() == 1);
}

TEST_CASE("every kind of entry is counted, and the function gets its arguments and returns to its caller") {
  counts expected;
  for (const char* const name :
       {"push", "high_push", "nop1", "nop5", "jump", "long_jump", "call", "protected_push", "protected_nop5"})
    expected[std::string("entry_") + name] = 20;
  CHECK(collect_counts(observe("entries", {"entry_*"})) == expected);

  program observed("entries");
  function_options options = make_options(observed);
  CHECK(function_probes(options).attach(unmarked(), {{"unmarked", "stepped_*"}}).size() == 2);
  options.single_stepped = true;
  function_probes all(options);
  CHECK(all.attach(unmarked(), {{"unmarked", "stepped_*"}}).empty());
  CHECK(observed.run() == 0);
  CHECK(collect_counts(all.read()) == counts{{"stepped_entry", 20}, {"stepped_protected_entry", 20}});
}

TEST_CASE("a child that is forked in a function with probes returns from it, unobserved") {
  CHECK(collect_counts(observe("forks", {"forks", "leaf"})) == counts{{"forks", 1}, {"leaf", 1}});
}

TEST_CASE("what cannot be attached to is reported with the system's reason, and what to do") {
  program gone("nesting");
  function_probes probes(make_options(gone));
  CHECK(gone.run() == 0);
  std::string message, hint;
  try {
    probes.attach(unmarked(), {{"unmarked", "root"}});
  } catch (const error& failed) {
    message = failed.summary();
    hint = failed.hint();
  }
  CHECK(message.find("cannot put probes on 1 functions of " + unmarked()) == 0);
  CHECK(message.find("ESRCH") != std::string::npos);
  CHECK_FALSE(hint.empty());
  CHECK(probes.attached() == 0);
  CHECK_THROWS_AS(probes.attach("/nonexistent/unmarked", {{"unmarked", "root"}}), error);
  CHECK(probes.attach("/nonexistent/other", {{"unmarked", "root"}}).empty());
}

TEST_CASE("threads have stacks of their own") {
  CHECK(collect_counts(observe("threads", {"root", "branch", "leaf"})) ==
        counts{{"root", 4000}, {"root/branch", 8000}, {"root/branch/leaf", 24000}});
}

TEST_CASE("only the process that is asked for is observed") {
  program observed("nesting");
  program other("nesting");
  function_probes probes(make_options(observed));
  CHECK(probes.attach(unmarked(), {{unmarked(), "root"}, {"elsewhere", "leaf"}}).empty());
  CHECK(other.run() == 0);
  CHECK(probes.read().accounting.begun == 0);
  CHECK(observed.run() == 0);
  CHECK(collect_counts(probes.read()) == counts{{"root", 10}});
}

TEST_CASE("all that a process starts is observed with it, and no other process") {
  program observed("family");
  const program other("nesting");
  function_options options = make_options(observed);
  options.with_children = true;
  function_probes probes(options);
  CHECK(probes.attach(unmarked(), {{"unmarked", "root"}, {"unmarked", "branch"}, {"unmarked", "leaf"}}).empty());
  other.begin();
  CHECK(observed.run() == 0);
  const measurements all = probes.read();
  check_account(all);
  CHECK(all.accounting.open == 0);
  const bool sessions = function_probes(function_options{}).mechanism() == "uprobe_multi, sessions";
  REQUIRE(probes.follows_children() == sessions);
  if (!sessions) {
    std::puts("SKIPPED: the kernel has no sessions");
    return;
  }
  CHECK(
      collect_counts(all) ==
      counts{{"leaf", 1}, {"branch", 1}, {"branch/leaf", 3}, {"root", 1}, {"root/branch", 2}, {"root/branch/leaf", 6}});
}

TEST_CASE("without sessions, only the process itself is observed") {
  program observed("family");
  function_options options = make_options(observed);
  options.with_children = true;
  options.sessions = false;
  function_probes probes(options);
  CHECK(!probes.follows_children());
  CHECK(probes.attach(unmarked(), {{"unmarked", "root"}, {"unmarked", "leaf"}}).empty());
  CHECK(observed.run() == 0);
  CHECK(probes.read().accounting.begun == 0);
}

TEST_CASE("a stranger that uses the same file may throw through what has probes") {
  const program observed("nesting");
  program other("exceptions");
  function_options options = make_options(observed);
  options.with_children = true;
  options.may_crash_on_exception = true;
  function_probes probes(options);
  CHECK(probes.attach(unmarked(), {{"unmarked", "passes_on(*)"}}).empty());
  CHECK(other.run() == 0);
  CHECK(probes.read().accounting.begun == 0);
}

TEST_CASE("a child may call what its parent has called at a 5-byte nop") {
  program observed("fast_forks");
  function_options options = make_options(observed);
  options.with_children = true;
  function_probes probes(options);
  CHECK(probes.attach(unmarked(), {{"unmarked", "entry_*"}}).empty());
  CHECK(observed.run() == 0);
  const std::uint64_t calls = probes.follows_children() ? 21 : 20;
  CHECK(collect_counts(probes.read()) == counts{{"entry_nop5", calls}, {"entry_protected_nop5", calls}});
}

TEST_CASE("every process, if so asked") {
  // Other tests run the program at the same time, and the probes count all processes: this test runs a copy.
  char folder[] = "/tmp/adaptyst-test-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string own = std::string(folder) + "/unmarked";
  REQUIRE(std::filesystem::copy_file(unmarked(), own));
  program first({own, "nesting"});
  program second({own, "nesting"});
  function_options options;
  options.pid = 0;
  function_probes probes(options);
  CHECK(probes.attach(own, {{"unmarked", "root"}}).empty());
  CHECK(first.run() == 0);
  CHECK(second.run() == 0);
  CHECK(collect_counts(probes.read()) == counts{{"root", 20}});
  std::filesystem::remove_all(folder);
}

TEST_CASE("attaching and detaching in mid-run harms neither the program nor the account") {
  program observed("loop");
  observed.begin();
  std::uint64_t ended = 0;
  for (int round = 0; round != 3; ++round) {
    function_probes probes(make_options(observed));
    CHECK(probes.attach(unmarked(), {{"unmarked", "root"}, {"unmarked", "branch"}, {"unmarked", "leaf"}}).empty());
    usleep(100'000);
    check_account(probes.read());
    probes.stop();
    const measurements all = probes.read();
    check_account(all);
    CHECK(all.accounting.open <= 3);
    ended += all.accounting.ended;
    for (const adaptyst::region& region : assemble(all, {0})) CHECK(region.max_ns < 10'000'000'000);
  }
  CHECK(ended > 1000);
  CHECK(observed.finish() == 0);
}

TEST_CASE("an observer that is killed leaves the program running") {
  program observed("loop");
  observed.begin();
  const pid_t observer = fork();
  REQUIRE(observer >= 0);
  if (observer == 0) {
    function_probes probes(make_options(observed));
    probes.attach(unmarked(), {{"unmarked", "root"}, {"unmarked", "branch"}, {"unmarked", "leaf"}});
    usleep(50'000);
    if (probes.read().accounting.ended > 100) raise(SIGKILL);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(observer, &status, 0) == observer);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  usleep(50'000);
  function_probes next(make_options(observed));
  CHECK(next.attach(unmarked(), {{"unmarked", "root"}}).empty());
  usleep(50'000);
  CHECK(next.read().accounting.ended > 100);
  CHECK(observed.finish() == 0);
}

TEST_CASE("five hundred functions are attached and counted at once") {
  program observed("generated");
  const auto before = std::chrono::steady_clock::now();
  function_probes probes(make_options(observed));
  const auto loaded = std::chrono::steady_clock::now();
  CHECK(probes.attach(unmarked(), {{"unmarked", "generated_*"}}).empty());
  const auto attached = std::chrono::steady_clock::now();
  CHECK(probes.attached() == 500);
  CHECK(probes.attach(unmarked(), {{"unmarked", "generated_0*"}}).empty());  // they have probes already
  CHECK(probes.attached() == 500);
  CHECK(observed.run() == 0);
  counts expected;
  for (unsigned i = 0; i != 500; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "generated_%03u", i);
    expected[name] = i % 7 + 1;
  }
  CHECK(collect_counts(probes.read()) == expected);
  CHECK(probes.read().accounting.unmatched == 0);
  const auto read = std::chrono::steady_clock::now();
  probes.stop();
  const auto detached = std::chrono::steady_clock::now();
  const auto ms = [](auto from, auto to) { return std::chrono::duration<double, std::milli>(to - from).count(); };
  std::printf("500 functions (%s): loaded in %.1f ms, attached in %.1f ms, detached in %.1f ms\n",
              probes.mechanism().c_str(), ms(before, loaded), ms(loaded, attached), ms(read, detached));
}

TEST_CASE("the system's zlib, as Python calls it") {
  program python({"/usr/bin/python3", "-c",
                  "import zlib, sys; print('ready', flush=True); sys.stdin.readline()\n"
                  "for i in range(100): zlib.decompress(zlib.compress(b'x' * 1000))"});
  std::string library;
  std::FILE* const maps = std::fopen(("/proc/" + std::to_string(python.pid()) + "/maps").c_str(), "r");
  REQUIRE(maps != nullptr);
  for (char line[4096]; std::fgets(line, sizeof line, maps) != nullptr;) {
    const std::string text(line, std::string(line).find('\n'));
    const std::size_t path = text.find('/');
    if (path != std::string::npos && is_for({"libz.so", "*"}, text.substr(path))) library = text.substr(path);
  }
  std::fclose(maps);
  if (library.empty()) {
    std::puts("SKIPPED: python3 here has a zlib of its own");
    return;
  }
  function_probes probes(make_options(python));
  probes.attach(library, {{"libz.so", "deflateInit2_"}, {"libz.so", "deflateEnd"}, {"libz.so", "inflateInit2_"}});
  REQUIRE(probes.attached() != 0);
  CHECK(python.run() == 0);
  const measurements all = probes.read();
  check_account(all);
  for (const auto& [name, count] : collect_counts(all)) {
    CAPTURE(name);
    CHECK(count == 100);
  }
  CHECK(all.accounting.ended == 100 * probes.attached());
}
