// A lock for a thread of this library that walks through the loaded objects: fork() waits until it is released.
//
// The loader holds a lock during the walk. If another thread forks at that time, the lock is never released in the
// child: glibc renews other locks of the loader there, but not this one. The child's first marker also walks through
// the objects.
#ifndef ADAPTYST_LIB_SUPPORT_LOADER_WALK_HPP
#define ADAPTYST_LIB_SUPPORT_LOADER_WALK_HPP

#include <mutex>

namespace adaptyst::lib {

class loader_walk {
 public:
  loader_walk();

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace adaptyst::lib

#endif
