// A timer that starts again when its interval is over.
#ifndef ADAPTYST_LIB_SUPPORT_REPEATING_TIMER_HPP
#define ADAPTYST_LIB_SUPPORT_REPEATING_TIMER_HPP

#include <algorithm>
#include <chrono>

namespace adaptyst::lib {

class repeating_timer {
 public:
  explicit repeating_timer(double seconds) : length_(seconds), begin_(clock::now()) {}

  // Also changes the interval that runs.
  void set_length(double seconds) { length_ = std::chrono::duration<double>(seconds); }
  // Milliseconds, rounded up.
  int left_ms() const {
    const std::chrono::duration<double, std::milli> left = begin_ + length_ - clock::now();
    return static_cast<int>(std::clamp(left.count() + 1, 0.0, 1e9));
  }
  // Whether the interval is over; if so, the next one begins.
  bool is_over() {
    if (clock::now() < begin_ + length_) return false;
    begin_ = clock::now();
    return true;
  }

 private:
  using clock = std::chrono::steady_clock;
  std::chrono::duration<double> length_;
  clock::time_point begin_;
};

}  // namespace adaptyst::lib

#endif
