#include "loader_walk.hpp"

#include <pthread.h>

namespace adaptyst::lib {

namespace {

// Never destroyed: a program may fork while it ends.
std::mutex& walking() {
  static std::mutex& only = *new std::mutex;
  return only;
}

}  // namespace

loader_walk::loader_walk() {
  static const int registered =
      pthread_atfork([] { walking().lock(); }, [] { walking().unlock(); }, [] { walking().unlock(); });
  static_cast<void>(registered);
  lock_ = std::unique_lock(walking());
}

}  // namespace adaptyst::lib
