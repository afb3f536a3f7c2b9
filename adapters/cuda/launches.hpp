// Remembers which call submitted which work to a device. CUPTI numbers calls, and writes the number into the records of
// the work. These come later, and for a graph several times. No entry is removed: a new one overwrites an old one.
#ifndef ADAPTYST_ADAPTERS_CUDA_LAUNCHES_HPP
#define ADAPTYST_ADAPTERS_CUDA_LAUNCHES_HPP

#include <adaptyst/operation.hpp>
#include <atomic>
#include <cstring>

namespace cuda_adapter {

class launches {
 public:
  // The number of the last calls numbered by CUPTI that may still get records, including calls that submitted no work.
  static constexpr std::uint32_t max_launches = 1U << 16;

  void note(std::uint32_t correlation, const adaptyst::submission& when) noexcept {
    slot& place = slots_[correlation % max_launches];
    std::uint64_t state = place.state.load(std::memory_order_relaxed);
    // Another thread now writes the entry, for a call a whole round of numbers away. One of the two is lost, and
    // counted as lost when its record comes.
    if ((state & 1) != 0 || !place.state.compare_exchange_strong(state, state | 1, std::memory_order_acquire)) return;
    std::uint64_t words[words_per_submission];
    std::memcpy(words, &when, sizeof when);
    for (std::size_t at = 0; at != words_per_submission; ++at)
      place.words[at].store(words[at], std::memory_order_release);
    const auto times_written = static_cast<std::uint32_t>(state) + 2;
    place.state.store((std::uint64_t{correlation} << 32) | (times_written != 0 ? times_written : 2),
                      std::memory_order_release);
  }

  // False: the call was not noted, or has been overwritten.
  bool find(std::uint32_t correlation, adaptyst::submission& when) const noexcept {
    const slot& in = slots_[correlation % max_launches];
    const std::uint64_t state = in.state.load(std::memory_order_acquire);
    if (state == 0 || (state & 1) != 0 || state >> 32 != correlation) return false;
    std::uint64_t words[words_per_submission];
    for (std::size_t at = 0; at != words_per_submission; ++at) words[at] = in.words[at].load(std::memory_order_acquire);
    std::memcpy(static_cast<void*>(&when), words, sizeof when);
    return in.state.load(std::memory_order_relaxed) == state;
  }

 private:
  static constexpr std::size_t words_per_submission = sizeof(adaptyst::submission) / sizeof(std::uint64_t);
  static_assert(sizeof(adaptyst::submission) % sizeof(std::uint64_t) == 0);

  struct slot {
    std::atomic<std::uint64_t> state;  // the number, and the count of writes; odd during a write; 0: never written
    std::atomic<std::uint64_t> words[words_per_submission];
  };

  slot slots_[max_launches];
};

}  // namespace cuda_adapter

#endif
