// For functions that the program calls through an interface, and that must not disturb it. Opening, reading and writing
// files and printing are cancellation points: a thread with a pending pthread_cancel() would be unwound there, and
// std::terminate() ends the process at the function's noexcept.
#ifndef ADAPTYST_ADAPTERS_THREAD_STATE_HPP
#define ADAPTYST_ADAPTERS_THREAD_STATE_HPP

#include <pthread.h>

#include <cerrno>

namespace adaptyst::adapters {

// During its lifetime, the thread is not cancelled. Its end restores errno. Costs some nanoseconds.
class thread_state_kept {
 public:
  thread_state_kept() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  ~thread_state_kept() {
    pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  thread_state_kept(const thread_state_kept&) = delete;
  thread_state_kept& operator=(const thread_state_kept&) = delete;

 private:
  int errno_ = errno;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

// A variable of this thread. In a shared library its address is a call of the loader, which the compiler would repeat
// for each use.
template <class Variable>
Variable& find_once(Variable& of_thread) noexcept {
  Variable* found = &of_thread;
  __asm__("" : "+r"(found));
  return *found;
}

}  // namespace adaptyst::adapters

#endif
