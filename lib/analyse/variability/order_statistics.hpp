// Exact median and 95th percentile of any number of durations in limited memory. Excess numbers go to a store, which is
// read as often as needed.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_ORDER_STATISTICS_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_ORDER_STATISTICS_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace adaptyst::lib {

// A store for numbers that exceed the memory.
class number_store {
 public:
  number_store() = default;
  number_store(const number_store&) = delete;
  number_store& operator=(const number_store&) = delete;
  virtual ~number_store() = default;
  virtual void put(const std::uint64_t* numbers, std::size_t count) = 0;
  // Visits all stored numbers, in any order.
  virtual void visit(const std::function<void(const std::uint64_t* numbers, std::size_t count)>& take) const = 0;
  virtual void clear() noexcept = 0;
};

class order_statistics {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  order_statistics(number_store* beyond, std::size_t max_kept) : beyond_(beyond), max_kept_(max_kept) {}

  void add(std::uint64_t number) {
    if (kept_.size() >= max_kept_) put_away();
    kept_.push_back(number);
  }
  std::uint64_t count() const noexcept { return put_ + kept_.size(); }

  struct found {
    std::uint64_t min = 0, max = 0;
    double p50 = 0, p95 = 0;  // as defined by quantile()
  };
  // Needs at least one number; removes all numbers.
  found finish();

 private:
  void put_away();
  void visit(const std::function<void(const std::uint64_t* numbers, std::size_t count)>& take) const;
  // The number with `rank` numbers below it, and the next one.
  std::uint64_t select(std::uint64_t rank);
  double find_quantile(double q);

  number_store* beyond_;
  std::size_t max_kept_;
  std::vector<std::uint64_t> kept_;
  std::uint64_t put_ = 0;
};

}  // namespace adaptyst::lib

#endif
