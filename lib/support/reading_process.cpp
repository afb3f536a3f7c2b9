// Two kinds of children. The starter is forked once, while this process is small, and reads nothing of other processes.
// It forks a reader, which serves one request after another over a socket. If a reader does not answer in time, this
// process closes its end. The starter then kills the reader (a thread in uninterruptible sleep survives that), and
// forks the next one. A remaining reader keeps only the descriptor that it reads, and neither the later memory of this
// process nor its files.
//
// Children use only system calls: this process may have threads, and one of them may have held a lock of malloc().
#include "reading_process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "error.hpp"
#include "process_stat.hpp"
#include "socket_message.hpp"

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t longest_wait_ns = 2000 * ms;
constexpr std::uint64_t shortest_wait_ns = 100 * ms;  // for each process, after the total time is used up
constexpr std::uint64_t time_for_all_ns = 8000 * ms;
constexpr std::uint64_t period_ns = 30'000 * ms;
constexpr std::uint64_t worth_counting_ns = ms;  // a shorter wait is no delay
constexpr std::size_t max_part = std::size_t{64} << 10;

enum class wanted : std::uint32_t { read, write, text, status, file, contents };

struct request {
  wanted what;
  std::uint32_t bytes;
  std::uint64_t at;  // an address; for a text: the maximum number of bytes
  pid_t process = 0;
  std::uint64_t image = 0;
};

struct reply {
  std::int64_t result;
  std::int32_t number;  // errno
  std::uint32_t may_block;
  std::uint64_t device, inode;
};

// A message: a head, then up to max_part bytes, and a descriptor or -1.
template <class Head>
struct message {
  Head head;
  char part[max_part];
};

// While a read of /proc/PID/mem waits for a page, the kernel holds the lock of that process's mappings. During this
// time, no uprobe can be placed in a file that the process maps. While a uprobe waits to be placed, no process of the
// system can fork.
//
// process_vm_readv() releases the lock before it waits. It takes the number of a process, which may run another program
// by then.

// Whether the memory is gone. It outlives its program if another process shares it, as after vfork().
bool has_no_users(int memory) noexcept {
  constexpr off_t never_mapped = off_t{1} << 62U;
  char byte;
  return pread(memory, &byte, 1, never_mapped) == 0;
}

// "/proc/", a process, and "/stat" or "/task"; `room` is for the whole name.
constexpr std::size_t max_proc_name = 32;
void make_proc_name(pid_t process, const char (&file)[6], char (&room)[max_proc_name]) noexcept {
  std::memcpy(room, "/proc/", 6);
  char* const end = std::to_chars(room + 6, room + max_proc_name, process).ptr;
  std::memcpy(end, file, sizeof file);
}

ssize_t read_thread(pid_t thread, void* to, std::size_t bytes, std::uint64_t address) noexcept {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return process_vm_readv(thread, &here, 1, &there, 1, 0);
}

// If the first thread has ended, reads through another one. ESRCH: there is none.
ssize_t read_other_threads(pid_t process, void* to, std::size_t bytes, std::uint64_t address) noexcept {
  constexpr int max_attempts = 4;  // of the list, 4 KiB each
  char name[max_proc_name];
  make_proc_name(process, "/task", name);
  const int list = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(dirent64) char entries[4096];
  ssize_t result = -1, got = 0;
  int number = ESRCH;
  for (int attempt = 0; number == ESRCH && attempt != max_attempts && list >= 0; ++attempt) {
    if ((got = syscall(SYS_getdents64, list, entries, sizeof entries)) <= 0) break;
    for (ssize_t at = 0; number == ESRCH && at < got;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
      pid_t thread = 0;
      std::from_chars(entry->d_name, entry->d_name + std::strlen(entry->d_name), thread);
      if (thread != 0 && thread != process) {
        result = read_thread(thread, to, bytes, address);
        number = result < 0 ? errno : 0;
      }
      at += entry->d_reclen;
    }
  }
  if (list >= 0) close(list);
  errno = number;
  return result;
}

