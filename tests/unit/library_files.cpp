// Which files a request for functions finds, with libraries laid out as systems and users lay them out.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"
#include "discover/function_request.hpp"
#include "discover/library_files.hpp"
#include "discover/program_libraries.hpp"
#include "sanitized.hpp"

namespace {

using namespace adaptyst::lib;
namespace fs = std::filesystem;
using strings = std::vector<std::string>;

class folder {
 public:
  folder() {
    const char* const temporary = std::getenv("TMPDIR");
    std::string name = std::string(temporary != nullptr ? temporary : "/tmp") + "/adaptyst-libraries-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = fs::canonical(name);
  }
  ~folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

  std::string add_library(const std::string& name) const {
    fs::create_directories((path_ / name).parent_path());
    fs::copy_file(ADAPTYST_TEST_LIBRARY, path_ / name);
    return *this / name;
  }
  std::string text(const std::string& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << content;
    return *this / name;
  }

 private:
  fs::path path_;
};

class environment {
 public:
  environment(const char* name, const std::string& value) : name_(name) {
    const char* const before = std::getenv(name);
    if (before != nullptr) before_ = before;
    had_ = before != nullptr;
    setenv(name, value.c_str(), 1);
  }
  ~environment() {
    if (had_) setenv(name_, before_.c_str(), 1);
    else unsetenv(name_);
  }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

strings sorted(strings files) {
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

TEST_CASE("a path is taken as it is spelled") {
  CHECK(files_for({"./no/such", "*"}, strings{"true"}) == strings{"./no/such"});
  CHECK(files_for({"./no/such", "*"}, getpid()) == strings{"./no/such"});
}

TEST_CASE("of a running process, what it has mapped") {
  const strings found = files_for({"libc.so", "*"}, getpid());
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("/libc") != std::string::npos);
}

TEST_CASE("every library of that name, each file once, and nothing that only looks like one") {
  const folder made;
  const std::string forty = made.add_library("a/libadaptyst_probe_me.so.40.1");
  const std::string twelve = made.add_library("b/libadaptyst_probe_me.so.12");
  fs::create_symlink(forty, made / "a/libadaptyst_probe_me.so.40");
  fs::create_symlink(forty, made / "b/libadaptyst_probe_me.so.40");
  made.text("b/libadaptyst_probe_me.so", "INPUT(libadaptyst_probe_me.so.12)\n");
  made.add_library("b/libadaptyst_probe_me_too.so");
  made.add_library("b/libadaptyst_probe_me.a");
  const environment path("LD_LIBRARY_PATH", (made / "no such") + ":" + (made / "a") + "::" + (made / "b"));
  CHECK(sorted(files_for({"libadaptyst_probe_me.so", "*"}, strings{"true"})) == strings{forty, twelve});
  CHECK(sorted(files_for({"libadaptyst_probe_me.so", "*"}, getpid())) == strings{forty, twelve});
}

TEST_CASE("a link with another name leads to the file") {
  const folder made;
  const std::string real = made.add_library("libadaptyst_vendor.so.3");
  fs::create_symlink(real, made / "libadaptyst_interface.so.3");
  const environment path("LD_LIBRARY_PATH", made / "");
  CHECK(files_for({"libadaptyst_interface.so", "*"}, strings{"true"}) == strings{real});
}

TEST_CASE("a program says where its libraries are, also when another starts it") {
  const fs::path program = ADAPTYST_TEST_RUN_PATH;
  CHECK(run_path(program.string()) == strings{program.parent_path().string() + "/beside", "/no/such/place"});
  CHECK(run_path("/proc/self/mem").empty());
  CHECK(run_path(__FILE__).empty());
  const folder made;
  fs::copy_file(program, made / "program");
  const std::string library = made.add_library("beside/libadaptyst_beside.so.1");
  const function_request request{"libadaptyst_beside.so", "*"};
  CHECK(files_for(request, strings{made / "program"}) == strings{library});
  CHECK(files_for(request, strings{"env", "-i", made / "program", "4"}) == strings{library});
  CHECK(files_for(request, strings{"env"}).empty());
  const environment path("PATH", "/no/such:" + (made / ""));
  CHECK(files_for(request, strings{"launch", "program"}) == strings{library});
}

TEST_CASE("words of a command may be meant themselves") {
  const folder made;
  fs::copy_file(ADAPTYST_TEST_RUN_PATH, made / "solver");
  CHECK(files_for({"solver", "*"}, strings{"mpirun", made / "solver"}) == strings{made / "solver"});
  CHECK(files_for({"solver", "*"}, strings{"mpirun", "solver"}).empty());
}

TEST_CASE("a command's files are its programs, and what they need") {
  const folder made;
  fs::copy_file(ADAPTYST_TEST_RUN_PATH, made / "solver");
  const strings found = list_files(strings{"launch", made / "solver", "4"});
  REQUIRE(found.size() >= 2);
  CHECK(found[0] == made / "solver");
  CHECK(std::any_of(found.begin(), found.end(), [](const auto& file) { return file.find("/libc") != file.npos; }));
  CHECK(list_files(strings{"no such program"}).empty());
  const strings ours = list_files(getpid());
  CHECK(std::any_of(ours.begin(), ours.end(), [](const auto& file) { return file.find("/libc") != file.npos; }));
}

TEST_CASE("what a program imports is known; what a library's own relatives do is not asked for") {
  using names = std::set<std::string>;
  const folder made;
  for (const char* const name : {"solver", "libadaptyst_cxx.so.4"}) fs::copy_file(ADAPTYST_TEST_RUN_PATH, made / name);
  const names wanted{"__libc_start_main", "main", "MPI_Test"};
  const names from{"/usr/lib/libadaptyst.so.40.1", "./program"};
  CHECK(imported_functions({made / "solver", "/no/such", __FILE__}, wanted, from) == names{"__libc_start_main"});
  CHECK(imported_functions({made / "libadaptyst_cxx.so.4"}, wanted, from).empty());
  CHECK(imported_functions({made / "solver"}, {"MPI_Test"}, from).empty());
}

TEST_CASE("the loader's configuration: comments, includes, and one that includes itself") {
  const folder made;
  const std::string file =
      made.text("ld.so.conf", "# all\n/first # why\n\n  include conf.d/*.conf\nhwcap 1 x\n/last\n");
  made.text("conf.d/a.conf", "/a\n");
  made.text("conf.d/b.conf", "/b\ninclude " + (made / "conf.d/c.txt") + "\n");
  made.text("conf.d/c.txt", "/c\n");
  CHECK(configured_directories(file) == strings{"/first", "/a", "/b", "/c", "/last"});
  CHECK(configured_directories(made / "none").empty());
  const std::string circle = made.text("circle", "/round\ninclude circle\n");
  const strings round = configured_directories(circle);
  CHECK(round.size() > 1);
  CHECK(std::count(round.begin(), round.end(), "/round") == static_cast<std::ptrdiff_t>(round.size()));
}

TEST_CASE("a program that contains this library is not one with a sanitizer") {
  library_search search({});
  const program_libraries found = search.read(fs::read_symlink("/proc/self/exe").string());
#ifndef ADAPTYST_TEST_SANITIZED
  CHECK_FALSE(found.fails_with_preload);
#endif
}
