// Compares the device activity buffer with two independent models: one counts each nanosecond, one sorts all entries.
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
#include "recorder/device_reader.hpp"
#include "sanitized.hpp"

namespace {

namespace detail = adaptyst::detail;
using adaptyst::lib::device_activity;
using detail::activity_entry;
using detail::device_sums;
using detail::device_work;

constexpr std::size_t horizon = 6000;
constexpr std::uint64_t epoch = 1;
constexpr std::uint64_t full_buffer = std::uint64_t{detail::max_blocks} * detail::entries_per_block;

struct expected {
  std::uint64_t busy = 0, kernels = 0, copies = 0, active = 0, work = 0, awaited = 0, launch_idle = 0, wait = 0,
                latency = 0, waited = 0;
};

bool covers(const activity_entry& entry, std::uint64_t t) { return entry.begin_ns <= t && t < entry.end_ns; }

// Entries in the order in which they began; no two operations of a device begin at once.
expected model(const std::vector<activity_entry>& all, std::uint32_t device) {
  expected made;
  std::vector<bool> busy(horizon), kernel(horizon), copy(horizon), active(horizon);
  std::vector<int> waiting(horizon + 1);
  int open = 0;
  std::vector<activity_entry> own;
  for (const activity_entry& entry : all) {
    if (entry.device == device) own.push_back(entry);
    if (entry.device == 0) waiting[entry.begin_ns] += entry.work == device_work::wait_begin ? 1 : -1;
  }
  for (std::uint64_t t = 0; t != horizon; ++t) {
    open += waiting[t];
    for (const activity_entry& entry : own) {
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
  for (const activity_entry& entry : own) {
    made.work += entry.end_ns - entry.begin_ns;
    made.wait += entry.begin_ns - entry.submitted_ns;
    std::uint64_t free = entry.submitted_ns;
    for (const activity_entry& other : own)
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

// The device activity buffer of a process, and places of some threads in it.
class test_buffer {
 public:
  explicit test_buffer(unsigned threads = 1) : state_(detail::make_process()), places_(threads) {
    REQUIRE(state_ != nullptr);
  }

  detail::device_activity_buffer& operator*() const { return state_->store->activity; }
  bool book(const activity_entry& entry, unsigned thread = 0, std::uint64_t in_epoch = epoch) {
    return detail::book_entry(*state_->store, in_epoch, places_[thread], entry);
  }
  // As a thread does that enters another epoch.
  void leave(unsigned thread) {
    detail::device_activity_buffer::leave_block(*places_[thread].head);
    places_[thread] = {};
  }
  device_activity read(std::uint64_t now_ns = ~std::uint64_t{0}, std::uint64_t in_epoch = epoch) const {
    return adaptyst::lib::read_device_activity({&adaptyst::lib::own_memory(), address(), {}}, in_epoch, now_ns);
  }
  device_activity read_from_outside() const {
    static const seen_from_outside outside;
    return adaptyst::lib::read_device_activity({&outside, address(), {}}, epoch, ~std::uint64_t{0});
  }

 private:
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(state_->store); }

  std::unique_ptr<detail::process, unmaker> state_;
  std::vector<detail::activity_place> places_;
};

activity_entry kernel_at(std::uint64_t begin, std::uint64_t ns, std::uint32_t device = 1) {
  return {begin, begin + ns, begin, 0, device, device_work::kernel};
}

bool same(const device_sums& a, const device_sums& b) {
  return a.busy.total_ns == b.busy.total_ns && a.launch_idle_ns == b.launch_idle_ns &&
         a.host_waiting_ns == b.host_waiting_ns && a.launch_latency_ns == b.launch_latency_ns &&
         a.queue_wait_ns == b.queue_wait_ns &&
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
    std::vector<activity_entry> all;
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
                     [](const activity_entry& a, const activity_entry& b) { return a.begin_ns < b.begin_ns; });
    const expected wanted[] = {model(all, 1), model(all, 2)};
    std::vector<activity_entry> entries = all;
    std::shuffle(entries.begin(), entries.end(), random);
    const unsigned threads = 1 + seed % 5;
    test_buffer activity(threads);
    for (const activity_entry& entry : entries) REQUIRE(activity.book(entry, static_cast<unsigned>(below(threads))));
    const device_activity read = activity.read(horizon);
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
      CHECK(sums.host_waiting_ns == wanted[device].awaited);
    }
  }
}

TEST_CASE(
    "more than the device activity buffer holds is exact as well, if what is told late is not later than it can hold") {
  constexpr unsigned threads = 3;
  std::mt19937 random(7);
  std::vector<activity_entry> all;
  all.reserve(2 * full_buffer);
  for (std::uint64_t at = 0; at != 2 * full_buffer; ++at) {
    const std::uint64_t begin = 1000 + 10 * at;
    all.push_back({begin, begin + random() % 20, begin - random() % 30, random() % 3,
                   1 + static_cast<std::uint32_t>(random() % 2), static_cast<device_work>(random() % 3)});
  }
  test_buffer in_order;
  std::uint64_t busy[2] = {};
  std::uint64_t until[2] = {};
  std::uint64_t work = 0;
  for (const activity_entry& entry : all) {
    const unsigned on = entry.device - 1;
    busy[on] += entry.end_ns > until[on] ? entry.end_ns - std::max(entry.begin_ns, until[on]) : 0;
    until[on] = std::max(until[on], entry.end_ns);
    work += entry.end_ns - entry.begin_ns;
    REQUIRE(in_order.book(entry));
  }
  test_buffer activity(threads);
  constexpr std::size_t overtaken = 200'000;
  for (std::size_t at = 0; at < all.size(); at += overtaken)
    std::shuffle(all.begin() + static_cast<std::ptrdiff_t>(at),
                 all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + overtaken)), random);
  for (const activity_entry& entry : all) REQUIRE(activity.book(entry, static_cast<unsigned>(random() % threads)));
  CHECK((*activity).chunk_count == detail::max_chunks);
  CHECK((*activity).commits > 2);
  const device_activity expected = in_order.read();
  const device_activity other = activity.read();
  CHECK(other.skipped == 0);
  CHECK(other.sums->devices[0].operations + other.sums->devices[1].operations == all.size());
  CHECK(other.sums->devices[0].work_ns + other.sums->devices[1].work_ns == work);
  for (unsigned device = 0; device != 2; ++device) {
    CHECK(other.sums->devices[device].late == 0);
    CHECK(other.sums->devices[device].busy.total_ns == busy[device]);
    CHECK(same(other.sums->devices[device], expected.sums->devices[device]));
  }
}

