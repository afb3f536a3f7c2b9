// Threads of this library that do not disturb the program: blocked signals, separate work, periodic work.
#ifndef ADAPTYST_LIB_SUPPORT_THREADS_HPP
#define ADAPTYST_LIB_SUPPORT_THREADS_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>
#include <thread>

#include "heap_reserve.hpp"

namespace adaptyst::lib {

// Blocks all signals while a thread is created, so that the new thread never takes a signal of the program.
class all_signals_blocked {
 public:
  all_signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~all_signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  all_signals_blocked(const all_signals_blocked&) = delete;
  all_signals_blocked& operator=(const all_signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

// Starts a thread of this library, which takes no signals of the program. Throws std::system_error.
std::thread start_thread(std::function<void()> work);

// Runs `work` to its end on a thread that takes no signals and has a separate heap with room for large blocks.
// Exceptions of the work are thrown again here. If no thread can be created, the work runs on this thread.
//
// The caller may be in a constructor, and hold the loader's lock: the work must not need it, by dlopen(), dladdr(), or
// a thread_local variable of this library.
void run_on_thread(const std::function<void()>& work, heap_room room = {});

// Whether a thread of this process belonged to this library at a time (CLOCK_MONOTONIC). The last 64 threads are known.
// Thread-safe.
bool is_library_thread(pid_t thread, std::uint64_t time_ns) noexcept;

// Calls a function at regular intervals, on a separate thread.
class periodic {
 public:
  // `work` must not throw. The thread takes none of the program's signals. Before each call, its heap has at least the room that
  // `find_room` returns then. Throws std::system_error.
  periodic(std::chrono::milliseconds interval, std::function<void()> work, std::function<heap_room()> find_room);
  // Waits for the end of a running call. In a forked child, which has no such thread, it leaves the state untouched.
  ~periodic();
  periodic(const periodic&) = delete;
  periodic& operator=(const periodic&) = delete;

 private:
  struct state;
  pid_t process_;
  std::unique_ptr<state> state_;
};

}  // namespace adaptyst::lib

#endif
