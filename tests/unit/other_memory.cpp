// Memory of another process: what may be read and written, and what an exec() changes.
#include "recorder/other_memory.hpp"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "catch.hpp"
#include "discover/running_processes.hpp"
#include "support/process_maps.hpp"

namespace lib = adaptyst::lib;

namespace {

// A child that has what this process has, until it is asked to become another program.
class child {
 public:
  child() {
    REQUIRE(pipe(gate_) == 0);
    process_ = fork();
    if (process_ != 0) return;
    char byte;
    close(gate_[1]);
    if (read(gate_[0], &byte, 1) == 1) execlp("sleep", "sleep", "60", nullptr);
    _exit(0);
  }
  ~child() {
    close(gate_[0]);
    close(gate_[1]);
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  pid_t id() const { return process_; }
  void become_another() const { REQUIRE(write(gate_[1], "", 1) == 1); }

 private:
  pid_t process_ = -1;
  int gate_[2] = {-1, -1};
};

std::uint64_t map(int rights, int kind) {
  void* const made = mmap(nullptr, 4096, rights, kind | MAP_ANONYMOUS, -1, 0);
  REQUIRE(made != MAP_FAILED);
  return reinterpret_cast<std::uint64_t>(made);
}

constexpr std::uint64_t word = 42;

}  // namespace

TEST_CASE("Another process's memory is written only where it is private, and the process may write itself") {
  const std::uint64_t own = map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  const std::uint64_t constant = map(PROT_READ, MAP_PRIVATE);
  const std::uint64_t shared = map(PROT_READ | PROT_WRITE, MAP_SHARED);
  const child other;
  const lib::other_memory memory(other.id());
  std::uint64_t now = 0;
  CHECK(memory.write(own + 4088, word));
  CHECK((memory.read(own + 4088, now) && now == word));
  for (const std::uint64_t not_ours : {constant, shared, std::uint64_t{8}, ~std::uint64_t{7}}) {
    CHECK_FALSE(memory.write(not_ours, word));
    CHECK(errno == EFAULT);
  }
  CHECK((memory.read(constant, now) && now == 0));
  CHECK(memory.write(own, word));
}

TEST_CASE("After an exec() there is nothing to be read or written, until it is opened again") {
  const std::uint64_t own = map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
  const child other;
  lib::other_memory memory(other.id());
  REQUIRE(memory.write(own, word));
  CHECK_FALSE(memory.is_gone());
  other.become_another();
  for (int at = 0; at != 5000 && !memory.is_gone(); ++at) usleep(1000);
  REQUIRE(memory.is_gone());
  std::uint64_t now = 0;
  CHECK_FALSE(memory.read(own, now));
  CHECK_FALSE(memory.write(own, word));
  CHECK(errno == ESRCH);
  memory.open();
  CHECK_FALSE(memory.is_gone());
  memory.close();
  CHECK_FALSE(memory.read(own, now));
}

// What runs after an exec() may have rights that the stranger who has prepared this has not.
TEST_CASE("A stranger's next program is not read, though the memory of the one before lives on") {
  if (geteuid() != 0) return;  // only root observes strangers
  int numbers[2], gate[2];
  REQUIRE(pipe(numbers) == 0);
  REQUIRE(pipe(gate) == 0);
  static volatile std::uint64_t shared_word = word;
  const pid_t owner = fork();
  if (owner == 0) {  // becomes a stranger, and shares its memory with a child
    static char stack[65536];
    if (setresuid(65534, 65534, 65534) != 0) _exit(1);
    const auto become_another = [](void* from) {
      char byte;
      if (read(*static_cast<int*>(from), &byte, 1) == 1) execl("/bin/sleep", "sleep", "60", nullptr);
      return 0;
    };
    const pid_t made = clone(become_another, stack + sizeof stack, CLONE_VM | SIGCHLD, &gate[0]);
    if (write(numbers[1], &made, sizeof made) != sizeof made) _exit(1);
    pause();
  }
  pid_t observed = 0;
  REQUIRE(read(numbers[0], &observed, sizeof observed) == sizeof observed);
  const lib::other_memory memory(observed, false);
  std::uint64_t now = 0;
  CHECK((memory.read(reinterpret_cast<std::uint64_t>(&shared_word), now) && now == word));
  REQUIRE(write(gate[1], "", 1) == 1);
  std::uint64_t of_next = 0;  // something that only the next program has
  for (int attempt = 0; attempt != 200 && of_next == 0; ++attempt, usleep(10'000))
    lib::for_each_mapping(observed, [&](const lib::mapping& piece) {
      if (of_next == 0 && piece.path.find("/sleep") != std::string::npos) of_next = piece.begin;
    });
  REQUIRE(of_next != 0);
  CHECK_FALSE(memory.read(of_next, now));
  kill(observed, SIGKILL);
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  for (const int end : {numbers[0], numbers[1], gate[0], gate[1]}) close(end);
}

TEST_CASE("A program follows another if it has the same rights, or root's came first") {
  lib::process_rights user;
  user.users.fill(1000);
  user.groups.fill(1000);
  CHECK(user.have_one_user());
  CHECK(user.follow(user));
  lib::process_rights setuid = user;
  setuid.users[1] = setuid.users[2] = setuid.users[3] = 0;
  CHECK_FALSE(setuid.have_one_user());
  CHECK_FALSE(setuid.follow(user));
  lib::process_rights setgid = user;
  setgid.groups[1] = 5;
  CHECK_FALSE(setgid.have_one_user());
  lib::process_rights able = user;
  able.capabilities = 1 << 13;
  CHECK(able.have_one_user());
  CHECK_FALSE(able.follow(user));
  CHECK(user.follow(able));
  const lib::process_rights root{{}, {}, ~std::uint64_t{0}};
  CHECK(user.follow(root));
  CHECK_FALSE(root.follow(user));
  const auto own = lib::read_rights(getpid());
  REQUIRE(own);
  CHECK(own->users[0] == getuid());
  CHECK(own->groups[1] == getegid());
  CHECK_FALSE(lib::read_rights(1 << 30));
}
