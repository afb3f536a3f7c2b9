// Blocks all signals while a thread is made, so that this thread never takes a signal of the program.
#ifndef ADAPTYST_LIB_SUPPORT_ALL_SIGNALS_BLOCKED_HPP
#define ADAPTYST_LIB_SUPPORT_ALL_SIGNALS_BLOCKED_HPP

#include <pthread.h>
#include <signal.h>

namespace adaptyst::lib {

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

}  // namespace adaptyst::lib

#endif
