// Spans of a block that exceed the memory, in the order of the analysis: sorted in pieces, which are written to a file
// and merged.
#ifndef ADAPTYST_LIB_DISTRIBUTE_SORTED_SPANS_HPP
#define ADAPTYST_LIB_DISTRIBUTE_SORTED_SPANS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "../analyse/variability/order_statistics.hpp"
#include "../analyse/variability/parts.hpp"
#include "span_store.hpp"

namespace adaptyst::lib {

class sorted_spans {
 public:
  // At most `max_spans` are in memory.
  sorted_spans(spill_file& beyond, bool by_name, std::size_t max_spans);

  void add(const kept_span* spans, std::size_t count);
  // Visits all spans, and removes them.
  void visit(const std::function<void(const kept_span& span)>& take);

 private:
  struct run {
    std::uint64_t at = 0, left = 0;
    std::vector<kept_span> some;
    std::size_t next = 0;
  };
  void sort();
  void put_away();
  bool fill(run& run, std::size_t count) const;

  spill_file& beyond_;
  bool by_name_;
  std::size_t max_spans_;
  std::vector<kept_span> kept_;
  std::vector<run> runs_;
};

// Durations of a window that exceed the memory.
class spilled_numbers final : public number_store {
 public:
  explicit spilled_numbers(spill_file& beyond) : beyond_(beyond) {}
  void put(const std::uint64_t* numbers, std::size_t count) override;
  void visit(const std::function<void(const std::uint64_t* numbers, std::size_t count)>& take) const override;
  void clear() noexcept override { pieces_.clear(); }

 private:
  struct piece {
    std::uint64_t at;
    std::size_t count;
  };
  spill_file& beyond_;
  std::vector<piece> pieces_;
};

}  // namespace adaptyst::lib

#endif