TEST_CASE("entries that are later than the buffer can hold are counted, and their part after the sweep is added") {
  test_buffer activity;
  const std::uint64_t many = full_buffer + 10;
  for (std::uint64_t at = 0; at != many; ++at) REQUIRE(activity.book(kernel_at(1000 + 100 * at, 50)));
  const detail::activity_sums& swept_sums = (*activity).sweep_buffer->sums[(*activity).commits & 1];
  const std::uint64_t swept = swept_sums.devices[0].horizon_ns;  // where the last of them began
  REQUIRE(swept > 1000);
  REQUIRE(activity.book({10, 20, 5, 0, 1, device_work::kernel}));        // wholly before
  REQUIRE(activity.book({10, swept + 70, 5, 0, 1, device_work::copy}));  // in part
  const device_activity read = activity.read();
  const device_sums& sums = read.sums->devices[0];
  CHECK(sums.late == 2);
  CHECK(sums.operations == many + 2);
  CHECK(sums.busy.total_ns == 50 * many + 20);
  CHECK(sums.kernels.total_ns == 50 * many);
  CHECK(sums.queue_wait_ns == 0);

  const std::uint64_t commits = (*activity).commits;
  for (std::uint64_t at = many; at != 2 * many; ++at) REQUIRE(activity.book(kernel_at(1000 + 100 * at, 50)));
  REQUIRE((*activity).commits > commits);
  const device_activity again = activity.read();
  CHECK(again.sums->devices[0].late == 2);
  CHECK(again.sums->devices[0].operations == 2 * many + 2);
  CHECK(again.sums->devices[0].busy.total_ns == 100 * many + 20);
}

