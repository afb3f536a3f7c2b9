// A child process that reads contents of observed programs. Such contents may end the child, take any memory, or never
// end.
//
//   limited_child child({"adaptyst-symbols", "functions have no names", 5'000'000'000, 10'000'000'000,
//                        std::uint64_t{2} << 30, 4}, serve);
//   if (child.ensure() && child.send(request)) bytes = child.receive(answer, part, sizeof part);
//
// If a request takes too long, or ends the child, receive() returns -1 and ensure() starts another child. Failed
// requests and starts cannot delay the observer much: after 10 s in failed requests, each may take a twentieth of
// `cpu_ns` and of `wall_ns`. After several ends, ensure() waits between two starts: 1 s, then twice as long each time,
// 64 s at most. Not thread-safe.
#ifndef ADAPTYST_LIB_SUPPORT_LIMITED_CHILD_HPP
#define ADAPTYST_LIB_SUPPORT_LIMITED_CHILD_HPP

#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "descriptor.hpp"
#include "socket_message.hpp"

namespace adaptyst::lib {

class limited_child {
 public:
  struct limits {
    const char* name;      // of the process, at most 15 characters
    const char* loss;      // of a missing child, for messages
    std::uint64_t cpu_ns;  // of a request: on a loaded machine, it takes more time than that
    std::uint64_t wall_ns;
    std::uint64_t bytes;    // memory beyond that of this process at the start
    unsigned ends_at_once;  // ended children without a pause before the next start
    // True: the process is the child of an ended child, because this process may be a program that waits for all of its
    // children. It keeps the memory of this process as of the start, so there is only one: start it early. False: it ends
    // with the thread that has started it.
    bool is_orphan = false;
  };

  // `serve`: called in the child with its socket; the child ends when it returns.
  limited_child(const limits& of, std::function<void(int)> serve) : limits_(of), serve_(std::move(serve)) {}
  ~limited_child() { end(); }
  limited_child(const limited_child&) = delete;
  limited_child& operator=(const limited_child&) = delete;

  // Whether there is a child; forks it if necessary, which is cheap while this process is small. Reports the first
  // failure.
  bool ensure();
  // Differs between children; a new child has no state of the earlier.
  unsigned number() const noexcept { return started_; }
  bool is_running() const noexcept { return child_ > 0; }

  // `along`: a descriptor that the child receives; -1: none. False: the child has ended.
  template <class Head>
  bool send(const Head& head, int along = -1) noexcept {
    if (!is_running()) return false;
    if (send_message(socket_.get(), head, nullptr, 0, along, MSG_DONTWAIT)) return true;
    return errno == EAGAIN && wait_for_room() && send_message(socket_.get(), head, nullptr, 0, along, MSG_DONTWAIT);
  }
  // Returns the number of bytes after the head; -1: there was no answer, and the child is ended. `progress`: in memory
  // shared with the child, which has the whole time again when it changes the value; or null.
  template <class Head>
  ssize_t receive(Head& head, void* part, std::size_t max_bytes,
                  const std::atomic<std::uint32_t>* progress = nullptr) noexcept {
    int along = -1;
    const ssize_t bytes =
        wait(progress) ? receive_message(socket_.get(), head, part, max_bytes, along, MSG_DONTWAIT) : -1;
    const descriptor unwanted(along);
    if (bytes < 0) end();
    return bytes;
  }
  void end() noexcept;

  // CPU time of all children.
  std::uint64_t used_ns() const noexcept;

 private:
  bool wait(const std::atomic<std::uint32_t>* progress) noexcept;
  bool wait_for_room() noexcept;
  void remove_ended() noexcept;
  void start() noexcept;
  pid_t fork_child(int socket) noexcept;
  bool has_ended() const noexcept;
  void report_missing(int number);
  [[noreturn]] void run(int socket) noexcept;

  limits limits_;
  std::function<void(int)> serve_;
  descriptor socket_;
  pid_t child_ = -1;         // -1: none
  descriptor orphan_;        // its process
  pid_t maker_ = -1;         // this process, unless it is a forked child of that
  std::vector<pid_t> left_;  // earlier children that have not ended yet
  unsigned started_ = 0, ended_ = 0;
  bool is_reported_ = false;
  std::uint64_t started_ns_ = 0, next_start_ns_ = 0, ended_children_ns_ = 0, lost_ns_ = 0;
};

}  // namespace adaptyst::lib

#endif
