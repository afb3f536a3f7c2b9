// Threads of our own that do not disturb the program: blocked signals, separate work, periodic work.
#ifndef ADAPTYST_LIB_SUPPORT_THREADS_HPP
#define ADAPTYST_LIB_SUPPORT_THREADS_HPP

#include <chrono>
#include <functional>
#include <memory>
#include <pthread.h>
#include <signal.h>
#include <sys/types.h>

namespace adaptyst::lib {

// Blocks all signals while a thread is made, so that this thread never takes a signal of the program.
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

// Work whose memory is kept apart from the program's.

// Runs `work` to its end on a thread that takes no signals and has a heap of its own with room for large blocks. What
// the work throws is thrown here. If no thread can be made, the work runs on this one.
//
// The caller may be in a constructor, and hold the loader's lock: the work must not ask for it, by dlopen(), dladdr(),
// or a thread_local variable of ours.
void run_apart(const std::function<void()>& work);

// Calls a function every so often, on a thread of its own.
class periodic {
 public:
  // `work` must not throw. The thread takes none of the program's signals. Throws std::system_error.
  periodic(std::chrono::milliseconds interval, std::function<void()> work);
  // Waits until the work under way is done. In a forked child, where there is no such thread, it touches nothing of it.
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
