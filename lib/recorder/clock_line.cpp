#include "clock_line.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <time.h>

#include <algorithm>

namespace adaptyst::lib {

namespace {

constexpr std::uint64_t min_baseline_ns = 3'000'000;

bool counter_is_constant() noexcept {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned invariant_tsc = 1U << 8;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & invariant_tsc) != 0;
#else
  return true;  // the generic timer of the architecture
#endif
}

}  // namespace

clock_pair read_clock_pair() noexcept {
  clock_pair best{};
  std::uint64_t least = ~std::uint64_t{0};
  for (int attempt = 0; attempt != 16; ++attempt) {
    const std::uint64_t before = detail::ticks();
    const std::uint64_t ns = detail::monotonic_ns();
    const std::uint64_t after = detail::ticks();
    if (after - before >= least) continue;
    least = after - before;
    best = {before + least / 2, ns};
  }
  return best;
}

detail::clock_line calibrate(clock_pair earlier) noexcept {
  if (!counter_is_constant()) return {};
  const std::uint64_t elapsed = detail::monotonic_ns() - earlier.ns;
  if (elapsed < min_baseline_ns) {
    const timespec rest{0, static_cast<long>(min_baseline_ns - elapsed)};
    nanosleep(&rest, nullptr);
  }
  const clock_pair now = read_clock_pair();
  if (now.ticks <= earlier.ticks) return {};
  const auto slope =
      static_cast<std::uint64_t>((static_cast<detail::wide>(now.ns - earlier.ns) << 32) / (now.ticks - earlier.ticks));
  return {slope, now.ticks, now.ns};
}

std::uint64_t from_process_clock(std::uint64_t process_ns, std::int64_t lead_ns) noexcept {
  const std::uint64_t ahead_ns = static_cast<std::uint64_t>(lead_ns);
  if (lead_ns <= 0) return process_ns - ahead_ns;
  return process_ns - std::min(process_ns, ahead_ns);
}

std::uint64_t to_process_clock(std::uint64_t our_ns, std::int64_t lead_ns) noexcept {
  return from_process_clock(our_ns, -lead_ns);
}

detail::clock_line in_our_clock(detail::clock_line line, std::int64_t lead_ns, clock_pair now) noexcept {
  if (lead_ns == 0 || line.ns_per_tick == 0) return line;
  const auto distance = [&](std::uint64_t ns) {
    const std::uint64_t on_line = detail::to_monotonic_ns(line, now.ticks);
    return std::max(on_line, ns) - std::min(on_line, ns);
  };
  if (distance(to_process_clock(now.ns, lead_ns)) < distance(now.ns))
    line.base_ns = from_process_clock(line.base_ns, lead_ns);
  return line;
}

}  // namespace adaptyst::lib