TEST_CASE("what lasts long on one device is exact, however much another does meanwhile") {
  test_buffer activity;
  REQUIRE(activity.book({1000, 1000, 0, 0, 0, device_work::wait_begin}));
  const std::uint64_t many = full_buffer;
  for (std::uint64_t at = 0; at != many; ++at) REQUIRE(activity.book(kernel_at(2000 + 100 * at, 50)));
  const std::uint64_t end = 2000 + 100 * many;
  REQUIRE(activity.book({1000, end, 0, 0, 2, device_work::kernel}));  // an offload, told when it ends
  REQUIRE(activity.book({end, end, 0, 0, 0, device_work::wait_end}));
  {
    const device_activity read = activity.read(end + 1000);
    const device_sums& sums = read.sums->devices[1];
    CHECK(sums.late == 0);
    CHECK(sums.busy.total_ns == end - 1000);
    CHECK(sums.host_waiting_ns == end - 1000);
    CHECK(read.sums->devices[0].busy.total_ns == 50 * many);
    CHECK(read.sums->devices[0].host_waiting_ns == 50 * many);
    CHECK(read.sums->waited_ns == end - 1000);
    CHECK(sums.unplaced == 0);
    CHECK(read.sums->unplaced == 1);  // what both did at once is not known
  }
  // The same again, submitted: the host has waited all the time.
  REQUIRE(activity.book({1000, end, 900, 0, 2, device_work::kernel}));
  const device_activity again = activity.read(end + 1000);
  CHECK(again.sums->devices[1].host_waiting_ns == end - 1000);
  CHECK(again.sums->devices[1].work_ns == 2 * (end - 1000));
  CHECK(again.sums->devices[1].late == 0);
}

TEST_CASE("of operations that begin at once, it does not matter which is told first") {
  std::mt19937 random(3);
  std::vector<activity_entry> all;
  for (std::uint64_t begin = 100; begin != 400; begin += 50) {
    for (unsigned at = 0; at != 8; ++at)
      all.push_back({begin, begin + random() % 60, begin - random() % 40, random() % 2, 1,
                     static_cast<device_work>(random() % 3)});
    all.push_back({begin, begin, 0, 0, 0, device_work::wait_begin});
    all.push_back({begin, begin, 0, 0, 0, device_work::wait_end});
  }
  test_buffer first;
  for (const activity_entry& entry : all) REQUIRE(first.book(entry));
  const device_activity wanted = first.read();
  CHECK(wanted.sums->waited_ns == 0);
  for (unsigned turn = 0; turn != random_rounds(50U); ++turn) {
    std::shuffle(all.begin(), all.end(), random);
    test_buffer activity;
    for (const activity_entry& entry : all) REQUIRE(activity.book(entry));
    const device_activity read = activity.read();
    CHECK(same(read.sums->devices[0], wanted.sums->devices[0]));
    CHECK(read.sums->waited_ns == 0);
  }
}

TEST_CASE("more operations may begin at once than are sorted at once") {
  test_buffer activity;
  const std::uint64_t many = full_buffer + 1000;
  for (std::uint64_t at = 0; at != many; ++at) REQUIRE(activity.book(kernel_at(1000, 10)));
  const device_activity read = activity.read();
  CHECK(read.skipped == 0);
  CHECK(read.sums->devices[0].late == 0);
  CHECK(read.sums->devices[0].operations == many);
  CHECK(read.sums->devices[0].busy.total_ns == 10);
}

TEST_CASE("what claims to begin in some far future does not make the rest late") {
  test_buffer activity;
  const std::uint64_t many = 2 * full_buffer;
  std::uint64_t far = 0;
  for (std::uint64_t at = 0; at != many; ++at) {
    REQUIRE(activity.book(kernel_at(1000 + 20 * at, 10)));
    if (at % 1000 == 0) REQUIRE(activity.book(kernel_at((std::uint64_t{1} << 50) + 20 * far++, 10)));
  }
  const device_activity read = activity.read();
  CHECK(read.sums->devices[0].late == 0);
  CHECK(read.sums->devices[0].operations == many + far);
  CHECK(read.sums->devices[0].busy.total_ns == 10 * (many + far));
}

TEST_CASE("more queues than have an account share the last one") {
  test_buffer activity;
  for (std::uint64_t at = 0; at != 200; ++at)
    REQUIRE(activity.book({10 + at, 11 + at, 10 + at, at * 4096, 1, device_work::copy}));
  const device_activity read = activity.read(1000);
  CHECK(read.sums->devices[0].queue_count == detail::max_queues);
  CHECK(read.sums->devices[0].operations == 200);
}

