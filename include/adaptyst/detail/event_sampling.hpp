// Event sampling under an overhead budget: one of 2^k events is recorded. Each is drawn independently, so that no
// period of the program can match a period of the sampling.
//
// A skip count is drawn until the next recorded event: a skipped event costs a decrement. Skip counts are geometrically
// distributed, and thus memoryless: markers on the same step share a count. Markers and steps may change, and every
// event has the same chance. A recorded event has weight 2^k.
//
// A skipped region skips its nested events: during the event, other counts skip all events. frames.hpp describes
// recorded regions.
#ifndef ADAPTYST_DETAIL_EVENT_SAMPLING_HPP
#define ADAPTYST_DETAIL_EVENT_SAMPLING_HPP

#include "skip_counts.hpp"

namespace adaptyst { inline namespace v1 { namespace detail {

// Events that a marker which is too deep skips before one takes the slow path, which tests for the end of the
// observation.
constexpr uint32_t max_deeper_unseen = 1 << 16;

// Events skipped at once, before a check whether the enclosing region is still open.
constexpr uint32_t max_left_out_unseen = 64;

template <class = void>
inline void begin_event_sampling(event_sampler& event_sampler, uint64_t seed) noexcept {
  for (uint32_t& skip_count : event_sampler.open.skip_count) store(skip_count, 0);
  for (uint32_t& skip_count : event_sampler.closed.skip_count) store(skip_count, max_left_out_unseen);
  store(event_sampler.open.nested, &event_sampler.closed);
  event_sampler.random = seed | 1;
}

template <class = void>
inline uint64_t next_random(event_sampler& event_sampler) noexcept {
  event_sampler.random ^= event_sampler.random << 13;
  event_sampler.random ^= event_sampler.random >> 7;
  event_sampler.random ^= event_sampler.random << 17;
  return event_sampler.random * 0x2545F4914F6CDD1D;
}

// One of 2^k events on the step is recorded; returns k.
ADAPTYST_DETAIL_INLINE uint32_t weight_log2(uint32_t step) noexcept {
  if (step <= ADAPTYST_STEP_RECORDER) return 0;
  return takes_subtree(step) ? step - ADAPTYST_STEP_SUBTREE : step - ADAPTYST_STEP_RECORDER;
}

// Natural logarithm of a normal positive number, to 1e-12: <cmath> compiles too slowly for a header.
template <class = void>
inline double natural_log(double value) noexcept {
  constexpr double ln_2 = 0.69314718055994530942;
  constexpr double root_2 = 1.41421356237309504880;
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  bits = (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52);
  double mantissa;  // 1 … 2
  __builtin_memcpy(&mantissa, &bits, sizeof mantissa);
  if (mantissa > root_2) {
    mantissa /= 2;
    ++exponent;
  }
  const double s = (mantissa - 1) / (mantissa + 1);  // series of the inverse hyperbolic tangent
  double sum = 0;
  for (int power = 15; power > 0; power -= 2) sum = sum * s * s + 1.0 / power;
  return exponent * ln_2 + 2 * s * sum;
}

// Geometric with mean 2^k, from 1 on.
template <class = void>
inline uint32_t draw_skip_count(event_sampler& event_sampler, uint32_t k) noexcept {
  const uint64_t random = next_random(event_sampler);
  const double uniform = (static_cast<double>(random >> 11) + 0.5) / 9007199254740992.0;  // 2^53; never 0 or 1
  const double chance = 1.0 / static_cast<double>(uint64_t{1} << k);
  return 1 + static_cast<uint32_t>(natural_log(uniform) / natural_log(1 - chance));
}

// Weight of the present event on this step; 0: skipped.
template <class = void>
inline uint64_t draw_weight(event_sampler& event_sampler, uint32_t step) noexcept {
  const uint32_t k = weight_log2(step);
  if (k == 0) return 1;
  uint32_t& skip_count = event_sampler.open.skip_count[step];
  // Atomic: the previous owner of this recorder may have written it last, outside a `writing` scope.
  const uint32_t left = (load(skip_count) != 0 ? load(skip_count) : draw_skip_count(event_sampler, k)) - 1;
  store(skip_count, left != 0 ? left : draw_skip_count(event_sampler, k));
  return left != 0 ? 0 : uint64_t{1} << k;
}

}}}  // namespace adaptyst::v1::detail

#endif
