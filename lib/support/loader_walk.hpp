// A lock to hold while one of our threads walks through the loaded objects: fork() waits until it is released.
//
// The loader keeps a lock meanwhile. A child that is forked while another thread has it finds it locked for ever (glibc
// makes other locks of the loader anew there, and not this one), and its first marker walks through them as well.
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
