// Names for addresses: against what the linker says of this very program, and of programs that have lost their names.
#include <dlfcn.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/adapter/code_name.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "symbolise/construct_names.hpp"
#include "symbolise/symboliser.hpp"

using adaptyst::lib::construct_names;
using adaptyst::lib::file_symbols;
using adaptyst::lib::for_each_mapping;
using adaptyst::lib::mapping;
using adaptyst::lib::symboliser;

namespace wave {
constexpr unsigned line_of_flux = __LINE__ + 1;
__attribute__((noinline)) int flux(int x) { return x * 3 + 1; }
static __attribute__((noinline)) int hidden(int x) { return flux(x) * 5; }
}  // namespace wave

namespace {

std::uint64_t as_address(int (*function)(int)) { return reinterpret_cast<std::uint64_t>(function); }

// A program that is started, says where its functions are, and waits to be ended.
class child {
 public:
  explicit child(const std::string& program) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(ends[1], 1);
      execl(program.c_str(), program.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    std::string text;
    char character = 0;
    while (read(ends[0], &character, 1) == 1 && character != '\n') text += character;
    close(ends[0]);
    std::istringstream(text) >> std::hex >> open_function >> hidden_function >> inner_function;
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { end(); }
  void end() {
    if (pid_ > 0) {
      kill_it();
      waitpid(pid_, nullptr, 0);
    }
    pid_ = -pid_;
  }
  // Until end() it is there, without a program.
  void kill_it() {
    kill(pid_, SIGKILL);
    siginfo_t how;
    waitid(P_PID, static_cast<id_t>(pid_), &how, WEXITED | WNOWAIT);
  }
  pid_t id() const { return pid_ > 0 ? pid_ : -pid_; }

  std::uint64_t open_function = 0, hidden_function = 0, inner_function = 0;

 private:
  pid_t pid_ = -1;
};

std::string make_copy(const std::string& program, const std::string& command) {
  std::string name = "/tmp/adaptyst-symbolise-" + std::to_string(getpid());
  REQUIRE(std::system((command + " " + program + " " + name).c_str()) == 0);
  return name;
}

}  // namespace

TEST_CASE("functions of this program and its libraries have their names") {
  if (!file_symbols::are_read()) return;
  CHECK(wave::hidden(2) == 35);
  symboliser names;
  names.note_mappings(getpid());
  CHECK(names.find_name(getpid(), as_address(&wave::flux)) == "wave::flux(int)");
  CHECK(names.find_name(getpid(), as_address(&wave::flux) + 1) == "wave::flux(int)");
  CHECK(names.find_name(getpid(), as_address(&wave::hidden)) == "wave::hidden(int)");
  void* const found = dlsym(RTLD_DEFAULT, "qsort");
  REQUIRE(found != nullptr);
  CHECK(names.find_name(getpid(), reinterpret_cast<std::uint64_t>(found)).find("qsort") != std::string::npos);
}

TEST_CASE("what an adapter knows by its address is called by where it stands in the source") {
  char name[128];
  const auto* const code = reinterpret_cast<const char*>(as_address(&wave::flux)) + 1;
  adaptyst::write_code_name(name, "target update", code);
  CHECK(std::string(name).find("target update @unit_tests+0x") == 0);
  construct_names names;
  names.note_mappings(getpid());
  names.expect(getpid(), "/usr/lib/libadaptyst.so");
  CHECK(!names.are_expected());
  CHECK(names.spelled(name) == name);
  names.expect(getpid(), "/usr/lib/libadaptyst-ompt.so");
  CHECK(names.are_expected());
  adaptyst::profile in;
  in.regions.resize(2);
  in.regions[0].path = {name};
  in.regions[1].path = {name, "thread"};
  in.processes.resize(1);
  in.processes[0].ended_in = {{{name}, 1, 0}};
  names.spell(in);
  if (!file_symbols::are_read()) {
    CHECK(in.regions[0].path[0] == name);
    return;
  }
  CHECK(in.regions[0].path[0] == "flux symbolise.cpp:" + std::to_string(wave::line_of_flux) + " target update");
  CHECK(in.regions[0].site.line == wave::line_of_flux);
  CHECK(in.regions[0].site.function == "flux");
  CHECK(in.regions[1].path == std::vector<std::string>{in.regions[0].path[0], "thread"});
  CHECK(in.processes[0].ended_in[0].path == in.regions[0].path);
  for (const char* const other : {"solve @home", "a @unit_tests+0x", "b @unit_tests+0xg", "c @unit_tests+0x0",
                                  "d @no_such_file+0x1234", "e @unit_tests+0x11111111111111111", " @+0x1"})
    CHECK(names.spelled(other) == other);
}

TEST_CASE("without debugging information it is a function and an offset") {
  if (!file_symbols::are_read()) return;
  const std::string program = make_copy(ADAPTYST_TEST_PROGRAM, "objcopy -g");
  child process(program);
  REQUIRE(process.open_function != 0);
  construct_names names;
  names.expect(process.id(), "libadaptyst-ompt.so");
  std::uint64_t base = 0;
  for_each_mapping(process.id(), [&](const mapping& piece) {
    if (base == 0 && piece.path == program) base = piece.begin;
  });
  std::remove(program.c_str());
  std::ostringstream name;
  name << "loop @" << program.substr(program.rfind('/') + 1) << "+0x" << std::hex << process.open_function - base + 3;
  CHECK(names.spelled(name.str()) == "open_function+0x3 loop");
}

TEST_CASE("what is no file says what it is") {
  void* const made = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(made != MAP_FAILED);
  symboliser names;
  names.note_mappings(getpid());
  CHECK(names.find_name(getpid(), reinterpret_cast<std::uint64_t>(made) + 8) == "[anonymous code]");
  CHECK(names.find_name(getpid(), getauxval(AT_SYSINFO_EHDR) + 1024) == "[vdso]");
  CHECK(names.find_name(getpid(), 64) == "[unknown]");
  munmap(made, 4096);
  CHECK(names.find_name(getpid(), reinterpret_cast<std::uint64_t>(made) + 16) == "[anonymous code]");
  symboliser empty;
  empty.note_mappings(-1);
  CHECK(empty.find_name(-1, as_address(&wave::flux)) == "[unknown]");
}

TEST_CASE("a process that has ended still has its names, and so has a file that was deleted meanwhile") {
  if (!file_symbols::are_read()) return;
  const std::string program = make_copy(ADAPTYST_TEST_PROGRAM, "cp");
  child process(program);
  REQUIRE(process.open_function != 0);
  symboliser names;
  names.note_mappings(process.id());
  std::remove(program.c_str());
  process.kill_it();
  names.note_mappings(process.id());
  process.end();
  names.note_mappings(process.id());
  CHECK(names.find_name(process.id(), process.open_function) == "open_function");
  CHECK(names.find_name(process.id(), process.hidden_function) == "hidden_function");
}

TEST_CASE("in a stripped file only what it exports has a name: never that of a neighbour") {
  if (!file_symbols::are_read()) return;
  const std::string program = make_copy(ADAPTYST_TEST_PROGRAM, "cp");
  REQUIRE(std::system(("strip " + program).c_str()) == 0);
  child process(program);
  REQUIRE(process.open_function != 0);
  symboliser names;
  names.note_mappings(process.id());
  CHECK(names.find_name(process.id(), process.open_function) == "open_function");
  const std::string& hidden = names.find_name(process.id(), process.hidden_function);
  CHECK(hidden.find("adaptyst-symbolise-") == 0);
  CHECK(hidden.find("+0x") != std::string::npos);
  // A function that only the unwinding tables know is one place, wherever in it a sample was taken; no other is that
  // place.
  const std::string& inner = names.find_name(process.id(), process.inner_function);
  CHECK(names.find_name(process.id(), process.inner_function + 5) == inner);
  CHECK(inner != hidden);
  CHECK(names.find_name(process.id(), process.hidden_function + 1) != hidden);
  const std::vector<std::string> remarks = names.remarks();
  REQUIRE(remarks.size() == 1);
  CHECK(remarks.front().find("stripped: adaptyst-symbolise-") == 0);
  std::remove(program.c_str());
}

namespace {

// A process that has loaded a library, with the addresses of two functions in it.
class library_user {
 public:
  explicit library_user(const std::string& library) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if SIGBUS ends the test
      void* const opened = dlopen(library.c_str(), RTLD_NOW);
      void* const found[2] = {opened != nullptr ? dlvsym(opened, "answer", "TEST_1") : nullptr,
                              opened != nullptr ? dlvsym(opened, "answer", "TEST_2") : nullptr};
      if (write(ends[1], found, sizeof found) == static_cast<ssize_t>(sizeof found)) pause();
      _exit(1);
    }
    void* found[2] = {};
    CHECK(read(ends[0], found, sizeof found) == static_cast<ssize_t>(sizeof found));
    close(ends[0]);
    close(ends[1]);
    first = reinterpret_cast<std::uint64_t>(found[0]);
    second = reinterpret_cast<std::uint64_t>(found[1]);
  }
  ~library_user() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  library_user(const library_user&) = delete;
  library_user& operator=(const library_user&) = delete;
  pid_t id() const { return pid_; }