// As pread() of the memory. Uses pread() if a filter of system calls forbids process_vm_readv().
ssize_t read_directly(const program_memory& from, void* to, std::size_t bytes, std::uint64_t address) noexcept {
  ssize_t got = read_thread(from.process, to, bytes, address);
  if (got < 0 && errno == ESRCH) got = read_other_threads(from.process, to, bytes, address);
  if (got < 0 && (errno == EPERM || errno == ENOSYS))
    return pread(from.descriptor, to, bytes, static_cast<off_t>(address));
  const int number = errno;
  if (has_no_users(from.descriptor)) return 0;
  errno = number;
  return got;
}

// The same for a program of another user. If it may have become a setuid program in the meantime, it is not read.
ssize_t read_stranger(const program_memory& from, void* to, std::size_t bytes, std::uint64_t address) noexcept {
  const ssize_t got = read_directly(from, to, bytes, address);
  const int number = errno;
  if (got > 0 && (from.image == 0 || find_image_number(from.process) != from.image)) return 0;
  errno = number;
  return got;
}

// The target range is read first, so that a wait for missing pages happens without the lock.
ssize_t write_directly(const program_memory& in, const void* from, std::size_t bytes, std::uint64_t address) noexcept {
  char page[4096];
  for (std::size_t done = 0; done < bytes; done += sizeof page)
    if (read_directly(in, page, std::min(sizeof page, bytes - done), address + done) <= 0) break;
  return pwrite(in.descriptor, from, bytes, static_cast<off_t>(address));
}

// ---- in the children ----

constexpr int own_socket = 0;

void close_all_but_socket() noexcept {
  constexpr int default_limit = 65536;
  if (syscall(SYS_close_range, own_socket + 1, ~0U, 0) == 0) return;
  for (int at = own_socket + 1; at != default_limit; ++at) close(at);
}

// Keeps those of this process's capabilities that reading other processes needs; the last one is for map_files.
void keep_few_capabilities() noexcept {
  constexpr unsigned kept[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE, CAP_SYS_ADMIN, 40};
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  std::uint32_t mask[_LINUX_CAPABILITY_U32S_3] = {};
  for (const unsigned capability : kept) mask[capability / 32] |= std::uint32_t{1} << capability % 32;
  if (syscall(SYS_capget, &header, sets) != 0) return;
  for (unsigned at = 0; at != _LINUX_CAPABILITY_U32S_3; ++at) {
    sets[at].effective &= mask[at];
    sets[at].permitted &= mask[at];
    sets[at].inheritable = 0;
  }
  syscall(SYS_capset, &header, sets);
}

// A copy in memory, or -1.
int copy_contents(int from, char* room) noexcept {
  const int copy = static_cast<int>(syscall(SYS_memfd_create, "adaptyst-copy", MFD_CLOEXEC));
  if (copy < 0) return -1;
  constexpr off_t max_bytes = off_t{512} << 20;
  off_t at = 0;
  while (at < max_bytes) {
    const ssize_t got = pread(from, room, max_part, at);
    if (got == 0) return copy;
    if (got < 0 || pwrite(copy, room, static_cast<std::size_t>(got), at) != got) break;
    at += got;
  }
  const int number = errno;
  close(copy);
  errno = number;
  return -1;
}

void describe_file(int file, reply& made) noexcept {
  struct statfs in {};
  struct stat status {};
  made.may_block = fstatfs(file, &in) != 0 || in.f_type == FUSE_SUPER_MAGIC;
  if (fstat(file, &status) != 0) return;
  made.device = status.st_dev;
  made.inode = status.st_ino;
}

// O_PATH does not open the file itself, so it can be examined first. The second open() gets the same file, even if the
// name leads to another file by then.
int open_regular_here(const char* name) noexcept {
  const int place = open(name, O_PATH | O_CLOEXEC);
  if (place < 0) return -1;
  struct stat status {};
  const bool is_regular = fstat(place, &status) == 0 && S_ISREG(status.st_mode);
  char again[] = "/proc/self/fd/\0\0\0\0\0\0\0\0\0\0";
  std::to_chars(again + sizeof "/proc/self/fd/" - 1, again + sizeof again - 1, place);
  const int file = is_regular ? open(again, O_RDONLY | O_CLOEXEC) : -1;
  const int number = is_regular ? errno : 0;
  close(place);
  errno = number;
  return file;
}

