// A value that outlives all others. A collector that is local to main() reports when the program calls exit(). Values
// that it needs may be newer than the collector, and would be destroyed before it. All static values of stop() have
// this type.
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
