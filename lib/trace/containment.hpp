// Determines which span of a thread contains which, from the times alone.
//
// A span is within another if the other begins no later and ends no earlier; borders may be equal, and lengths 0. Its
// parent is the shortest span around it; of equally long ones, the one that begins last. If spans are identical, the
// parent is the one with the lower level, otherwise the one that was given earlier. Two spans cross if they overlap and
// neither is within the other: neither is a parent of the other, and both are ambiguous. An ambiguous span still has
// the shortest span around it as its parent.
#ifndef ADAPTYST_LIB_TRACE_CONTAINMENT_HPP
#define ADAPTYST_LIB_TRACE_CONTAINMENT_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../model/traced_event.hpp"

namespace adaptyst::lib {

struct contained_span : time_span {
  std::uint32_t level = 0;
  std::uint32_t given = 0;  // the caller's number; increases
};

// For n spans: O(n log n) time, and O(n) memory. If spans cross, a search visits each span around the wanted times.
class containment {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  containment() = default;
  explicit containment(std::vector<contained_span> spans);

  // In the order of begins, with parents first. The next four use this order.
  const std::vector<contained_span>& spans() const noexcept { return spans_; }
  std::uint32_t parent(std::size_t span) const { return parents_[span]; }
  bool is_ambiguous(std::size_t span) const { return is_ambiguous_[span]; }
  // The shortest span around these times.
  std::uint32_t find(std::uint64_t begin_ns, std::uint64_t end_ns) const;

  std::size_t ambiguous() const noexcept { return ambiguous_; }

 private:
  // The maximum of any range of values.
  class largest_of {
   public:
    largest_of() = default;
    explicit largest_of(const std::vector<std::uint64_t>& values);
    std::uint64_t in(std::size_t first, std::size_t last) const;  // excludes `last`; 0 for an empty range
    // The last place before this one with at least this value; none: no such place.
    std::uint32_t last_before(std::size_t place, std::uint64_t at_least) const;

   private:
    std::size_t leaves_ = 0;  // a power of two
    std::vector<std::uint64_t> tree_;
  };

  std::uint32_t find_before(std::size_t place, std::uint64_t begin_ns, std::uint64_t end_ns) const;
  void find_crossings();

  std::vector<contained_span> spans_;
  largest_of ends_;
  std::vector<std::uint32_t> parents_;
  std::vector<bool> is_ambiguous_;
  std::size_t ambiguous_ = 0;
};

}  // namespace adaptyst::lib

#endif