// Sends a file in pieces; the caller sends the end.
void send_text(const char* name, std::uint64_t max_bytes, char* room, reply& made) noexcept {
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  made.result = file < 0 ? -1 : 0;
  made.number = errno;
  while (file >= 0 && max_bytes != 0) {
    const ssize_t got = read(file, room, std::min<std::uint64_t>(max_part, max_bytes));
    if (got < 0) made.result = -1, made.number = errno;
    if (got <= 0) break;
    max_bytes -= static_cast<std::uint64_t>(got);
    reply piece{};
    piece.result = got;
    if (!send_message(own_socket, piece, room, static_cast<std::size_t>(got), -1)) break;
  }
  if (file >= 0) close(file);
}

[[noreturn]] void serve() noexcept {
  static message<request> requested;
  alignas(struct stat) static char room[max_part];
  for (;;) {
    int along = -1;
    const ssize_t part = receive_message(own_socket, requested.head, requested.part, max_part - 1, along);
    if (part < 0) _exit(0);
    requested.part[part] = '\0';
    reply made{};
    std::size_t bytes = 0;
    int back = -1;
    errno = 0;
    switch (requested.head.what) {
      case wanted::read:
        // A request for no bytes asks whether the memory is gone.
        if (requested.head.bytes == 0) made.result = has_no_users(along) ? 0 : -1;
        else
          made.result = read_stranger({requested.head.process, along, requested.head.image}, room,
                                      std::min<std::size_t>(requested.head.bytes, max_part), requested.head.at);
        bytes = static_cast<std::size_t>(std::max<std::int64_t>(made.result, 0));
        break;
      case wanted::write:
        made.result = write_directly({requested.head.process, along, requested.head.image}, requested.part,
                                     static_cast<std::size_t>(part), requested.head.at);
        break;
      case wanted::text: send_text(requested.part, requested.head.at, room, made); break;
      case wanted::status:  // of each name
        for (const char* name = requested.part; name < requested.part + part && bytes + sizeof(struct stat) <= max_part;
             name += std::strlen(name) + 1) {
          auto* const found = reinterpret_cast<struct stat*>(room + bytes);
          made.result = stat(name, found);
          if (made.result != 0) *found = {};
          bytes += sizeof(struct stat);
        }
        break;
      case wanted::file:
        back = open_regular_here(requested.part);
        made.result = back < 0 ? -1 : 0;
        break;
      case wanted::contents:
        back = copy_contents(along, room);
        made.result = back < 0 ? -1 : 0;
        break;
    }
    if (requested.head.what != wanted::text) made.number = errno;
    if (requested.head.what == wanted::file && back >= 0) describe_file(back, made);
    send_message(own_socket, made, room, bytes, back);
    if (along >= 0) close(along);
    if (back >= 0) close(back);
  }
}

// Waits long enough for any reader that can be killed at all.
void end_reader(pid_t reader) noexcept {
  constexpr int max_attempts = 50;
  const timespec a_while{0, static_cast<long>(ms)};
  kill(reader, SIGKILL);
  for (int at = 0; at != max_attempts && waitpid(reader, nullptr, WNOHANG) == 0; ++at) nanosleep(&a_while, nullptr);
}

[[noreturn]] void start_readers() noexcept {
  pid_t reader = -1;
  for (;;) {
    char nothing = 0;
    int socket = -1;
    const bool is_over = receive_message(own_socket, nothing, &nothing, 0, socket) < 0;
    for (pid_t ended = 0; (ended = waitpid(-1, nullptr, WNOHANG)) > 0;)
      if (ended == reader) reader = -1;
    if (reader > 0) end_reader(reader);
    if (is_over) _exit(0);
    reader = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (reader == 0) {
      dup2(socket, own_socket);
      close_all_but_socket();
      serve();
    }
    close(socket);
  }
}

