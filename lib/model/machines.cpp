// By host; order() says which of two descriptions says more.
#include "machines.hpp"

#include <algorithm>

#include "order.hpp"

namespace adaptyst::lib {

void add_machines(std::vector<machine>& all, const std::vector<machine>& more) {
  for (const machine& one : more) {
    const auto place = std::lower_bound(all.begin(), all.end(), one,
                                        [](const machine& a, const machine& b) { return a.host < b.host; });
    if (place == all.end() || place->host != one.host) all.insert(place, one);
    else if (order(*place) < order(one)) *place = one;
  }
  if (all.size() > profile::max_machines) all.resize(profile::max_machines);
}

}  // namespace adaptyst::lib