  std::uint64_t first = 0, second = 0;

 private:
  pid_t pid_ = -1;
};

bool is_named(const std::string& name) { return name.find("answer") != std::string::npos; }

}  // namespace

TEST_CASE("a file that is cut while its symbols are read has no more names, and other files keep theirs") {
  if (!file_symbols::are_read()) return;
  const std::string library = make_copy(ADAPTYST_TEST_LIBRARY, "cp");
  const library_user process(library), other(ADAPTYST_TEST_LIBRARY);
  REQUIRE(process.second != 0);
  REQUIRE(other.second != 0);
  symboliser names;
  names.note_mappings(process.id());
  names.note_mappings(other.id());
  CHECK(is_named(names.find_name(process.id(), process.first)));
  REQUIRE(truncate(library.c_str(), 0) == 0);
  CHECK(names.find_name(process.id(), process.second).find("adaptyst-symbolise-") == 0);
  CHECK(is_named(names.find_name(other.id(), other.first)));
  CHECK(is_named(names.find_name(other.id(), other.second)));
  REQUIRE(!names.remarks().empty());
  CHECK(names.remarks().back().find("functions without names: adaptyst-symbolise-") == 0);
  std::remove(library.c_str());
}

namespace wave {
inline __attribute__((always_inline)) int inner(int x) { return flux(x) + flux(x + 1); }
inline __attribute__((always_inline)) int outer(int x) { return inner(x) * 7; }
__attribute__((noinline)) int area(int x) { return outer(x); }
}  // namespace wave

