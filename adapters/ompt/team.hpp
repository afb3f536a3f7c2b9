// A running parallel region, and the imbalance of its threads.
#ifndef ADAPTYST_ADAPTERS_OMPT_TEAM_HPP
#define ADAPTYST_ADAPTERS_OMPT_TEAM_HPP

#include <adaptyst/adapter/callback_region.hpp>
#include <atomic>
#include <cstdint>

namespace adaptyst::ompt {

// Belongs to the thread that encountered the construct. The other threads use it until they reach the closing barrier,
// and the region ends only after that. The runtime reports that they leave the barrier only when they next have work,
// which is too late; but the times of arrival are sufficient.
struct team {
  callback_region region;
  submission where;
  const void* code = nullptr;
  std::uint64_t began_ns = 0;
  std::atomic<std::uint32_t> threads{0};
  std::atomic<std::uint64_t> arrivals{0};
  std::atomic<std::uint64_t> arrivals_sum_ns{0};  // since began_ns
  std::atomic<std::uint64_t> last_arrival_ns{0};
  std::atomic<std::uint64_t> in_barriers_ns{0};  // barriers inside the region, all threads

  void begin(callback_region opened, const void* at) noexcept {
    region = opened;
    where = opened.number() != 0 ? submitting() : submission{};
    code = at;
    began_ns = now_ns();
    threads.store(0, std::memory_order_relaxed);
    arrivals.store(0, std::memory_order_relaxed);
    arrivals_sum_ns.store(0, std::memory_order_relaxed);
    last_arrival_ns.store(0, std::memory_order_relaxed);
    in_barriers_ns.store(0, std::memory_order_relaxed);
  }

  // The construct at this depth is not observed.
  void forget() noexcept {
    region = {};
    where = {};
  }

  // At the closing barrier.
  void arrive() noexcept {
    const std::uint64_t after = now_ns() - began_ns;
    arrivals.fetch_add(1, std::memory_order_relaxed);
    arrivals_sum_ns.fetch_add(after, std::memory_order_relaxed);
    std::uint64_t last = last_arrival_ns.load(std::memory_order_relaxed);
    while (after > last && !last_arrival_ns.compare_exchange_weak(last, after, std::memory_order_relaxed)) {}
  }

  // The sum of the times that threads waited for the last one. Call it after all have arrived.
  std::uint64_t imbalance_ns() const noexcept {
    return arrivals.load(std::memory_order_relaxed) * last_arrival_ns.load(std::memory_order_relaxed) -
           arrivals_sum_ns.load(std::memory_order_relaxed);
  }
};

}  // namespace adaptyst::ompt

#endif
