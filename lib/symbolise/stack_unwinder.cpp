// The observer's side of the unwinder: the child process, its limits, and the exchange with it.
#include "stack_unwinder.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "../support/cpu_time.hpp"
#include "../support/error.hpp"
#include "../support/reading_process.hpp"

namespace adaptyst::lib {

namespace {

constexpr unsigned max_children = 4;
constexpr std::uint64_t longest_wait_ns = 1'000'000'000;
constexpr rlim_t child_bytes = rlim_t{2} << 30U;  // beyond what it has at its begin
constexpr std::size_t largest_copy = std::size_t{64} << 10U;

struct order {
  pid_t process;
  bool is_forgotten;  // there is no answer
};

// All memory of this process; 0: unknown.
rlim_t read_address_space() noexcept {
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  unsigned long pages = 0;
  if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) pages = 0;
  if (file != nullptr) std::fclose(file);
  return rlim_t{pages} * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

void limit_resources() noexcept {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  rlimit memory{};
  getrlimit(RLIMIT_AS, &memory);
  memory.rlim_cur = std::min(memory.rlim_cur, read_address_space() + child_bytes);
  setrlimit(RLIMIT_AS, &memory);
}

}  // namespace

struct stack_unwinder::exchange {
  std::uint32_t registers, bytes;
  std::uint64_t max_bytes;
  std::uint32_t frames;
  end how;
  std::uint64_t register_values[stack_tables::max_registers];
  std::uint64_t frame_values[stack_tables::max_frames];
  char stack[largest_copy];
};

stack_unwinder::stack_unwinder(method chosen) : chosen_(chosen) {
  if (needed_registers() != 0) ensure_child();
}

stack_unwinder::~stack_unwinder() { end_child(); }

bool stack_unwinder::ensure_child() {
  if (child_ > 0) return true;
  if (children_ == max_children) {
    if (!std::exchange(has_given_up_, true))
      complain(
          error("stacks have no callers any more: the unwinding tables of programs have ended the unwinder too often",
                "stacks", 0, "use --stacks frame-pointers")
              .what());
    return false;
  }
  ++children_;
  void* const room = mmap(nullptr, sizeof(exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int pair[2];
  if (room == MAP_FAILED) return false;
  shared_ = static_cast<exchange*>(room);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return end_child(), false;
  socket_.reset(pair[0]);
  const descriptor theirs(pair[1]);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);  // they stay blocked in the child: handlers belong to the observer
  child_ = fork();
  if (child_ == 0) serve(theirs.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child_ < 0) return end_child(), false;
  return true;
}

void stack_unwinder::end_child() noexcept {
  socket_.reset();  // it ends, unless it still unwinds
  // Another function of the observer may have waited for it; then its number may be another process's.
  if (child_ > 0) {
    ended_children_ns_ += process_cpu_ns(child_);
    constexpr int max_attempts = 50;  // a thread that waits for a file may not end at once
    const timespec a_while{0, 1'000'000};
    for (int at = 0; at != max_attempts && waitpid(child_, nullptr, WNOHANG) == 0; ++at) {
      kill(child_, SIGKILL);
      nanosleep(&a_while, nullptr);
    }
  }
  child_ = -1;
  if (shared_ != nullptr) munmap(shared_, sizeof(exchange));
  shared_ = nullptr;
}

void stack_unwinder::serve(int socket) noexcept {
  const pid_t parent = getppid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  enter_reading_child(socket);
  prctl(PR_SET_NAME, "adaptyst-stacks");
  limit_resources();
  constexpr int own_socket = 0;
  stack_tables tables(chosen_);
  std::vector<std::uint64_t> registers, frames;
  std::vector<char> bytes;
  order wanted{};
  while (recv(own_socket, &wanted, sizeof wanted, 0) == static_cast<ssize_t>(sizeof wanted)) {
    if (wanted.is_forgotten) {
      tables.forget(wanted.process);
      continue;
    }
    registers.assign(shared_->register_values, shared_->register_values + shared_->registers);
    bytes.assign(shared_->stack, shared_->stack + shared_->bytes);
    shared_->how = tables.unwind(wanted.process, {registers, bytes, shared_->max_bytes}, frames);
    shared_->frames = static_cast<std::uint32_t>(std::min(frames.size(), stack_tables::max_frames));
    std::copy_n(frames.begin(), shared_->frames, shared_->frame_values);
    if (send(own_socket, &wanted, sizeof wanted, MSG_NOSIGNAL) < 0) break;
  }
  _exit(0);
}

std::optional<stack_unwinder::end> stack_unwinder::request(pid_t process, const copied_stack& from,
                                                           std::vector<std::uint64_t>& frames) {
  const std::size_t bytes = std::min(from.bytes.size(), largest_copy);
  shared_->registers = static_cast<std::uint32_t>(from.registers.size());
  shared_->bytes = static_cast<std::uint32_t>(bytes);
  shared_->max_bytes = from.max_bytes;
  std::copy(from.registers.begin(), from.registers.end(), shared_->register_values);
  if (bytes != 0) std::memcpy(shared_->stack, from.bytes.data(), bytes);
  order wanted{process, false};
  if (send(socket_.get(), &wanted, sizeof wanted, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return std::nullopt;
  const std::uint64_t until_ns = detail::monotonic_ns() + longest_wait_ns;
  pollfd answer{socket_.get(), POLLIN, 0};
  int ready = 0;
  do {
    constexpr std::uint64_t ms = 1'000'000;
    const std::uint64_t now_ns = detail::monotonic_ns();
    ready = ::poll(&answer, 1, now_ns < until_ns ? static_cast<int>((until_ns - now_ns) / ms + 1) : 0);
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0 || recv(socket_.get(), &wanted, sizeof wanted, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof wanted))
    return std::nullopt;
  const std::size_t number = std::min<std::size_t>(shared_->frames, stack_tables::max_frames);
  frames.assign(shared_->frame_values, shared_->frame_values + number);
  const end how = shared_->how;
  return how == end::complete || how == end::truncated ? how : end::broken;
}

stack_unwinder::end stack_unwinder::unwind(pid_t process, const copied_stack& from,
                                           std::vector<std::uint64_t>& frames) {
  frames.clear();
  const std::optional<std::uint64_t> innermost = stack_tables::find_innermost(from.registers);
  if (!innermost) return end::broken;
  const std::uint64_t begun_ns = thread_cpu_ns();
  end how = end::broken;
  if (refused_.count(process) == 0 && ensure_child()) {
    if (const std::optional<end> answer = request(process, from, frames)) {
      how = *answer;
    } else {
      end_child();
      refused_.insert(process);
    }
  }
  if (frames.empty()) frames.push_back(*innermost);
  used_ns_ += thread_cpu_ns() - begun_ns;
  return how;
}

void stack_unwinder::forget(pid_t process) {
  refused_.erase(process);
  const order wanted{process, true};
  if (child_ > 0) send(socket_.get(), &wanted, sizeof wanted, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::uint64_t stack_unwinder::children_ns() const noexcept {
  return ended_children_ns_ + (child_ > 0 ? process_cpu_ns(child_) : 0);
}

}  // namespace adaptyst::lib