void leave_observer(int socket) noexcept {
  setsid();  // Ctrl-C is for the observer, which ends this process
  if (chdir("/") != 0) _exit(1);
  dup2(socket, own_socket);
  close_all_but_socket();
  keep_few_capabilities();
}

[[noreturn]] void become_starter(int socket) noexcept {
  leave_observer(socket);
  prctl(PR_SET_NAME, "adaptyst-reader");
  start_readers();
}

// ---- in this process ----

std::atomic<int> hung_count{0};

class readers {
 public:
  // Ends the children. No other function is called afterwards.
  void stop() {
    const std::lock_guard lock(mutex_);
    socket_.reset();
    starter_socket_.reset();
    if (starter_ > 0 && owner_ == getpid()) waitpid(std::exchange(starter_, -1), nullptr, __WALL);
  }

  void start() {
    const std::lock_guard lock(mutex_);
    ensure_starter();
  }

  bool has_hung(pid_t process) {
    if (hung_count.load(std::memory_order_relaxed) == 0) return false;
    const std::lock_guard lock(mutex_);
    const auto entry = hung_.find(process);
    if (entry == hung_.end()) return false;
    const std::optional<process_stat> now = read_stat(process);
    if (!now || now->started == entry->second) return true;
    hung_.erase(entry);  // another process has this number now
    return false;
  }

  // Sends a request, and calls take(reply, bytes after it, descriptor) for each answer until it returns true. False,
  // with errno: no answer.
  template <class Take>
  bool request_read(pid_t process, const request& what, std::string_view part, int along, Take&& take) {
    if (has_hung(process)) {
      errno = ETIMEDOUT;
      return false;
    }
    bool is_late = false;
    {
      const std::lock_guard lock(mutex_);
      const std::uint64_t begun_ns = detail::monotonic_ns();
      if (begun_ns - period_begun_ns_ > period_ns) {
        period_begun_ns_ = begun_ns;
        waited_ns_ = 0;
      }
      const std::uint64_t left_ns = time_for_all_ns - std::min(time_for_all_ns, waited_ns_);
      const std::uint64_t until_ns = begun_ns + std::clamp(left_ns, shortest_wait_ns, longest_wait_ns);
      bool is_answered = false;
      try {
        is_answered = exchange(what, part, along, take, until_ns, is_late);
      } catch (const std::exception&) {  // no memory for the answer
        errno = ENOMEM;
      }
      const int number = errno;
      if (const std::uint64_t took_ns = detail::monotonic_ns() - begun_ns; took_ns > worth_counting_ns)
        waited_ns_ += took_ns;
      if (!is_answered) socket_.reset();
      if (is_late) note_hang(process);
      errno = number;
      if (!is_late) return is_answered;
    }
    complain(
        fmt::format("process {} is not observed any more: reading its memory or a file that it has mapped takes "
                    "more than {} s\ncheck whether its file systems respond (FUSE, network)",
                    process, longest_wait_ns / (1000 * ms)));
    errno = ETIMEDOUT;
    return false;
  }

