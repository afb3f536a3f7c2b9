// What tells one program of a process from the next, which has taken its place by exec().
#ifndef ADAPTYST_LIB_DISCOVER_PROCESS_IMAGE_HPP
#define ADAPTYST_LIB_DISCOVER_PROCESS_IMAGE_HPP

#include <sys/types.h>

#include <string>

namespace adaptyst::lib {

// Where its code and its stack begin; empty when it is gone.
std::string image_of(pid_t process);

}  // namespace adaptyst::lib

#endif
