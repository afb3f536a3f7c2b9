// The ledger held against models that know nothing of it: one that looks at each nanosecond, one that sorts all there
// is.
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "recorder/ledger_reader.hpp"
#include "sanitized.hpp"

namespace {

namespace detail = adaptyst::detail;
using adaptyst::lib::ledger_reading;
using detail::device_sums;
using detail::device_work;
using detail::ledger_entry;

constexpr std::size_t horizon = 6000;
constexpr std::uint64_t epoch = 1;
constexpr std::uint64_t whole_ledger = std::uint64_t{detail::max_blocks} * detail::entries_per_block;

struct expected {
  std::uint64_t busy = 0, kernels = 0, copies = 0, active = 0, work = 0, awaited = 0, launch_idle = 0, wait = 0,
                latency = 0, waited = 0;
};

bool covers(const ledger_entry& entry, std::uint64_t t) { return entry.begin_ns <= t && t < entry.end_ns; }

// Entries in the order in which they began; no two operations of a device begin at once.
expected model(const std::vector<ledger_entry>& all, std::uint32_t device) {
  expected made;
  std::vector<bool> busy(horizon), kernel(horizon), copy(horizon), active(horizon);
  std::vector<int> waiting(horizon + 1);
  int open = 0;
  std::vector<ledger_entry> own;
  for (const ledger_entry& entry : all) {
    if (entry.device == device) own.push_back(entry);
    if (entry.device == 0) waiting[entry.begin_ns] += entry.work == device_work::wait_begin ? 1 : -1;
  }
  for (std::uint64_t t = 0; t != horizon; ++t) {
    open += waiting[t];
    for (const ledger_entry& entry : own) {
      if (!covers(entry, t)) continue;
      busy[t] = true;
      if (entry.work == device_work::kernel) kernel[t] = true;
      if (entry.work == device_work::copy) copy[t] = true;
      if (entry.work != device_work::other) active[t] = true;
    }
    made.awaited += busy[t] && open > 0;
    made.waited += open > 0;
  }
  const auto count = [](const std::vector<bool>& flags) {
    return static_cast<std::uint64_t>(std::count(flags.begin(), flags.end(), true));
  };
  made.busy = count(busy);
  made.kernels = count(kernel);
  made.copies = count(copy);
  made.active = count(active);
  for (const ledger_entry& entry : own) {
    made.work += entry.end_ns - entry.begin_ns;
    made.wait += entry.begin_ns - entry.submitted_ns;
    std::uint64_t free = entry.submitted_ns;
    for (const ledger_entry& other : own)
      if (other.queue == entry.queue && other.begin_ns < entry.begin_ns) free = std::max(free, other.end_ns);
    if (entry.begin_ns > free) made.latency += entry.begin_ns - free;
    for (std::uint64_t t = entry.begin_ns; t != entry.submitted_ns && !busy[t - 1]; --t) ++made.launch_idle;
  }
  return made;
}

struct unmaker {
  void operator()(detail::process* made) const { detail::unmake_process(made); }
};

// As an observer reads it: without the lock.
class seen_from_outside final : public adaptyst::lib::memory {
 public:
  bool read(std::uint64_t address, void* buffer, std::size_t bytes) const noexcept override {
    return adaptyst::lib::own_memory().read(address, buffer, bytes);
  }
  bool write(std::uint64_t, const void*, std::size_t) const noexcept override { return false; }
  std::string text(std::uint64_t address, std::size_t max_bytes) const override {
    return adaptyst::lib::own_memory().text(address, max_bytes);
  }
  unsigned patience() const noexcept override { return 3; }
};

// The ledger of a process, and places of some threads in it.
class made_ledger {
 public:
  explicit made_ledger(unsigned threads = 1) : state_(detail::make_process()), places_(threads) {
    REQUIRE(state_ != nullptr);
  }

