#include "periodic.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace adaptyst::lib {

struct periodic::state {
  std::mutex mutex;
  std::condition_variable ends;
  bool ending = false;
  std::thread thread;
};

periodic::periodic(std::chrono::milliseconds interval, std::function<void()> work)
    : process_(getpid()), state_(std::make_unique<state>()) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // as the thread inherits it
  try {
    state_->thread = std::thread([interval, work = std::move(work), &in = *state_] {
      pthread_setname_np(pthread_self(), "adaptyst");
      std::unique_lock lock(in.mutex);
      while (!in.ends.wait_for(lock, interval, [&in] { return in.ending; })) {
        lock.unlock();
        work();
        lock.lock();
      }
    });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

periodic::~periodic() {
  if (process_ != getpid()) {
    // Never freed: its thread's number may be another's here, and whoever held the mutex is not here to let it go.
    static_cast<void>(state_.release());
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->ends.notify_all();
  state_->thread.join();
}

}  // namespace adaptyst::lib
