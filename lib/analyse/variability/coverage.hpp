// The time of each window that spans cover. Time under several spans counts once.
#ifndef ADAPTYST_LIB_ANALYSE_VARIABILITY_COVERAGE_HPP
#define ADAPTYST_LIB_ANALYSE_VARIABILITY_COVERAGE_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parts.hpp"

namespace adaptyst::lib {

class coverage {
 public:
  // For the windows in `rows`, from `begin` on; adds the covered time to the member `to`.
  void start(std::vector<window_row>& rows, std::uint64_t window_row::*to, std::uint64_t begin,
             std::uint64_t width_ns) noexcept {
    rows_ = &rows;
    to_ = to;
    width_ns_ = width_ns;
    from_ = until_ = begin;
    window_ = 0;
    border_ = begin + width_ns;
  }
  // In ascending order of starts; none is before `begin`.
  void add(std::uint64_t start, std::uint64_t end) noexcept {
    if (start > until_) {
      flush();
      from_ = start;
      until_ = start;
    }
    if (end > until_) until_ = end;
  }
  void finish() noexcept { flush(); }

 private:
  // Cuts at the borders of windows, and at the end of the last window.
  void flush() noexcept {
    while (from_ < until_) {
      if (from_ >= border_) {
        const std::uint64_t more = (from_ - border_) / width_ns_ + 1;
        window_ += static_cast<std::size_t>(more);
        border_ += more * width_ns_;
      }
      if (window_ >= rows_->size()) return;
      const std::uint64_t part = until_ < border_ ? until_ : border_;
      (*rows_)[window_].*to_ += part - from_;
      from_ = part;
    }
  }

  std::vector<window_row>* rows_ = nullptr;
  std::uint64_t window_row::*to_ = nullptr;
  std::uint64_t width_ns_ = 1, from_ = 0, until_ = 0, border_ = 0;
  std::size_t window_ = 0;
};

}  // namespace adaptyst::lib

#endif
