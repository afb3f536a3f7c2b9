// The recorders of a process, one after the other. Its list may be damaged, and lead in a circle.
#ifndef ADAPTYST_LIB_RECORDER_RECORDER_LIST_HPP
#define ADAPTYST_LIB_RECORDER_RECORDER_LIST_HPP

#include <adaptyst/detail/observer_settings.hpp>
#include <cstdint>
#include <unordered_set>

namespace adaptyst::lib {

// Calls visit(address) for each recorder; visit() returns the address of the next one, or 0 at the end.
template <class Visit>
void for_each_recorder(std::uint64_t first, Visit&& visit) {
  std::unordered_set<std::uint64_t> visited;
  while (first != 0 && visited.size() != detail::max_recorders && visited.insert(first).second) first = visit(first);
}

}  // namespace adaptyst::lib

#endif
