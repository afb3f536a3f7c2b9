// A lock for a thread of this library that walks through the loaded objects: fork() waits until it is released.
//
// The loader holds a lock during the walk. If another thread forks at that time, the lock is never released in the
// child: glibc renews other locks of the loader there, but not this one. The child's first marker also walks through
// the objects.
#ifndef ADAPTYST_LIB_SUPPORT_LOADER_WALK_HPP
#define ADAPTYST_LIB_SUPPORT_LOADER_WALK_HPP

#include <pthread.h>

#include <mutex>

namespace adaptyst::lib {

class loader_walk {
 public:
  loader_walk() {
    static const int registered =
        pthread_atfork([] { walking().lock(); }, [] { walking().unlock(); }, [] { walking().unlock(); });
    static_cast<void>(registered);
    lock_ = std::unique_lock(walking());
  }

 private:
  // Never destroyed: a program may fork while it ends.
  static std::mutex& walking() {
    static std::mutex& only = *new std::mutex;
    return only;
  }

  std::unique_lock<std::mutex> lock_;
};

}  // namespace adaptyst::lib

#endif