  detail::device_ledger& operator*() const { return state_->store->ledger; }
  bool book(const ledger_entry& entry, unsigned thread = 0, std::uint64_t in_epoch = epoch) {
    return detail::book_entry(*state_->store, in_epoch, places_[thread], entry);
  }
  // As a thread does that enters another epoch.
  void leave(unsigned thread) {
    detail::device_ledger::leave_block(*places_[thread].head);
    places_[thread] = {};
  }
  ledger_reading read(std::uint64_t now_ns = ~std::uint64_t{0}, std::uint64_t in_epoch = epoch) const {
    return adaptyst::lib::read_ledger({&adaptyst::lib::own_memory(), address(), {}}, in_epoch, now_ns);
  }
  ledger_reading read_from_outside() const {
    static const seen_from_outside outside;
    return adaptyst::lib::read_ledger({&outside, address(), {}}, epoch, ~std::uint64_t{0});
  }

 private:
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(state_->store); }

  std::unique_ptr<detail::process, unmaker> state_;
  std::vector<detail::ledger_place> places_;
};

ledger_entry kernel_at(std::uint64_t begin, std::uint64_t ns, std::uint32_t device = 1) {
  return {begin, begin + ns, begin, 0, device, device_work::kernel};
}

bool same(const device_sums& a, const device_sums& b) {
  return a.busy.total_ns == b.busy.total_ns && a.launch_idle_ns == b.launch_idle_ns && a.awaited_ns == b.awaited_ns &&
         a.launch_latency_ns == b.launch_latency_ns && a.queue_wait_ns == b.queue_wait_ns &&
         std::equal(std::begin(a.launch_latencies), std::end(a.launch_latencies), std::begin(b.launch_latencies));
}

}  // namespace

TEST_CASE("operations told in any order, by any thread, are booked as if they came in order") {
  for (unsigned seed = 0; seed != random_rounds(60U); ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t end) {
      return std::uniform_int_distribution<std::uint64_t>(0, end - 1)(random);
    };
    std::vector<std::uint64_t> starts(horizon - 200);
    for (std::size_t at = 0; at != starts.size(); ++at) starts[at] = at + 100;
    std::shuffle(starts.begin(), starts.end(), random);
    std::vector<ledger_entry> all;
    const unsigned operations = 1 + static_cast<unsigned>(below(seed % 2 == 0 ? 40 : 3000));
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
    std::vector<ledger_entry> entries = all;
    std::shuffle(entries.begin(), entries.end(), random);
    const unsigned threads = 1 + seed % 5;
    made_ledger ledger(threads);
    for (const ledger_entry& entry : entries) REQUIRE(ledger.book(entry, static_cast<unsigned>(below(threads))));
    const ledger_reading read = ledger.read(horizon);
    REQUIRE(read.sums != nullptr);
    CHECK(read.skipped == 0);
    CHECK(read.sums->waited_ns == wanted[0].waited);
    CHECK(read.sums->unplaced == 0);
    for (unsigned device = 0; device != read.sums->device_count; ++device) {
      const device_sums& sums = read.sums->devices[device];
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

TEST_CASE("more than the ledger holds is exact as well, if what is told late is not later than it can hold") {
  constexpr unsigned threads = 3;
  std::mt19937 random(7);
  std::vector<ledger_entry> all;
  all.reserve(2 * whole_ledger);
  for (std::uint64_t at = 0; at != 2 * whole_ledger; ++at) {
    const std::uint64_t begin = 1000 + 10 * at;
    all.push_back({begin, begin + random() % 20, begin - random() % 30, random() % 3,
                   1 + static_cast<std::uint32_t>(random() % 2), static_cast<device_work>(random() % 3)});
  }
  made_ledger in_order;
  std::uint64_t busy[2] = {};
  std::uint64_t until[2] = {};
  std::uint64_t work = 0;
  for (const ledger_entry& entry : all) {
    const unsigned on = entry.device - 1;
    busy[on] += entry.end_ns > until[on] ? entry.end_ns - std::max(entry.begin_ns, until[on]) : 0;
    until[on] = std::max(until[on], entry.end_ns);
    work += entry.end_ns - entry.begin_ns;
    REQUIRE(in_order.book(entry));
  }
  made_ledger ledger(threads);
  constexpr std::size_t overtaken = 200'000;
  for (std::size_t at = 0; at < all.size(); at += overtaken)
    std::shuffle(all.begin() + static_cast<std::ptrdiff_t>(at),
                 all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + overtaken)), random);
  for (const ledger_entry& entry : all) REQUIRE(ledger.book(entry, static_cast<unsigned>(random() % threads)));
  CHECK((*ledger).chunk_count == detail::max_chunks);
  CHECK((*ledger).commits > 2);
  const ledger_reading one = in_order.read();
  const ledger_reading other = ledger.read();
  CHECK(other.skipped == 0);
  CHECK(other.sums->devices[0].operations + other.sums->devices[1].operations == all.size());
  CHECK(other.sums->devices[0].work_ns + other.sums->devices[1].work_ns == work);
  for (unsigned device = 0; device != 2; ++device) {
    CHECK(other.sums->devices[device].late == 0);
    CHECK(other.sums->devices[device].busy.total_ns == busy[device]);
    CHECK(same(other.sums->devices[device], one.sums->devices[device]));
  }
}

