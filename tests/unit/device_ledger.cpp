// The ledger held against a model that looks at each nanosecond.
#include <adaptyst/detail/device_ledger.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "catch.hpp"

namespace {

using adaptyst::detail::device_ledger;
using adaptyst::detail::device_sums;
using adaptyst::detail::device_work;
using adaptyst::detail::ledger_entry;

constexpr std::size_t horizon = 6000;

struct expected {
  std::uint64_t busy = 0, kernels = 0, copies = 0, active = 0, work = 0, awaited = 0, launch_idle = 0, wait = 0,
                latency = 0, waited = 0;
};

bool covers(const ledger_entry& one, std::uint64_t t) { return one.begin_ns <= t && t < one.end_ns; }

// Entries in the order in which they began; no two operations of a device begin at once.
expected model(const std::vector<ledger_entry>& all, std::uint32_t device) {
  expected made;
  std::vector<bool> busy(horizon), kernel(horizon), copy(horizon), active(horizon);
  std::vector<int> waiting(horizon + 1);
  int open = 0;
  std::vector<ledger_entry> own;
  for (const ledger_entry& one : all) {
    if (one.device == device) own.push_back(one);
    if (one.device == 0) waiting[one.begin_ns] += one.work == device_work::wait_begin ? 1 : -1;
  }
  for (std::uint64_t t = 0; t != horizon; ++t) {
    open += waiting[t];
    for (const ledger_entry& one : own) {
      if (!covers(one, t)) continue;
      busy[t] = true;
      if (one.work == device_work::kernel) kernel[t] = true;
      if (one.work == device_work::copy) copy[t] = true;
      if (one.work != device_work::other) active[t] = true;
    }
    made.awaited += busy[t] && open > 0;
    made.waited += open > 0;
  }
  const auto count = [](const std::vector<bool>& of) {
    return static_cast<std::uint64_t>(std::count(of.begin(), of.end(), true));
  };
  made.busy = count(busy);
  made.kernels = count(kernel);
  made.copies = count(copy);
  made.active = count(active);
  for (const ledger_entry& one : own) {
    made.work += one.end_ns - one.begin_ns;
    made.wait += one.begin_ns - one.submitted_ns;
    std::uint64_t free = one.submitted_ns;
    for (const ledger_entry& other : own)
      if (other.queue == one.queue && other.begin_ns < one.begin_ns) free = std::max(free, other.end_ns);
    if (one.begin_ns > free) made.latency += one.begin_ns - free;
    for (std::uint64_t t = one.begin_ns; t != one.submitted_ns && !busy[t - 1]; --t) ++made.launch_idle;
  }
  return made;
}

std::unique_ptr<device_ledger> ledger_with(unsigned devices) {
  auto made = std::make_unique<device_ledger>();
  for (unsigned at = 0; at != devices; ++at) made->devices[at].state = 2;
  return made;
}

}  // namespace

TEST_CASE("what comes out of order within the window is booked as if it came in order") {
  for (unsigned seed = 0; seed != 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t end) {
      return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random);
    };
    std::vector<std::uint64_t> starts(horizon - 200);
    for (std::size_t at = 0; at != starts.size(); ++at) starts[at] = at + 100;
    std::shuffle(starts.begin(), starts.end(), random);
    std::vector<ledger_entry> all;
    const unsigned operations = 1 + static_cast<unsigned>(below(seed % 2 == 0 ? 40 : 1500));
    for (unsigned at = 0; at != operations; ++at) {
      const std::uint64_t begin = starts[at];
      const auto work = static_cast<device_work>(below(3));
      all.push_back(
          {begin, begin + below(100), begin - below(100), below(3), 1 + static_cast<std::uint32_t>(below(2)), work});
    }
    for (unsigned waits = static_cast<unsigned>(below(10)); waits != 0; --waits) {
      const std::uint64_t begin = 100 + below(horizon - 1000);
      all.push_back({begin, begin, 0, 0, 0, device_work::wait_begin});
      const std::uint64_t end = begin + 1 + below(500);
      all.push_back({end, end, 0, 0, 0, device_work::wait_end});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const ledger_entry& a, const ledger_entry& b) { return a.begin_ns < b.begin_ns; });
    const expected wanted[] = {model(all, 1), model(all, 2)};
    std::vector<ledger_entry> told = all;
    // Each block, half a window long, in any order: nothing is overtaken by more than a window.
    for (std::size_t at = 0; at < told.size(); at += device_ledger::window / 2)
      std::shuffle(told.begin() + static_cast<std::ptrdiff_t>(at),
                   told.begin() + static_cast<std::ptrdiff_t>(std::min(told.size(), at + device_ledger::window / 2)),
                   random);
    const auto ledger = ledger_with(2);
    for (const ledger_entry& one : told) ledger->add(one);
    ledger->settle(horizon);
    CHECK(ledger->waited_ns == wanted[0].waited);
    for (unsigned device = 0; device != 2; ++device) {
      const device_sums& sums = ledger->devices[device].sums;
      CAPTURE(seed, device, operations);
      CHECK(sums.late == 0);
      CHECK(sums.busy.total_ns == wanted[device].busy);
      CHECK(sums.kernels.total_ns == wanted[device].kernels);
      CHECK(sums.copies.total_ns == wanted[device].copies);
      CHECK(sums.kernels_and_copies.total_ns == wanted[device].active);
      CHECK(sums.work_ns == wanted[device].work);
      CHECK(sums.queue_wait_ns == wanted[device].wait);
      CHECK(sums.launch_latency_ns == wanted[device].latency);
      CHECK(sums.launch_idle_ns == wanted[device].launch_idle);
      CHECK(sums.awaited_ns == wanted[device].awaited);
    }
  }
}

