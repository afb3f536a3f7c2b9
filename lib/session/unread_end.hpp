// Estimates, from a program's pace, what it did between the last reading of its recorders and its end: the recorders
// are gone.
#ifndef ADAPTYST_LIB_SESSION_UNREAD_END_HPP
#define ADAPTYST_LIB_SESSION_UNREAD_END_HPP

#include <cstdint>

namespace adaptyst::lib {

class unread_end {
 public:
  explicit unread_end(std::uint64_t begin_ns) : before_{begin_ns, 0}, last_{begin_ns, 0}, read_{begin_ns, 0} {}

  // Notes how many events were in the recorders.
  void see(std::uint64_t now_ns, std::uint64_t events) noexcept;
  // Notes that everything that was seen last has been read.
  void read(std::uint64_t now_ns) noexcept { read_ = {now_ns, last_.events}; }
  std::uint64_t seen() const noexcept { return last_.events; }

  std::uint64_t length_ns(std::uint64_t end_ns) const noexcept {
    return end_ns - (read_.at_ns < end_ns ? read_.at_ns : end_ns);
  }
  // The estimate; at least one, since it cannot be known that there was none.
  std::uint64_t events(std::uint64_t end_ns) const noexcept;

 private:
  struct sight {
    std::uint64_t at_ns, events;
  };
  sight before_, last_, read_;
};

}  // namespace adaptyst::lib

#endif
