// Finds scopes of a thread that cross others, for formats in which the slices of a track must nest.
//
// Scopes come sorted by their ends, as recorders write them, or by their begins, the longer first. Memory is bounded:
// of a thread with very many scopes, only the last ones are compared.
#ifndef ADAPTYST_LIB_TRACE_CROSSING_SCOPES_HPP
#define ADAPTYST_LIB_TRACE_CROSSING_SCOPES_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

#include "../model/traced_event.hpp"

namespace adaptyst::lib {

class crossing_scopes {
 public:
  // The scopes that may contain or cross the next one, sorted by begin.
  class thread {
    friend class crossing_scopes;
    std::vector<time_span> around_;
    bool is_by_begin_ = false;  // a scope was within an earlier one
  };

  // `is_in_order`: whether a scope that comes after an inner one with the same begin counts as crossing, because the
  // format has no other order than that of the file.
  explicit crossing_scopes(bool is_in_order) : is_in_order_(is_in_order) {}

  // True: the scope must not be on the track of the thread, because it crosses another scope, or because the
  // memory for comparisons is full. False: it may; it is kept, and later scopes are compared with it. Also false for
  // a scope out of order, which is not compared and not kept.
  bool needs_other_track(thread& of, const time_span& scope) {
    std::vector<time_span>& around = of.around_;
    if (!around.empty() && scope.end_ns <= around.back().begin_ns && scope.begin_ns < around.back().begin_ns)
      return false;  // not sorted
    const std::size_t inner = find_inner(around, scope);
    if (inner != around.size()) {
      const time_span& first = around[inner];
      if (first.begin_ns > scope.begin_ns) of.is_by_begin_ = false;
      const bool is_longer = first.end_ns > first.begin_ns && first.end_ns < scope.end_ns;
      if (is_in_order_ && first.begin_ns == scope.begin_ns && is_longer) return true;
    }
    std::size_t kept = inner;
    if (of.is_by_begin_)
      while (kept != 0 && around[kept - 1].end_ns <= scope.begin_ns) --kept;
    if (kept != 0 && does_cross(around[kept - 1], scope)) return true;
    shrink(around, kept);
    if (!around.empty() && around.back().end_ns > scope.end_ns) of.is_by_begin_ = true;
    if (around.size() >= (of.is_by_begin_ ? max_nested : max_siblings) || all_ >= max_all) {
      if (of.is_by_begin_ || around.empty()) return true;
      all_ -= around.size() - around.size() / 2;
      around.erase(around.begin(), around.end() - static_cast<std::ptrdiff_t>(around.size() / 2));
    }
    around.push_back(scope);
    ++all_;
    return false;
  }

 private:
  static constexpr std::size_t max_nested = 8192, max_siblings = 1024;
  static constexpr std::size_t max_all = std::size_t{1} << 22U;  // of all threads

  // The position of the first scope that is within this one; all further ones are.
  static std::size_t find_inner(const std::vector<time_span>& around, const time_span& scope) {
    std::size_t at = around.size();
    while (at != 0 && around[at - 1].begin_ns >= scope.begin_ns && around[at - 1].end_ns <= scope.end_ns) --at;
    return at;
  }
  static bool does_cross(const time_span& one, const time_span& other) {
    return one.begin_ns < other.end_ns && one.end_ns > other.begin_ns &&
           (one.begin_ns > other.begin_ns || one.end_ns < other.end_ns);
  }
  void shrink(std::vector<time_span>& around, std::size_t to) {
    all_ -= around.size() - to;
    around.resize(to);
  }

  bool is_in_order_;
  std::size_t all_ = 0;
};

}  // namespace adaptyst::lib

#endif