namespace {

// The functions at addresses of this program, from addr2line: innermost first.
std::vector<std::vector<std::string>> ask_addr2line(std::uint64_t begin, std::size_t count) {
  Dl_info info;
  REQUIRE(dladdr(reinterpret_cast<void*>(begin), &info) != 0);
  std::ostringstream command;
  command << "addr2line -aifC -e /proc/" << getpid() << "/exe" << std::hex;
  for (std::size_t at = 0; at != count; ++at)
    command << " 0x" << begin + at - reinterpret_cast<std::uint64_t>(info.dli_fbase);
  std::vector<std::vector<std::string>> made;
  FILE* const answers = popen(command.str().c_str(), "r");
  REQUIRE(answers != nullptr);
  bool is_function = true;  // a line of each pair
  for (char line[4096]; std::fgets(line, sizeof line, answers) != nullptr;) {
    std::string text(line);
    text.pop_back();
    if (text.compare(0, 2, "0x") == 0) {
      made.emplace_back();
      is_function = true;
    } else if (!made.empty()) {
      if (is_function) made.back().push_back(text);
      is_function = !is_function;
    }
  }
  pclose(answers);
  return made;
}

}  // namespace

TEST_CASE("inlined functions are named, innermost first, as by addr2line") {
  if (!file_symbols::are_read()) return;
  CHECK(wave::area(1) == 77);
  symboliser names;
  names.note_mappings(getpid());
  constexpr std::size_t bytes = 40;  // the function has more
  const std::uint64_t begin = as_address(&wave::area);
  const std::vector<std::vector<std::string>> expected = ask_addr2line(begin, bytes);
  REQUIRE(expected.size() == bytes);
  std::size_t inlined = 0;
  for (std::size_t at = 0; at != bytes; ++at) {
    CAPTURE(at);
    CHECK(names.find_names(getpid(), begin + at) == expected[at]);
    if (expected[at].size() == 3) ++inlined;
  }
  CHECK(inlined > 0);
}
