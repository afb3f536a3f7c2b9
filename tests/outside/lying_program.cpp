// A program under observation that is damaged or malicious: lying_program HOW ARGUMENT…
//
//   row SECONDS            its recorder counts one row more than it has made; the row has no path
//   connections N SECONDS  holds N connections to its observer, and sends nothing
//   announcements N        announces the end of its markers N times at once, with 20,000 recorders that never rest
//   daemon                 marks 100 times, leaves its parent, becomes nobody, and marks 200 times
//   no_socket PROGRAM …    becomes a program that may make no sockets
//   large MIB SECONDS      marks, with so much memory that its end takes a while, and kills itself
#include <adaptyst/region.hpp>

#include <adaptyst/detail/recorder.hpp>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

namespace detail = adaptyst::detail;

void pause_for(double seconds) { usleep(static_cast<useconds_t>(seconds * 1e6)); }

void mark(int times) {
  for (int at = 0; at != times; ++at) {
    ADAPTYST_REGION("work");
    usleep(500);
  }
}

void make_row(double seconds) {
  constexpr double step = 0.001;
  bool is_made = false;
  for (double at = 0; at < seconds; at += step) {
    { ADAPTYST_REGION("sound"); }
    pause_for(step);
    detail::recorder* const own = detail::this_thread_recorder;
    if (is_made || reinterpret_cast<std::uintptr_t>(own) <= 1 || at < seconds / 4) continue;
    own->rows_used = own->rows_used + 1;
    is_made = true;
  }
}

int connect_to_observer() {
  const char* const name = std::getenv("ADAPTYST_OBSERVER");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name, std::strlen(name));
  const int made = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + std::strlen(name));
  if (made >= 0 && connect(made, reinterpret_cast<const sockaddr*>(&address), bytes) == 0) return made;
  return -1;
}

void announce(int times) {
  constexpr std::size_t recorders = 20'000, bytes = 8192;
  { ADAPTYST_REGION("sound"); }
  auto* const state = reinterpret_cast<detail::process*>(adaptyst_object_v5.process);
  if (state == nullptr) std::exit(4);
  auto* const room = static_cast<char*>(state->store->allocate_pages(recorders * bytes));
  if (room == nullptr) std::exit(5);
  detail::recorder_head* last = nullptr;
  for (std::size_t at = 0; at != recorders; ++at) {
    auto* const head = reinterpret_cast<detail::recorder_head*>(room + at * bytes);
    head->sequence = 1;
    head->epoch = state->store->head.epoch;
    head->next = reinterpret_cast<detail::recorder*>(last);
    last = head;
  }
  state->store->head.recorders = reinterpret_cast<detail::recorder*>(last);
  for (int at = 0; at != times; ++at) {
    const adaptyst_announcement message{ADAPTYST_ABI_VERSION, ADAPTYST_OBJECT_UNLOADING,
                                        reinterpret_cast<std::uint64_t>(&adaptyst_object_v5)};
    if (const int to = connect_to_observer(); to < 0 || send(to, &message, sizeof message, 0) < 0) break;
  }
}

void become_daemon() {
  mark(100);
  if (fork() != 0) {
    pause_for(1);
    _exit(0);
  }
  setsid();
  if (fork() != 0) _exit(0);
  if (setgid(65534) != 0 || setuid(65534) != 0) _exit(6);
  mark(200);
}

void be_large(std::size_t mib, double seconds) {
  void* const memory = std::malloc(mib << 20);
  if (memory == nullptr) std::exit(8);
  madvise(memory, mib << 20, MADV_NOHUGEPAGE);
  std::memset(memory, 1, mib << 20);
  mark(static_cast<int>(seconds * 1000));
  kill(getpid(), SIGKILL);
}

void become_without_sockets(char** command) {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog all{sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) std::exit(7);
  execv(command[0], command);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) return 2;
  const std::string how = arguments[1];
  const auto number = [&](int at) { return count > at ? std::atof(arguments[at]) : 0; };
  if (how == "row") make_row(number(2));
  if (how == "daemon") become_daemon();
  if (how == "large") be_large(static_cast<std::size_t>(number(2)), number(3));
  if (how == "no_socket" && count > 2) become_without_sockets(arguments + 2);
  if (how == "connections") {
    for (int at = 0; at != static_cast<int>(number(2)); ++at) connect_to_observer();
    std::puts("held");
    std::fflush(stdout);
    pause_for(number(3));
  }
  if (how == "announcements") {
    announce(static_cast<int>(number(2)));
    std::puts("held");
    std::fflush(stdout);
    pause_for(30);
  }
  _exit(0);  // its recorders are as they are
}