TEST_CASE("what comes after the window is counted, and enters with what lies after it") {
  const auto ledger = ledger_with(1);
  const std::uint64_t many = device_ledger::window + 10;
  for (std::uint64_t at = 0; at != many; ++at)
    ledger->add({1000 + 100 * at, 1000 + 100 * at + 50, 1000 + 100 * at, 0, 1, device_work::kernel});
  const std::uint64_t swept = ledger->horizon_ns;
  CHECK(swept == 1000 + 100 * 9);
  ledger->add({10, 20, 5, 0, 1, device_work::kernel});        // wholly before
  ledger->add({10, swept + 70, 5, 0, 1, device_work::copy});  // in part
  ledger->settle(~std::uint64_t{0});
  const device_sums& sums = ledger->devices[0].sums;
  CHECK(sums.late == 2);
  CHECK(sums.operations == many + 2);
  CHECK(sums.busy.total_ns == 50 * many + 20);
  CHECK(sums.kernels.total_ns == 50 * many);
  CHECK(sums.queue_wait_ns == 0);
}

TEST_CASE("what lasts long on one device is exact, however much another does meanwhile") {
  const auto ledger = ledger_with(2);
  ledger->add({1000, 1000, 0, 0, 0, device_work::wait_begin});
  for (std::uint64_t at = 0; at != 5 * device_ledger::window; ++at)
    ledger->add({2000 + 100 * at, 2000 + 100 * at + 50, 2000 + 100 * at, 0, 1, device_work::kernel});
  const std::uint64_t end = 2000 + 500 * device_ledger::window;
  ledger->add({1000, end, 0, 0, 2, device_work::kernel});  // an offload, told when it ends
  ledger->add({end, end, 0, 0, 0, device_work::wait_end});
  ledger->settle(end + 1000);
  const device_sums& sums = ledger->devices[1].sums;
  CHECK(sums.late == 0);
  CHECK(sums.busy.total_ns == end - 1000);
  CHECK(sums.awaited_ns == end - 1000);
  CHECK(ledger->devices[0].sums.busy.total_ns == 250 * device_ledger::window);
  CHECK(ledger->devices[0].sums.awaited_ns == 250 * device_ledger::window);
  CHECK(ledger->waited_ns == end - 1000);
  CHECK(sums.unplaced == 0);
  CHECK(ledger->unplaced == 1);  // what both did at once is not known
  // The same, but it was submitted: whether the host waited for it is not known.
  ledger->add({1000, end, 900, 0, 2, device_work::kernel});
  CHECK(sums.unplaced == 1);
}

TEST_CASE("more queues than have an account share the last one") {
  const auto ledger = ledger_with(1);
  for (std::uint64_t at = 0; at != 200; ++at) ledger->add({10 + at, 11 + at, 10 + at, at * 4096, 1, device_work::copy});
  ledger->settle(1000);
  CHECK(ledger->devices[0].sums.queue_count == adaptyst::detail::most_queues);
  CHECK(ledger->devices[0].sums.operations == 200);
}

TEST_CASE("a wait that ends without a beginning is nobody's") {
  const auto ledger = ledger_with(1);
  ledger->add({10, 10, 0, 0, 0, device_work::wait_end});
  ledger->add({20, 20, 0, 0, 0, device_work::wait_begin});
  ledger->add({30, 30, 0, 0, 0, device_work::wait_end});
  ledger->settle(1000);
  CHECK(ledger->waited_ns == 10);
}