TEST_CASE("what comes later than the ledger can hold is counted, and enters with what lies after it") {
  made_ledger ledger;
  const std::uint64_t many = whole_ledger + 10;
  for (std::uint64_t at = 0; at != many; ++at) REQUIRE(ledger.book(kernel_at(1000 + 100 * at, 50)));
  const detail::ledger_sums& swept_sums = (*ledger).room->sums[(*ledger).commits & 1];
  const std::uint64_t swept = swept_sums.devices[0].horizon_ns;  // where the last of them began
  REQUIRE(swept > 1000);
  REQUIRE(ledger.book({10, 20, 5, 0, 1, device_work::kernel}));        // wholly before
  REQUIRE(ledger.book({10, swept + 70, 5, 0, 1, device_work::copy}));  // in part
  const ledger_reading read = ledger.read();
  const device_sums& sums = read.sums->devices[0];
  CHECK(sums.late == 2);
  CHECK(sums.operations == many + 2);
  CHECK(sums.busy.total_ns == 50 * many + 20);
  CHECK(sums.kernels.total_ns == 50 * many);
  CHECK(sums.queue_wait_ns == 0);
}

TEST_CASE("what lasts long on one device is exact, however much another does meanwhile") {
  made_ledger ledger;
  REQUIRE(ledger.book({1000, 1000, 0, 0, 0, device_work::wait_begin}));
  const std::uint64_t many = whole_ledger;
  for (std::uint64_t at = 0; at != many; ++at) REQUIRE(ledger.book(kernel_at(2000 + 100 * at, 50)));
  const std::uint64_t end = 2000 + 100 * many;
  REQUIRE(ledger.book({1000, end, 0, 0, 2, device_work::kernel}));  // an offload, told when it ends
  REQUIRE(ledger.book({end, end, 0, 0, 0, device_work::wait_end}));
  {
    const ledger_reading read = ledger.read(end + 1000);
    const device_sums& sums = read.sums->devices[1];
    CHECK(sums.late == 0);
    CHECK(sums.busy.total_ns == end - 1000);
    CHECK(sums.awaited_ns == end - 1000);
    CHECK(read.sums->devices[0].busy.total_ns == 50 * many);
    CHECK(read.sums->devices[0].awaited_ns == 50 * many);
    CHECK(read.sums->waited_ns == end - 1000);
    CHECK(sums.unplaced == 0);
    CHECK(read.sums->unplaced == 1);  // what both did at once is not known
  }
  // The same again, submitted: the host has waited all the time.
  REQUIRE(ledger.book({1000, end, 900, 0, 2, device_work::kernel}));
  const ledger_reading again = ledger.read(end + 1000);
  CHECK(again.sums->devices[1].awaited_ns == end - 1000);
  CHECK(again.sums->devices[1].work_ns == 2 * (end - 1000));
  CHECK(again.sums->devices[1].late == 0);
}

