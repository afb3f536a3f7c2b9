// Estimates, from a program's pace, its events between the last read of its recorders and its end, when the recorders
// no longer exist.
#ifndef ADAPTYST_LIB_SESSION_UNREAD_END_HPP
#define ADAPTYST_LIB_SESSION_UNREAD_END_HPP

#include <algorithm>
#include <cstdint>

namespace adaptyst::lib {

class unread_end {
 public:
  explicit unread_end(std::uint64_t begin_ns) : before_{begin_ns, 0}, last_{begin_ns, 0}, read_{begin_ns, 0} {}

  // Notes how many events were in the recorders.
  void see(std::uint64_t now_ns, std::uint64_t events) noexcept {
    constexpr std::uint64_t min_distance_ns = 1'000'000;  // a shorter time gives no pace
    if (now_ns - last_.at_ns >= min_distance_ns) before_ = last_;
    last_ = {now_ns, events};
  }
  // Notes that everything in the last see() has been read.
  void read(std::uint64_t now_ns) noexcept { read_ = {now_ns, last_.events}; }
  std::uint64_t seen() const noexcept { return last_.events; }

  std::uint64_t length_ns(std::uint64_t end_ns) const noexcept {
    return end_ns - (read_.at_ns < end_ns ? read_.at_ns : end_ns);
  }
  // The estimate; at least 1, since an end without an event cannot be known.
  std::uint64_t events(std::uint64_t end_ns) const noexcept {
    const std::uint64_t unread = last_.events - std::min(last_.events, read_.events);
    const std::uint64_t more = last_.events - std::min(last_.events, before_.events);
    const std::uint64_t since_ns = end_ns - std::min(end_ns, std::max(last_.at_ns, read_.at_ns));
    double at_this_pace = 0;
    if (last_.at_ns > before_.at_ns)
      at_this_pace =
          static_cast<double>(more) / static_cast<double>(last_.at_ns - before_.at_ns) * static_cast<double>(since_ns);
    return std::max<std::uint64_t>(unread + static_cast<std::uint64_t>(at_this_pace), 1);
  }

 private:
  struct sight {
    std::uint64_t at_ns, events;
  };
  sight before_, last_, read_;
};

}  // namespace adaptyst::lib

#endif
