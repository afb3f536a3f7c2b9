// Operations that one call of an interface begins and another ends on the same thread. Only the host's times are known.
// For adapters; one object for each thread.
#ifndef ADAPTYST_ADAPTERS_OPEN_OPERATIONS_HPP
#define ADAPTYST_ADAPTERS_OPEN_OPERATIONS_HPP

#include <adaptyst/operation.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace adaptyst::adapters {

class open_operations {
 public:
  // Returns the number that ends it. If too many are open, the operation is counted as lost, and the number is 0.
  std::uint64_t begin(operation&& begun) noexcept {
    if (!begun) return 0;
    if (count_ == max_open) {
      begun.abandon(operation_loss::no_times);
      return 0;
    }
    open_[count_] = {std::move(begun), now_ns(), ++last_};
    return open_[count_++].number;
  }

  // Ends the innermost operation.
  void end() noexcept {
    if (count_ != 0) open_[--count_].complete();
  }

  // Ends an operation by its number. Operations that were begun after it cannot be ended any more. False: it was not
  // begun on this thread.
  bool end(std::uint64_t number) noexcept {
    std::size_t at = count_;
    while (at != 0 && open_[at - 1].number != number) --at;
    if (at == 0) return false;
    while (count_ != at) open_[--count_].begun.abandon(operation_loss::no_times);
    end();
    return true;
  }

 private:
  struct entry {
    operation begun;
    std::uint64_t started_ns = 0;
    std::uint64_t number = 0;

    void complete() noexcept { begun.complete(started_ns, now_ns()); }
  };

  static constexpr std::size_t max_open = 8;
  entry open_[max_open]{};
  std::size_t count_ = 0;
  std::uint64_t last_ = 0;
};

}  // namespace adaptyst::adapters

#endif