TEST_CASE("of operations that begin at once, it does not matter which is told first") {
  std::mt19937 random(3);
  std::vector<ledger_entry> all;
  for (std::uint64_t begin = 100; begin != 400; begin += 50) {
    for (unsigned at = 0; at != 8; ++at)
      all.push_back({begin, begin + random() % 60, begin - random() % 40, random() % 2, 1,
                     static_cast<device_work>(random() % 3)});
    all.push_back({begin, begin, 0, 0, 0, device_work::wait_begin});
    all.push_back({begin, begin, 0, 0, 0, device_work::wait_end});
  }
  made_ledger first;
  for (const ledger_entry& entry : all) REQUIRE(first.book(entry));
  const ledger_reading wanted = first.read();
  CHECK(wanted.sums->waited_ns == 0);
  for (unsigned turn = 0; turn != random_rounds(50U); ++turn) {
    std::shuffle(all.begin(), all.end(), random);
    made_ledger ledger;
    for (const ledger_entry& entry : all) REQUIRE(ledger.book(entry));
    const ledger_reading read = ledger.read();
    CHECK(same(read.sums->devices[0], wanted.sums->devices[0]));
    CHECK(read.sums->waited_ns == 0);
  }
}

TEST_CASE("more operations may begin at once than are sorted at once") {
  made_ledger ledger;
  const std::uint64_t many = whole_ledger + 1000;
  for (std::uint64_t at = 0; at != many; ++at) REQUIRE(ledger.book(kernel_at(1000, 10)));
  const ledger_reading read = ledger.read();
  CHECK(read.skipped == 0);
  CHECK(read.sums->devices[0].late == 0);
  CHECK(read.sums->devices[0].operations == many);
  CHECK(read.sums->devices[0].busy.total_ns == 10);
}

TEST_CASE("what claims to begin in some far future does not make the rest late") {
  made_ledger ledger;
  const std::uint64_t many = 2 * whole_ledger;
  std::uint64_t far = 0;
  for (std::uint64_t at = 0; at != many; ++at) {
    REQUIRE(ledger.book(kernel_at(1000 + 20 * at, 10)));
    if (at % 1000 == 0) REQUIRE(ledger.book(kernel_at((std::uint64_t{1} << 50) + 20 * far++, 10)));
  }
  const ledger_reading read = ledger.read();
  CHECK(read.sums->devices[0].late == 0);
  CHECK(read.sums->devices[0].operations == many + far);
  CHECK(read.sums->devices[0].busy.total_ns == 10 * (many + far));
}

TEST_CASE("more queues than have an account share the last one") {
  made_ledger ledger;
  for (std::uint64_t at = 0; at != 200; ++at)
    REQUIRE(ledger.book({10 + at, 11 + at, 10 + at, at * 4096, 1, device_work::copy}));
  const ledger_reading read = ledger.read(1000);
  CHECK(read.sums->devices[0].queue_count == detail::max_queues);
  CHECK(read.sums->devices[0].operations == 200);
}

TEST_CASE("a wait that ends without a beginning is ignored") {
  made_ledger ledger;
  REQUIRE(ledger.book({10, 10, 0, 0, 0, device_work::wait_end}));
  REQUIRE(ledger.book({20, 20, 0, 0, 0, device_work::wait_begin}));
  REQUIRE(ledger.book({30, 30, 0, 0, 0, device_work::wait_end}));
  CHECK(ledger.read(1000).sums->waited_ns == 10);
}

