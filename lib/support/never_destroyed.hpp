// A value that outlives all others: a collector that is local to main() reports when the program calls exit(), and what it needs
// for that may have been made after it, and would be destroyed before. All that stop() uses of static values is one of these.
#ifndef ADAPTYST_LIB_SUPPORT_NEVER_DESTROYED_HPP
#define ADAPTYST_LIB_SUPPORT_NEVER_DESTROYED_HPP

#include <utility>

namespace adaptyst::lib {

template <class T>
const T& never_destroyed(T value) {
  return *new const T(std::move(value));
}

}  // namespace adaptyst::lib

#endif
