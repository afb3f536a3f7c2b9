// A parallel region while it runs, and how unevenly its threads come to its end.
#ifndef ADAPTYST_ADAPTERS_OMPT_TEAM_HPP
#define ADAPTYST_ADAPTERS_OMPT_TEAM_HPP

#include <adaptyst/adapter/callback_region.hpp>
#include <atomic>
#include <cstdint>

namespace adaptyst::ompt {

// Lives on the thread that met the construct; its other threads use it until they have come to the closing barrier, after
// which alone the region ends. The runtime tells when they leave that barrier as late as when they next have work: that is
// of no use, and the times of arrival are all that is needed.
struct team {
  callback_region region;
  submission where;
  const void* code = nullptr;
  std::uint64_t began_ns = 0;
  std::atomic<std::uint32_t> threads{0};
  std::atomic<std::uint64_t> arrivals{0};
  std::atomic<std::uint64_t> sum_of_arrivals_ns{0};  // since began_ns
  std::atomic<std::uint64_t> last_arrival_ns{0};
  std::atomic<std::uint64_t> in_barriers_ns{0};  // barriers within, all threads

  void begin(callback_region opened, const void* at) noexcept {
    region = opened;
    where = opened.number() != 0 ? submitting() : submission{};
    code = at;
    began_ns = now_ns();
    threads.store(0, std::memory_order_relaxed);
    arrivals.store(0, std::memory_order_relaxed);
    sum_of_arrivals_ns.store(0, std::memory_order_relaxed);
    last_arrival_ns.store(0, std::memory_order_relaxed);
    in_barriers_ns.store(0, std::memory_order_relaxed);
  }

  // At the closing barrier.
  void arrive() noexcept {
    const std::uint64_t after = now_ns() - began_ns;
    arrivals.fetch_add(1, std::memory_order_relaxed);
    sum_of_arrivals_ns.fetch_add(after, std::memory_order_relaxed);
    std::uint64_t last = last_arrival_ns.load(std::memory_order_relaxed);
    while (after > last && !last_arrival_ns.compare_exchange_weak(last, after, std::memory_order_relaxed)) {}
  }

  // How long the threads waited for the last of them, summed. When all have arrived.
  std::uint64_t imbalance_ns() const noexcept {
    return arrivals.load(std::memory_order_relaxed) * last_arrival_ns.load(std::memory_order_relaxed) -
           sum_of_arrivals_ns.load(std::memory_order_relaxed);
  }
};

}  // namespace adaptyst::ompt

#endif
