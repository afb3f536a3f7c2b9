// How errors read: what, why, and what to do about it.
#include "support/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "catch.hpp"

namespace {

using adaptyst::lib::error;

// What `act()` writes to standard error.
template <class Act>
std::string written(Act&& act) {
  std::FILE* const caught = std::tmpfile();
  REQUIRE(caught != nullptr);
  std::fflush(stderr);
  const int kept = dup(2);
  REQUIRE(dup2(fileno(caught), 2) == 2);
  act();
  std::fflush(stderr);
  REQUIRE(dup2(kept, 2) == 2);
  close(kept);
  std::rewind(caught);
  char buffer[4096];
  std::string text(buffer, std::fread(buffer, 1, sizeof buffer, caught));
  std::fclose(caught);
  return text;
}

}  // namespace

TEST_CASE("an error names what failed, the system's reason in words and by name, and a hint on a line of its own") {
  const error error_made("cannot attach to the probes of ./solver", EACCES, "needs CAP_BPF");
  CHECK(std::string(error_made.what()) ==
        "cannot attach to the probes of ./solver: Permission denied (EACCES)\nhint: needs CAP_BPF");
  CHECK(error_made.number() == EACCES);
}

TEST_CASE("an error has its parts, for those who show less than all of it") {
  const error error_made("cannot attach to the probes of ./solver", "./solver", EACCES, "needs CAP_BPF");
  CHECK(error_made.summary() == "cannot attach to the probes of ./solver: Permission denied (EACCES)");
  CHECK(error_made.subject() == "./solver");
  CHECK(error_made.number() == EACCES);
  CHECK(error_made.hint() == "needs CAP_BPF");
  CHECK(error_made.what() == error_made.summary() + "\nhint: " + error_made.hint());
  const error plain("it is too late", 0, "");
  CHECK(plain.summary() == plain.what());
  CHECK(plain.subject().empty());
  CHECK(plain.hint().empty());
}

TEST_CASE("what a file is called cannot make a second line, but is the subject as it is") {
  const error error_made("cannot read a\nhint: b", "a\nhint: b", ENOENT, "look\nelsewhere");
  CHECK(error_made.summary().find('\n') == std::string::npos);
  CHECK(error_made.hint().find('\n') == std::string::npos);
  CHECK(error_made.subject() == "a\nhint: b");
}

TEST_CASE("errors of others become ours, and ours stay as they are") {
  CHECK(adaptyst::lib::to_error(std::runtime_error("out of luck")).summary() == "out of luck");
  const error ours("cannot read x", "x", ENOENT, "look elsewhere");
  const error again = adaptyst::lib::to_error(ours);
  CHECK(again.subject() == "x");
  CHECK(again.number() == ENOENT);
  CHECK(again.hint() == "look elsewhere");
}

TEST_CASE("without a system error or a hint, none is told") {
  CHECK(std::string(error("unknown option 'x'", 0, "").what()) == "unknown option 'x'");
  CHECK(std::string(error("unknown option 'x'", 0, "none").what()) == "unknown option 'x'\nhint: none");
  CHECK(std::string(error("cannot open x", ENOENT, "").what()) == "cannot open x: No such file or directory (ENOENT)");
}

TEST_CASE("the kernel's ENOTSUPP, which bpf() returns, has a name") {
  const error refused("cannot load", 524, "");
  CHECK(refused.summary() == "cannot load: Not supported (ENOTSUPP)");
  CHECK(refused.number() == 524);
}

TEST_CASE("a number that the C library has no name for is told as a number") {
  for (const int number : {9999, -1}) {
    const error error_made("cannot load", number, "try again");
    const std::string& message = error_made.summary();
    CAPTURE(message);
    CHECK(message.rfind("cannot load: ", 0) == 0);
    CHECK(message.find(std::to_string(number)) != std::string::npos);
    CHECK(error_made.hint() == "try again");
  }
}

TEST_CASE("texts are told as they are") {
  CHECK(std::string(error("{} {0} %s", EPERM, "{}").what()) == "{} {0} %s: Operation not permitted (EPERM)\nhint: {}");
}

TEST_CASE("a message is printed behind the program's name, its further lines indented below it") {
  CHECK(written([] { adaptyst::lib::complain("one line"); }) == "adaptyst: one line\n");
  CHECK(written([] { adaptyst::lib::complain("one\nhint: two\nthree"); }) ==
        "adaptyst: one\n          hint: two\n          three\n");
  CHECK(written([] { adaptyst::lib::complain("%s {} %n"); }) == "adaptyst: %s {} %n\n");
}