 private:
  bool ensure_starter() {
    if (starter_socket_ && owner_ == getpid()) return true;
    socket_.reset();  // inherited from the process that forked this one
    starter_socket_.reset();
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
    descriptor theirs(pair[1]);
    starter_socket_.reset(pair[0]);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);  // all signals stay blocked in the child: handlers belong to the program
    // No signal at its end: the observed program does not wait for it.
    const auto child = static_cast<pid_t>(syscall(SYS_clone, 0, nullptr, nullptr, nullptr, nullptr));
    if (child == 0) become_starter(theirs.get());
    const int number = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    owner_ = getpid();
    starter_ = child;
    if (child < 0) starter_socket_.reset();
    errno = number;
    return child > 0;
  }

  bool ensure_reader() {
    if (!ensure_starter()) return false;
    if (socket_) return true;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return false;
    const descriptor theirs(pair[1]);
    socket_.reset(pair[0]);
    if (send_message(starter_socket_.get(), char{}, nullptr, 0, theirs.get())) return true;
    socket_.reset();
    starter_socket_.reset();  // another process killed it
    return false;
  }

  template <class Take>
  bool exchange(const request& what, std::string_view part, int along, Take&& take, std::uint64_t until_ns,
                bool& is_late) {
    // Another process may have killed the reader: then a second one gets the request.
    if (!ensure_reader() && !ensure_reader()) return false;
    if (!send_message(socket_.get(), what, part.data(), part.size(), along)) {
      socket_.reset();
      if (!ensure_reader() || !send_message(socket_.get(), what, part.data(), part.size(), along)) return false;
    }
    for (;;) {
      const std::uint64_t now_ns = detail::monotonic_ns();
      pollfd answer{socket_.get(), POLLIN, 0};
      const int ready = now_ns < until_ns ? ::poll(&answer, 1, static_cast<int>((until_ns - now_ns) / ms + 1)) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) {
        is_late = true;
        return false;
      }
      reply got{};
      int back = -1;
      const ssize_t came = receive_message(socket_.get(), got, room_, max_part, back);
      if (came < 0) {
        errno = EIO;
        return false;
      }
      errno = got.number;
      if (take(got, std::string_view(room_, static_cast<std::size_t>(came)), descriptor(back))) return true;
    }
  }

  void note_hang(pid_t process) {
    const std::optional<process_stat> now = read_stat(process);
    hung_[process] = now ? now->started : 0;
    ++hung_count;
  }

  std::mutex mutex_;
  descriptor starter_socket_, socket_;
  pid_t owner_ = 0, starter_ = -1;
  std::map<pid_t, std::uint64_t> hung_;  // with the start time of each
  std::uint64_t period_begun_ns_ = 0;
  std::uint64_t waited_ns_ = 0;  // since `period_begun_ns_`
  char room_[max_part];
};

readers& all_readers() {
  static readers& only = *new readers;  // for reads after the end of this class's users
  static const struct ending {
    ~ending() { only.stop(); }
  } at_end;
  return only;
}

// The other process with the folder of /proc that contains the name; 0: none.
pid_t find_process(std::string_view name) noexcept {
  constexpr std::string_view begin = "/proc/";
  if (name.substr(0, begin.size()) != begin) return 0;
  pid_t process = 0;
  const char* const end = name.data() + name.size();
  const auto [next, wrong] = std::from_chars(name.data() + begin.size(), end, process);
  return wrong == std::errc() && next != end && *next == '/' && process != getpid() ? process : 0;
}