TEST_CASE("a thread for which there is no room is told so, and what it does is counted") {
  made_ledger ledger(detail::max_blocks + 1);
  for (unsigned thread = 0; thread != detail::max_blocks; ++thread)
    REQUIRE(ledger.book(kernel_at(1000 + 10 * thread, 10), thread));
  CHECK_FALSE(ledger.book(kernel_at(10, 10), detail::max_blocks));
  const ledger_reading read = ledger.read();
  CHECK(read.skipped == 1);
  CHECK(read.sums->devices[0].busy.total_ns == 10 * detail::max_blocks);
}

TEST_CASE("another collector's ledger is empty, and takes the memory of the one before") {
  made_ledger ledger(2);
  for (std::uint64_t at = 0; at != 100'000; ++at)
    REQUIRE(ledger.book(kernel_at(1000 + 10 * at, 10), static_cast<unsigned>(at % 2)));
  const std::uint32_t chunks = (*ledger).chunk_count;
  ledger.leave(0);
  const ledger_reading next = ledger.read(~std::uint64_t{0}, 2);
  CHECK((next.sums == nullptr || next.sums->device_count == 0));
  CHECK(ledger.read().sums == nullptr);
  REQUIRE(ledger.book(kernel_at(1, 1), 1));  // a thread that does not know it yet
  for (std::uint64_t at = 0; at != 90'000; ++at) REQUIRE(ledger.book(kernel_at(1000 + 10 * at, 10), 0, 2));
  ledger.leave(1);
  CHECK_FALSE(ledger.book(kernel_at(1, 1), 1));
  CHECK((*ledger).chunk_count == chunks);
  const ledger_reading read = ledger.read(~std::uint64_t{0}, 2);
  CHECK(read.sums->devices[0].operations == 90'000);
  CHECK(read.skipped == 0);
}

TEST_CASE("a reader sees one moment while threads book") {
  constexpr unsigned threads = 2;
  made_ledger ledger(threads);
  std::atomic<unsigned> done{0};
  const std::uint64_t each = whole_ledger;
  std::vector<std::thread> running;
  running.reserve(threads);
  for (unsigned thread = 0; thread != threads; ++thread)
    running.emplace_back([&, thread] {
      for (std::uint64_t at = 0; at != each; ++at)
        ledger.book(kernel_at(1000 + 20 * (threads * at + thread), 10), thread);
      ++done;
    });
  std::uint64_t seen = 0;
  for (unsigned look = 0; done != threads; ++look) {
    const ledger_reading read = look % 2 == 0 ? ledger.read() : ledger.read_from_outside();
    if (read.sums == nullptr || read.sums->device_count == 0) continue;
    const device_sums& sums = read.sums->devices[0];
    REQUIRE(sums.operations >= seen);
    REQUIRE(sums.busy.total_ns == 10 * sums.operations);
    seen = sums.operations;
  }
  for (std::thread& thread : running) thread.join();
  const ledger_reading read = ledger.read();
  CHECK(read.skipped == 0);
  CHECK(read.sums->devices[0].operations == threads * each);
  CHECK(read.sums->devices[0].busy.total_ns == 10 * threads * each);
}

TEST_CASE("a process that is killed in the midst leaves all that it had told") {
  for (unsigned turn = 0; turn != 20; ++turn) {
    made_ledger ledger;
    std::uint64_t at = 0;
    for (; at != whole_ledger - 40'000; ++at) REQUIRE(ledger.book(kernel_at(1000 + 20 * at, 10)));
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    auto& told = *static_cast<std::atomic<std::uint64_t>*>(shared);
    told = at;
    const pid_t child = fork();
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (child == 0)
      for (;; told = ++at) ledger.book(kernel_at(1000 + 20 * at, 10));
    while (told < whole_ledger + 1000 * turn) usleep(100);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    const ledger_reading read = ledger.read_from_outside();
    const device_sums& sums = read.sums->devices[0];
    CHECK(sums.operations - told <= 1);
    CHECK(sums.late == 0);
    CHECK(sums.busy.total_ns == 10 * sums.operations);
    munmap(shared, 4096);
  }
}
