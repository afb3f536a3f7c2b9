// denying COMMAND[,COUNT] ERRNO PROGRAM…: runs PROGRAM under a kernel that answers bpf(COMMAND) with ERRNO (seccomp).
// With COUNT, it denies only that many calls: a child process answers them.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void answer(int listener, int denied, int number) {
  for (int call = 1;; ++call) {
    seccomp_notif request{};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) _exit(0);
    seccomp_notif_resp response{};
    response.id = request.id;
    if (call <= denied) response.error = -number;
    else response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

}  // namespace

int main(int count, char* arguments[]) {
  if (count < 4) return 2;
  char* comma = nullptr;
  const auto command = static_cast<std::uint32_t>(std::strtoul(arguments[1], &comma, 10));
  const int denied = *comma == ',' ? std::atoi(comma + 1) : 0;
  const int number = std::atoi(arguments[2]);
  const std::uint32_t action = denied != 0
                                   ? SECCOMP_RET_USER_NOTIF
                                   : SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(number) & SECCOMP_RET_DATA);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, command, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof program / sizeof *program, program};
  const unsigned flags = denied != 0 ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
  const long listener =
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -1 : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
  if (listener < 0) {
    std::perror("seccomp");
    return 2;
  }
  const pid_t self = getpid();
  const pid_t answering = denied != 0 ? fork() : 1;
  if (answering == -1) {
    std::perror("fork");
    return 2;
  }
  if (answering == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(0);  // it ended before the signal was set
    answer(static_cast<int>(listener), denied, number);
  }
  execv(arguments[3], arguments + 3);
  std::perror(arguments[3]);
  return 2;
}
