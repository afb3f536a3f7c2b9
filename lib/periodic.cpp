#include "periodic.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

namespace adaptyst::lib {

periodic::periodic(std::chrono::milliseconds interval, std::function<void()> work) : process_(getpid()) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // as the thread inherits it
  try {
    thread_ = std::thread([this, interval, work = std::move(work)] {
      pthread_setname_np(pthread_self(), "adaptyst");
      std::unique_lock lock(mutex_);
      while (!ends_.wait_for(lock, interval, [this] { return ending_; })) {
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
    thread_.detach();
    // Whoever held the mutex or waited is not in this process.
    new (&mutex_) std::mutex;
    new (&ends_) std::condition_variable;
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_all();
  thread_.join();
}

}  // namespace adaptyst::lib
