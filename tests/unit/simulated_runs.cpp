#include "simulated_runs.hpp"

#include <algorithm>
#include <cstddef>

namespace lib = adaptyst::lib;

namespace {

// Lengths of waits, drawn once: a logarithm and an exponential function for each of 70 million waits would take most of
// the time.
class wait_lengths {
 public:
  wait_lengths(std::uint64_t seed, double mean, double deviation) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> draw(mean, deviation);
    for (std::uint64_t& ns : ns_) ns = static_cast<std::uint64_t>(draw(random));
  }
  // One of them, by 16 random bits.
  std::uint64_t operator[](std::uint64_t bits) const { return ns_[bits & 0xffff]; }

 private:
  std::array<std::uint64_t, 0x10000> ns_;
};

constexpr std::size_t run_ms = 12'000;

}  // namespace

simulated::switches_of_a_run simulated::run_in_bursts(std::mt19937_64& random, std::uint32_t step,
                                                      bool shares_a_place) {
  constexpr std::uint32_t pipe = 3, barrier = 5;
  static const wait_lengths pipe_ns(1, 8, 0.7), lock_ns(2, 9, 0.8), barrier_ns(3, 17, 0.5), runnable_ns(4, 6, 1);
  switches_of_a_run made;
  adaptyst_switch_places places{};
  // Of 64 random bits: 2 for the place, 16 for each length, 30 for the choice of the wait.
  const auto wait = [&](std::uint32_t place, std::uint32_t now, const wait_lengths& length_ns, std::uint64_t bits) {
    const std::uint64_t blocked_ns = length_ns[bits >> 2U];
    const std::uint64_t ready_ns = runnable_ns[bits >> 18U];
    ++made.switches;
    made.blocked_ns += blocked_ns;
    made.runnable_ns += ready_ns;
    const std::uint32_t weight = adaptyst_is_first_switch(&places, place, now) != 0
                                     ? 1
                                     : adaptyst_switch_weight(static_cast<std::uint32_t>(bits >> 34U), step);
    if (weight == 0) return;
    const adaptyst_switch back{weight, blocked_ns, ready_ns, ADAPTYST_BLOCKED_IO, 1, 0};
    adaptyst_book_switch(&made.row, &back);
  };
  for (std::uint32_t now = 1; now != 13; ++now) {
    for (std::uint64_t left = random() % 3000; left != 0; --left) {
      const std::uint64_t bits = random();
      if (bits % 4 != 0) wait(pipe, now, pipe_ns, bits);
      else wait(shares_a_place ? pipe : pipe + 1, now, lock_ns, bits);
    }
    wait(barrier, now, barrier_ns, random());
  }
  return made;
}

simulated::faults_of_a_run simulated::make_faults(unsigned pattern, std::mt19937_64& random) {
  faults_of_a_run made(run_ms);
  std::array<bool, 2> in_burst{};
  for (std::size_t at = 0; at != run_ms; ++at)
    for (std::size_t path = 0; path != 2; ++path) {
      if (path == 0 || pattern == 2)
        in_burst[path] = random() % (in_burst[path] ? 30 : 90) == 0 ? !in_burst[path] : in_burst[path];
      const double shared = in_burst[pattern == 2 ? path : 0] ? 40 : 0;
      const double means[] = {path == 0 ? 200.0 : 3.0,
                              shared,
                              shared,
                              40.0 * static_cast<double>(at) / run_ms,
                              at / 35 % 2 == path ? 50.0 : 0.0,
                              path == 0      ? 100.0
                              : at % 10 == 3 ? 100.0
                                             : 0.0};
      made[at][path] = random() % (2 * static_cast<std::uint64_t>(means[pattern]) + 1);
    }
  return made;
}

std::array<double, 2> simulated::count(const faults_of_a_run& run) {
  std::array<double, 2> all{};
  for (const auto& now : run)
    for (std::size_t path = 0; path != all.size(); ++path) all[path] += static_cast<double>(now[path]);
  return all;
}

lib::window_sums simulated::watch(const faults_of_a_run& run, std::mt19937_64& random) {
  constexpr std::uint64_t ms = 1'000'000;
  lib::window_block block(random());
  lib::window_sums sums(random());
  lib::path_counts counted{{1, {}}, {2, {}}};
  unsigned windows = 4;
  block.begin(0, windows);
  std::size_t tick = 0;
  for (std::size_t at = 0; at != run_ms; ++at) {
    if (block.is_open())
      for (std::size_t path = 0; path != 2; ++path) counted[path + 1].events += run[at][path];
    const std::uint64_t now_ns = (at + 1) * ms;
    if (block.must_open(now_ns)) block.open(now_ns);
    if (at < tick) continue;
    tick = at + 5 + (random() % 16 == 0 ? random() % 20 : 0);
    if (block.must_close(now_ns)) block.close(now_ns);
    if (block.has_ended(now_ns)) {
      sums.add(counted, {block.length_ns(now_ns), block.open_length_ns(now_ns), 0});
      windows = std::min(16U, 2 * windows);
      block.begin(block.ends_ns(), windows);
    }
  }
  const std::uint64_t end_ns = run_ms * ms;
  if (block.is_usable(end_ns)) sums.add(counted, {block.length_ns(end_ns), block.open_length_ns(end_ns), 0});
  else sums.extend(block.length_ns(end_ns));
  return sums;
}