// Empty: there is no such process.
std::optional<bool> has_root_as_user(pid_t process) {
  char text[4096];
  char name[32];
  *fmt::format_to_n(name, sizeof name - 1, "/proc/{}/status", process).out = '\0';
  const descriptor file(open(name, O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  const ssize_t bytes = file ? read(file.get(), text, sizeof text - 1) : -1;
  if (bytes <= 0) return false;
  text[bytes] = '\0';
  const char* const line = std::strstr(text, "\nUid:");
  unsigned real = 1, effective = 1, saved = 1;
  return line != nullptr && std::sscanf(line, "\nUid: %u %u %u", &real, &effective, &saved) == 3 && real == 0 &&
         effective == 0 && saved == 0;
}

// Whether the process belongs to the observer's user, who could only delay the observer's own work. Such a process is
// read without the child: the child costs two context switches for each piece, which take milliseconds on a busy
// machine. Only root observes other users. An answer is valid for a second. A read of a process that has ended fails at
// once, without the child.
bool is_trusted(pid_t process) noexcept {
  if (geteuid() != 0) return true;
  constexpr std::uint64_t kept_ns = 1000 * ms;
  constexpr std::size_t max_processes = 4096;
  struct answer {
    bool is_trusted;
    std::uint64_t since_ns;
  };
  try {
    static std::mutex& mutex = *new std::mutex;  // for reads after main() has ended
    static auto& answers = *new std::map<pid_t, answer>;
    const std::lock_guard lock(mutex);
    const std::uint64_t now_ns = detail::monotonic_ns();
    if (const auto found = answers.find(process); found != answers.end() && now_ns - found->second.since_ns < kept_ns)
      return found->second.is_trusted;
    const std::optional<bool> is_root = has_root_as_user(process);
    if (!is_root) return true;
    if (answers.size() >= max_processes) answers.clear();
    return (answers[process] = {*is_root, now_ns}).is_trusted;
  } catch (const std::exception&) {  // no memory
    return false;
  }
}

}  // namespace

void start_reading() noexcept {
  try {
    all_readers().start();
  } catch (const std::exception&) {  // the first read reports it
  }
}

void enter_reading_child(int socket) noexcept {
  leave_observer(socket);
  for (int at = own_socket + 1; at <= STDERR_FILENO; ++at) open("/dev/null", O_RDWR | O_CLOEXEC);
  // At once: the numbers of its parent's sockets are not in use yet.
  if (geteuid() == 0) start_reading();
}

bool has_hung(pid_t process) noexcept { return all_readers().has_hung(process); }

std::uint64_t find_image_number(pid_t process) noexcept {
  char name[max_proc_name];
  make_proc_name(process, "/stat", name);
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t got = read(file, text, sizeof text);
  close(file);
  // The beginning and the end of its code, and its stack: fields 26 to 28 of proc(5). A name may contain any character.
  constexpr int before_code = 24;  // of the fields behind the name
  const char* const end = text + std::max<ssize_t>(got, 0);
  const char* at = end;
  while (at != text && at[-1] != ')') --at;
  for (int field = 0; field != before_code && at != end; ++field) at = std::find(at + 1, end, ' ');
  std::uint64_t image = 0;
  for (int field = 0; field != 3 && at != end; ++field) {
    std::uint64_t number = 0;
    at = std::from_chars(at + 1, end, number).ptr;
    image = (image ^ number) * 0x100000001b3;  // FNV-1a
  }
  return image;
}

ssize_t read_memory(const program_memory& from, void* to, std::size_t bytes, std::uint64_t address) noexcept {
  if (is_trusted(from.process)) return read_directly(from, to, bytes, address);
  std::size_t done = 0;
  ssize_t result = 0;
  do {
    const auto part = static_cast<std::uint32_t>(std::min(bytes - done, max_part));
    const auto take = [&](const reply& got, std::string_view there, const descriptor&) {
      result = got.result;
      std::memcpy(static_cast<char*>(to) + done, there.data(), std::min<std::size_t>(there.size(), part));
      return true;
    };
    const request requested{wanted::read, part, address + done, from.process, from.image};
    if (!all_readers().request_read(from.process, requested, {}, from.descriptor, take)) return -1;
    if (result > 0) done += static_cast<std::size_t>(result);
  } while (result > 0 && done < bytes);
  return done != 0 ? static_cast<ssize_t>(done) : result;
}

ssize_t write_memory(const program_memory& in, const void* from, std::size_t bytes, std::uint64_t address) noexcept {
  if (is_trusted(in.process)) return write_directly(in, from, bytes, address);
  std::size_t done = 0;
  ssize_t result = 0;
  do {
    const std::string_view part(static_cast<const char*>(from) + done, std::min(bytes - done, max_part - 1));
    const auto take = [&](const reply& got, std::string_view, const descriptor&) {
      result = got.result;
      return true;
    };
    const request requested{wanted::write, 0, address + done, in.process, in.image};
    if (!all_readers().request_read(in.process, requested, part, in.descriptor, take)) return -1;
    if (result > 0) done += static_cast<std::size_t>(result);
  } while (result > 0 && done < bytes);
  return done != 0 ? static_cast<ssize_t>(done) : result;
}

bool is_memory_gone(const program_memory& of) noexcept {
  if (is_trusted(of.process)) return has_no_users(of.descriptor);
  ssize_t result = -1;
  const auto take = [&](const reply& got, std::string_view, const descriptor&) {
    result = got.result;
    return true;
  };
  return all_readers().request_read(of.process, {wanted::read, 0, 0, of.process, of.image}, {}, of.descriptor, take) &&
         result == 0;
}

bool read_process_file(pid_t process, const char* name, std::size_t max_bytes, std::string& text) {
  text.clear();
  const std::string file = fmt::format("/proc/{}/{}", process == getpid() ? "self" : std::to_string(process), name);
  if (process == getpid() || is_trusted(process)) {
    const descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    char part[4096];
    ssize_t got = -1;
    while (opened && text.size() < max_bytes && (got = read(opened.get(), part, sizeof part)) > 0)
      text.append(part, static_cast<std::size_t>(got));
    if (text.size() > max_bytes) text.resize(max_bytes);
    return opened && got >= 0;
  }
  bool is_read = false;
  return all_readers().request_read(process, {wanted::text, 0, max_bytes}, file, -1,
                                    [&](const reply& got, std::string_view piece, const descriptor&) {
                                      text += piece;
                                      is_read = got.result == 0;
                                      return piece.empty();
                                    }) &&
         is_read;
}

int find_status(const std::string& name, struct stat& found) noexcept {
  const pid_t process = find_process(name);
  if (process == 0 || is_trusted(process)) return stat(name.c_str(), &found);
  std::int64_t result = -1;
  const auto take = [&](const reply& got, std::string_view there, const descriptor&) {
    result = got.result;
    if (there.size() == sizeof found) std::memcpy(&found, there.data(), sizeof found);
    return true;
  };
  return all_readers().request_read(process, {wanted::status, 0, 0}, name, -1, take) ? static_cast<int>(result) : -1;
}

std::vector<struct stat> find_statuses(pid_t process, const std::vector<std::string>& names) {
  std::vector<struct stat> found(names.size());
  if (is_trusted(process)) {
    for (std::size_t at = 0; at != names.size(); ++at)
      if (stat(names[at].c_str(), &found[at]) != 0) found[at] = {};
    return found;
  }
  for (std::size_t first = 0; first < names.size();) {
    std::string part;
    std::size_t end = first;
    for (; end < names.size() && (end - first + 1) * sizeof(struct stat) <= max_part; ++end) {
      if (part.size() + names[end].size() + 1 >= max_part) break;
      part += names[end] + '\0';
    }
    const auto take = [&](const reply&, std::string_view there, const descriptor&) {
      std::memcpy(static_cast<void*>(&found[first]), there.data(),
                  std::min(there.size(), (end - first) * sizeof(struct stat)));
      return true;
    };
    if (end == first || !all_readers().request_read(process, {wanted::status, 0, 0}, part, -1, take)) break;
    first = end;
  }
  return found;
}

readable_file open_regular(const std::string& name) noexcept {
  readable_file made;
  const pid_t process = find_process(name);
  if (process == 0 || is_trusted(process)) {
    made.file.reset(open_regular_here(name.c_str()));
    struct stat status {};
    if (made.file && fstat(made.file.get(), &status) == 0) made.device = status.st_dev, made.inode = status.st_ino;
    return made;
  }
  bool may_block = false;
  const auto open_it = [&](const reply& got, std::string_view, descriptor there) {
    made = {std::move(there), descriptor(), static_cast<dev_t>(got.device), static_cast<ino_t>(got.inode)};
    may_block = got.may_block != 0;
    return true;
  };
  if (!all_readers().request_read(process, {wanted::file, 0, 0}, name, -1, open_it) || !made.file || !may_block)
    return made;
  const auto copy_it = [&](const reply&, std::string_view, descriptor there) {
    made.contents = std::move(there);
    return true;
  };
  if (!all_readers().request_read(process, {wanted::contents, 0, 0}, {}, made.file.get(), copy_it) || !made.contents) {
    const int number = errno;
    made.file.reset();
    errno = number;
  }
  return made;
}

}  // namespace adaptyst::lib
