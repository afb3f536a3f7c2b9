#include "intervals.hpp"

#include <algorithm>
#include <cstddef>

namespace adaptyst::lib {

void unite(std::vector<interval>& all) {
  std::size_t count = 0;
  for (const interval& one : all) {
    if (one.begin >= one.end) continue;
    if (count != 0 && one.begin <= all[count - 1].end) all[count - 1].end = std::max(all[count - 1].end, one.end);
    else all[count++] = one;
  }
  all.resize(count);
}

}  // namespace adaptyst::lib