TEST_CASE("a wait that ends without a beginning is ignored") {
  test_buffer activity;
  REQUIRE(activity.book({10, 10, 0, 0, 0, device_work::wait_end}));
  REQUIRE(activity.book({20, 20, 0, 0, 0, device_work::wait_begin}));
  REQUIRE(activity.book({30, 30, 0, 0, 0, device_work::wait_end}));
  CHECK(activity.read(1000).sums->waited_ns == 10);
}

TEST_CASE("a thread for which there is no room is told so, and what it does is counted") {
  test_buffer activity(detail::max_blocks + 1);
  for (unsigned thread = 0; thread != detail::max_blocks; ++thread)
    REQUIRE(activity.book(kernel_at(1000 + 10 * thread, 10), thread));
  CHECK_FALSE(activity.book(kernel_at(10, 10), detail::max_blocks));
  const device_activity read = activity.read();
  CHECK(read.skipped == 1);
  CHECK(read.sums->devices[0].busy.total_ns == 10 * detail::max_blocks);
}

TEST_CASE("another collector's device activity buffer is empty, and takes the memory of the one before") {
  test_buffer activity(2);
  for (std::uint64_t at = 0; at != 100'000; ++at)
    REQUIRE(activity.book(kernel_at(1000 + 10 * at, 10), static_cast<unsigned>(at % 2)));
  const std::uint32_t chunks = (*activity).chunk_count;
  activity.leave(0);
  const device_activity next = activity.read(~std::uint64_t{0}, 2);
  CHECK((next.sums == nullptr || next.sums->device_count == 0));
  CHECK(activity.read().sums == nullptr);
  REQUIRE(activity.book(kernel_at(1, 1), 1));  // a thread that does not know it yet
  for (std::uint64_t at = 0; at != 90'000; ++at) REQUIRE(activity.book(kernel_at(1000 + 10 * at, 10), 0, 2));
  activity.leave(1);
  CHECK_FALSE(activity.book(kernel_at(1, 1), 1));
  CHECK((*activity).chunk_count == chunks);
  const device_activity read = activity.read(~std::uint64_t{0}, 2);
  CHECK(read.sums->devices[0].operations == 90'000);
  CHECK(read.skipped == 0);
}

TEST_CASE("a reader sees one moment while threads book") {
  constexpr unsigned threads = 2;
  test_buffer activity(threads);
  std::atomic<unsigned> done{0};
  const std::uint64_t each = full_buffer;
  std::vector<std::thread> running;
  running.reserve(threads);
  for (unsigned thread = 0; thread != threads; ++thread)
    running.emplace_back([&, thread] {
      for (std::uint64_t at = 0; at != each; ++at)
        activity.book(kernel_at(1000 + 20 * (threads * at + thread), 10), thread);
      ++done;
    });
  std::uint64_t seen = 0;
  for (unsigned turn = 0; done != threads; ++turn) {
    const device_activity read = turn % 2 == 0 ? activity.read() : activity.read_from_outside();
    if (read.sums == nullptr || read.sums->device_count == 0) continue;
    const device_sums& sums = read.sums->devices[0];
    REQUIRE(sums.operations >= seen);
    REQUIRE(sums.busy.total_ns == 10 * sums.operations);
    seen = sums.operations;
  }
  for (std::thread& thread : running) thread.join();
  const device_activity read = activity.read();
  CHECK(read.skipped == 0);
  CHECK(read.sums->devices[0].operations == threads * each);
  CHECK(read.sums->devices[0].busy.total_ns == 10 * threads * each);
}

TEST_CASE("a process that is killed in the midst leaves all that it had told") {
  for (unsigned turn = 0; turn != 1 + random_rounds(4U); ++turn) {
    test_buffer activity;
    std::uint64_t at = 0;
    for (; at != full_buffer - 40'000; ++at) REQUIRE(activity.book(kernel_at(1000 + 20 * at, 10)));
    void* const shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    auto& booked = *static_cast<std::atomic<std::uint64_t>*>(shared);
    booked = at;
    const pid_t child = fork();
    if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (child == 0)
      for (;; booked = ++at) activity.book(kernel_at(1000 + 20 * at, 10));
    while (booked < full_buffer + 4000 * turn) usleep(100);
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    const device_activity read = activity.read_from_outside();
    const device_sums& sums = read.sums->devices[0];
    CHECK(sums.operations - booked <= 1);
    CHECK(sums.late == 0);
    CHECK(sums.busy.total_ns == 10 * sums.operations);
    munmap(shared, 4096);
  }
}
