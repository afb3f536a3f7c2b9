// A report reaches its file whole, or not at all and with a reason.
#include "support/output_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "support/error.hpp"

namespace {

using adaptyst::lib::write_file;

// A directory of its own, gone with all that is in it.
class directory {
 public:
  directory() {
    const char* const temporary = std::getenv("TMPDIR");
    std::string pattern = std::string(temporary != nullptr ? temporary : "/tmp") + "/adaptyst-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~directory() {
    for (const std::string& name : names()) {
      unlink((path_ + "/" + name).c_str());
      rmdir((path_ + "/" + name).c_str());
    }
    rmdir(path_.c_str());
  }
  directory(const directory&) = delete;
  directory& operator=(const directory&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::set<std::string> names() const {
    std::set<std::string> found;
    DIR* const listing = opendir(path_.c_str());
    if (listing == nullptr) return found;
    while (const dirent* const entry = readdir(listing)) found.insert(entry->d_name);
    closedir(listing);
    found.erase(".");
    found.erase("..");
    return found;
  }

 private:
  std::string path_;
};

std::string content(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

void put(const std::string& name, const std::string& text) { std::ofstream(name, std::ios::binary) << text; }

std::string partial_name(const std::string& name) { return name + "." + std::to_string(getpid()) + ".0.partial"; }

// The system's reason for which writing failed; the message must name the file, the reason and a way out.
int failure(const std::string& name, const std::string& text = "text\n") {
  try {
    write_file(name, text);
  } catch (const adaptyst::lib::error& failed) {
    const std::string& message = failed.summary();
    CAPTURE(message);
    CHECK(message.find("cannot write the profile to " + name + ": ") == 0);
    CHECK(message.find(strerrorname_np(failed.number())) != std::string::npos);
    CHECK_FALSE(failed.hint().empty());
    CHECK(failed.subject() == name);
    return failed.number();
  }
  return 0;
}

}  // namespace

TEST_CASE("text that is no UTF-8 is mended as JSON mends it, in every file") {
  std::mt19937 random(1);
  const std::string bytes("a\x7f\x80\xbf\xc0\xc2\xdf\xe0\xa0\xe2\x82\xac\xed\x9f\xf0\x90\xf4\x8f\xf5\xff", 20);
  for (int times = 0; times != 20'000; ++times) {
    std::string text;
    for (auto count = random() % 9; count != 0; --count) text += bytes[random() % bytes.size()];
    using nlohmann::json;
    const std::string by_json =
        json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
    CAPTURE(json(text).dump(-1, ' ', true, json::error_handler_t::replace));
    REQUIRE(adaptyst::lib::valid_utf8(text) == by_json);
  }
}

TEST_CASE("a file holds exactly the text, and nothing is left next to it") {
  const directory in;
  const std::string texts[] = {"", "{}\n", std::string("nul\0inside", 10), std::string(5000000, 'x')};
  for (const std::string& text : texts) {
    write_file(in / "a.json", text);
    CHECK(content(in / "a.json") == text);
    CHECK(in.names() == std::set<std::string>{"a.json"});
  }
}

TEST_CASE("an older file is replaced in one step") {
  const directory in;
  put(in / "a.json", "a much longer text than the one that replaces it");
  const std::string old_name = in / "kept.json";
  REQUIRE(link((in / "a.json").c_str(), old_name.c_str()) == 0);
  write_file(in / "a.json", "new");
  CHECK(content(in / "a.json") == "new");
  CHECK(content(old_name) ==
        "a much longer text than the one that replaces it");  // who had it open still reads it whole
}

TEST_CASE("a link as target is replaced, not followed") {
  const directory in;
  put(in / "victim", "precious");
  REQUIRE(symlink((in / "victim").c_str(), (in / "a.json").c_str()) == 0);
  write_file(in / "a.json", "new");
  CHECK(content(in / "victim") == "precious");
  CHECK(content(in / "a.json") == "new");
}

TEST_CASE("whatever stands where the unfinished file would be is left alone") {
  const directory in;
  put(in / "victim", "precious");
  SECTION("a symbolic link") { REQUIRE(symlink((in / "victim").c_str(), partial_name(in / "a.json").c_str()) == 0); }
  SECTION("a hard link") { REQUIRE(link((in / "victim").c_str(), partial_name(in / "a.json").c_str()) == 0); }
  try {
    write_file(in / "a.json", "new");
    CHECK(content(in / "a.json") == "new");  // found another way
  } catch (const adaptyst::lib::error&) {
    CHECK(in.names().count("a.json") == 0);
  }
  CHECK(content(in / "victim") == "precious");
}

TEST_CASE("no such directory") {
  const directory in;
  CHECK(failure(in / "missing/a.json") == ENOENT);
  put(in / "file", "x");
  CHECK(failure(in / "file/a.json") == ENOTDIR);
  CHECK(in.names() == std::set<std::string>{"file"});
}

TEST_CASE("a directory as target") {
  const directory in;
  REQUIRE(mkdir((in / "a.json").c_str(), 0755) == 0);
  CHECK(failure(in / "a.json") == EISDIR);
  CHECK(in.names() == std::set<std::string>{"a.json"});
}

TEST_CASE("a directory that may not be written") {
  const directory in;
  const bool root = geteuid() == 0;
  REQUIRE(chmod(in.path().c_str(), root ? 0755 : 0555) == 0);
  if (root) REQUIRE(seteuid(65534) == 0);
  const int number = failure(in / "a.json");
  if (root) REQUIRE(seteuid(0) == 0);
  chmod(in.path().c_str(), 0755);
  CHECK(number == EACCES);
  CHECK(in.names().empty());
}

TEST_CASE("a name that is too long") {
  const directory in;
  CHECK(failure(in / (std::string(300, 'n') + ".json")) == ENAMETOOLONG);
  CHECK(in.names().empty());
}

TEST_CASE("a device is written to in place, and a full one is told") {
  CHECK(failure("/dev/full") == ENOSPC);
  CHECK(failure("/dev/null", std::string(100000, 'x')) == 0);
  CHECK(access((std::string("/dev/full.") + std::to_string(getpid()) + ".0.partial").c_str(), F_OK) != 0);
}

TEST_CASE("a pipe: without a reader it is reported, one that leaves does no harm, and what is read is whole") {
  const directory in;
  const std::string pipe = in / "a.json";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(failure(pipe) == ENXIO);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK(failure(pipe, "all of it") == 0);
  char read_back[32] = {};
  CHECK(read(reader, read_back, sizeof read_back) == 9);
  {
    adaptyst::lib::output_file file(pipe, adaptyst::lib::output_file::appears::with_text);
    REQUIRE(file.failure() == 0);
    close(reader);
    CHECK(file.write("no process reads this") == 0);
    CHECK(file.failure() == EPIPE);
  }
  struct stat there {};
  CHECK((stat(pipe.c_str(), &there) == 0 && S_ISFIFO(there.st_mode)));
}

TEST_CASE("/dev/stdout and /dev/fd/N are descriptors of ours, whatever they lead to") {
  const directory in;
  const int file = open((in / "there").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(file >= 0);
  CHECK(failure("/dev/fd/" + std::to_string(file), "text") == 0);
  CHECK(content(in / "there") == "text");
  close(file);
  CHECK(failure("/dev/fd/9999") == EBADF);
}

TEST_CASE("what is to appear with its first text replaces nothing before, and what is not finished goes") {
  using adaptyst::lib::output_file;
  const directory in;
  put(in / "victim", "precious");
  REQUIRE(symlink((in / "victim").c_str(), (in / "a").c_str()) == 0);
  {
    const output_file unwritten(in / "victim", output_file::appears::with_text);
    CHECK(content(in / "victim") == "precious");
  }
  {
    output_file file(in / "a", output_file::appears::with_text);
    CHECK(file.write("half of") == 7);
    CHECK(content(in / "a") == "half of");
  }
  CHECK(content(in / "a") == "half of");
  CHECK(content(in / "victim") == "precious");
  {
    output_file file(in / "b", output_file::appears::whole);
    file.write("half of");
  }
  CHECK(in.names() == std::set<std::string>{"a", "victim"});
}

TEST_CASE("a file that another process has written since this one began is not replaced") {
  using adaptyst::lib::expect_output;
  using adaptyst::lib::find_written;
  const directory in;
  for (const bool was_there : {false, true}) {
    const std::string name = in / (was_there ? "b.json" : "a.json");
    if (was_there) put(name, "of yesterday");
    expect_output(name);
    put(in / "others", "another's");  // it does as we do: a new file takes the name
    REQUIRE(rename((in / "others").c_str(), name.c_str()) == 0);
    write_file(name, "ours");
    CHECK(content(name) == "another's");
    CHECK(find_written(name) != name);
    CHECK(find_written(name).find(std::to_string(getpid())) != std::string::npos);
    CHECK(content(find_written(name)) == "ours");
  }
  const std::string own = in / "c.json";
  expect_output(own);
  write_file(own, "first");
  write_file(own, "second");
  CHECK(content(own) == "second");
  CHECK(find_written(own) == own);
  expect_output(in / "a.json");  // a later session: what is there is old
  write_file(in / "a.json", "later");
  CHECK(content(in / "a.json") == "later");
}

TEST_CASE("what has appeared and fails midway is taken away") {
  using adaptyst::lib::output_file;
  const directory in;
  const std::string large(1 << 20, 'x');
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  {
    output_file file(in / "a", output_file::appears::with_text);
    CHECK(file.write("begin") == 5);
    CHECK(in.names() == std::set<std::string>{"a"});
    const rlimit tight{65536, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
    file.write(large);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK(file.failure() == EFBIG);
  }
  std::signal(SIGXFSZ, handler);
  CHECK(in.names().empty());
}

TEST_CASE("a full disk leaves the older file whole and nothing else") {
  const directory in;
  const std::string large(1 << 20, 'x');
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  rlimit before = unlimited;
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  // A tiny file system where that is permitted; elsewhere a limit on the size of files comes nearest.
  // The mount is this process's alone, whatever becomes of it.
  const bool mounted = unshare(CLONE_NEWNS) == 0 && mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                       mount("adaptyst-test", in.path().c_str(), "tmpfs", 0, "size=64k") == 0;
  INFO((mounted ? "with a tmpfs" : "with RLIMIT_FSIZE"));
  write_file(in / "a.json", "old");
  void (*const handler)(int) = std::signal(SIGXFSZ, SIG_IGN);
  if (!mounted) {
    const rlimit tight{65536, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &tight) == 0);
  }
  const int number = failure(in / "a.json", large);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(number == (mounted ? ENOSPC : EFBIG));
  CHECK(content(in / "a.json") == "old");
  CHECK(in.names() == std::set<std::string>{"a.json"});
  if (mounted) {
    REQUIRE(umount(in.path().c_str()) == 0);
  }
}

TEST_CASE("the file has the mode that the umask leaves") {
  const directory in;
  const mode_t before = umask(027);
  write_file(in / "a.json", "x");
  umask(before);
  struct stat made {};
  REQUIRE(stat((in / "a.json").c_str(), &made) == 0);
  CHECK((made.st_mode & 0777) == 0640);
}
