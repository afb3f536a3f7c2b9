// Which span of a thread lies in which, from their times alone.
//
// A span lies in another that begins no later and ends no earlier: borders may be equal, and lengths 0. Its parent is the
// shortest span that it lies in; of equally long ones, the one that begins last. Of identical spans the one with the lower
// level is the parent of the others, else the one that was given earlier. Two spans cross if they overlap and neither lies
// in the other: neither is the other's parent, and both are ambiguous. An ambiguous span still has for its parent the
// shortest span that it lies in.
#ifndef ADAPTYST_LIB_TRACE_CONTAINMENT_HPP
#define ADAPTYST_LIB_TRACE_CONTAINMENT_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../model/traced_event.hpp"

namespace adaptyst::lib {

struct contained_span : time_span {
  std::uint32_t level = 0;
  std::uint32_t given = 0;  // the caller's number of it; increases
};

// Of n spans in O(n log n), and O(n) memory. Where spans cross, a search looks at each span around what is searched for.
class containment {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  containment() = default;
  explicit containment(std::vector<contained_span> spans);

  // In the order of their begins, and behind their parents. The next four count in this order.
  const std::vector<contained_span>& spans() const noexcept { return spans_; }
  std::uint32_t parent(std::size_t span) const { return parents_[span]; }
  bool is_ambiguous(std::size_t span) const { return is_ambiguous_[span]; }
  // The shortest span around these times.
  std::uint32_t find(std::uint64_t begin_ns, std::uint64_t end_ns) const;

  std::size_t ambiguous() const noexcept { return ambiguous_; }

 private:
  // The largest of any range of values.
  class largest_of {
   public:
    largest_of() = default;
    explicit largest_of(const std::vector<std::uint64_t>& values);
    std::uint64_t in(std::size_t first, std::size_t last) const;  // without the last; 0 of none
    // The last place before this one with so much; none: there is no such.
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
