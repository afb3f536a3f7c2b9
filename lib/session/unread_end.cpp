#include "unread_end.hpp"

#include <algorithm>

namespace adaptyst::lib {

void unread_end::see(std::uint64_t now_ns, std::uint64_t events) noexcept {
  constexpr std::uint64_t min_apart_ns = 1'000'000;  // or they tell no pace
  if (now_ns - last_.at_ns >= min_apart_ns) before_ = last_;
  last_ = {now_ns, events};
}

std::uint64_t unread_end::events(std::uint64_t end_ns) const noexcept {
  const std::uint64_t known = last_.events - std::min(last_.events, read_.events);
  const std::uint64_t more = last_.events - std::min(last_.events, before_.events);
  const std::uint64_t since_ns = end_ns - std::min(end_ns, std::max(last_.at_ns, read_.at_ns));
  double at_this_pace = 0;
  if (last_.at_ns > before_.at_ns)
    at_this_pace =
        static_cast<double>(more) / static_cast<double>(last_.at_ns - before_.at_ns) * static_cast<double>(since_ns);
  return std::max<std::uint64_t>(known + static_cast<std::uint64_t>(at_this_pace), 1);
}

}  // namespace adaptyst::lib
