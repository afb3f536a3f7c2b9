// What is told of devices: offloads, operations, waits and clocks, and what becomes of them in the profile.
#include <adaptyst/adapter/device_clock.hpp>
#include <adaptyst/detail/clock.hpp>
#include <adaptyst/detail/recorder.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/payload.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "collecting.hpp"
#include "sanitized.hpp"

namespace {

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "test GPU"};
const adaptyst::device fpga{adaptyst::device_kind::fpga, 3, "test FPGA"};

struct transfer {
  std::uint64_t bytes;
};

const adaptyst::device_usage& usage(const adaptyst::profile& in, const std::string& name) {
  for (const adaptyst::device_usage& device : in.devices)
    if (device.name == name) return device;
  FAIL("no device " << name);
  return in.devices.front();
}

}  // namespace

TEST_CASE("an offload is booked on its device, which is busy meanwhile") {
  adaptyst::collector collector(support::options());
  const adaptyst::device same{adaptyst::device_kind::gpu, 0, "test GPU"};
  for (int i = 0; i != 5; ++i) {
    ADAPTYST_REGION("host");
    {
      ADAPTYST_OFFLOAD("stencil", i % 2 == 0 ? gpu : same, transfer{100});
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ADAPTYST_OFFLOAD("filter", fpga);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& stencil = support::find(profile, {"host", "stencil"});
  CHECK(stencil.count == 5);
  CHECK(stencil.kind == adaptyst::region_kind::offload);
  CHECK(profile.devices.at(stencil.device).name == "test GPU");
  CHECK(profile.devices.at(support::find(profile, {"host", "filter"}).device).name == "test FPGA");
  CHECK(stencil.attributes.at("bytes").sum == 500);
  const adaptyst::device_usage& busy = usage(profile, "test GPU");
  CHECK(busy.kind == adaptyst::device_kind::gpu);
  CHECK(*busy.busy_ns == stencil.total_ns);
  CHECK(*busy.busy_ns + *busy.idle_ns() == busy.observed_ns);
  CHECK(*busy.utilisation() > 0);
  CHECK(usage(profile, "test FPGA").index == 3);
  CHECK(profile.devices.front().kind == adaptyst::device_kind::cpu);
}

TEST_CASE("work that starts as soon as it is submitted is not taken for work from the past") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 20000; ++i) {
    adaptyst::operation operation = adaptyst::submit("at once", gpu, 0, adaptyst::operation_kind::kernel);
    const std::uint64_t started = adaptyst::now_ns();
    operation.complete(started, adaptyst::now_ns());
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"at once"}).count == 20000);
}

TEST_CASE("a device that does several operations at once is busy once") {
  adaptyst::collector collector(support::options());
  adaptyst::operation kernel;
  adaptyst::operation copy;
  adaptyst::operation wrong;
  std::uint64_t t = 0;
  {
    ADAPTYST_REGION("submitter");
    kernel = adaptyst::submit("kernel", gpu, 0, adaptyst::operation_kind::kernel);
    copy = adaptyst::submit("upload", gpu, &kernel, adaptyst::operation_kind::copy_to, transfer{4000});
    wrong = adaptyst::submit("wrong", gpu, 0, adaptyst::operation_kind::fill);
  }
  t = adaptyst::detail::monotonic_ns() + 1000;
  std::thread([&] {  // out of order, on another thread, after their region has ended
    copy.complete(t + 500, t + 2500);
    copy.complete(t + 500, t + 2500);  // does nothing
    kernel.complete(t, t + 1000);
    wrong.complete(t + 2, t + 1);
  })
      .join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& upload = support::find(profile, {"submitter", "upload"});
  CHECK(upload.count == 1);
  CHECK(upload.total_ns == 2000);
  CHECK(upload.kind == adaptyst::region_kind::copy_to);
  CHECK(upload.attributes.at("bytes").sum == 4000);
  CHECK(support::find(profile, {"submitter", "kernel"}).total_ns == 1000);
  const adaptyst::device_usage& device = usage(profile, "test GPU");
  CHECK(*device.busy_ns == 2500);
  CHECK(*device.kernel_ns == 1000);
  CHECK(*device.copy_ns == 2000);
  CHECK(*device.exposed_copy_ns == 1500);
  CHECK(device.queue_wait->total_ns > 1500);
  CHECK(device.queue_wait->durations.count() == 2);
  CHECK(device.queues == 2);
  CHECK(support::lost(profile, adaptyst::loss_reason::bad_times) == 1);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("threads may complete each other's operations, in any order, and all figures are exact") {
  constexpr std::uint64_t each = 20'000;
  constexpr unsigned threads = 4;
  adaptyst::collector collector(support::options());
  std::vector<std::vector<adaptyst::operation>> submitted(threads);
  const auto on_all = [](auto&& work) {
    std::vector<std::thread> running;
    running.reserve(threads);
    for (unsigned thread = 0; thread != threads; ++thread) running.emplace_back([&work, thread] { work(thread); });
    for (std::thread& thread : running) thread.join();
  };
  on_all([&](unsigned thread) {
    submitted[thread].reserve(each);
    for (std::uint64_t at = 0; at != each; ++at)
      submitted[thread].push_back(adaptyst::submit("one of many", gpu, thread, adaptyst::operation_kind::kernel));
  });
  // Four queues, in each a kernel of 30 ns every 100 ns, 10 ns behind that of the queue before: 60 ns of 100 are busy.
  const std::uint64_t begin = adaptyst::now_ns();
  on_all([&](unsigned thread) {
    std::vector<adaptyst::operation>& own = submitted[(thread + 1) % threads];
    std::mt19937 random(thread);
    std::vector<std::uint64_t> order(each);
    for (std::uint64_t at = 0; at != each; ++at) order[at] = at;
    std::shuffle(order.begin(), order.end(), random);
    for (const std::uint64_t at : order) {
      const std::uint64_t started = begin + 100 * at + 10 * ((thread + 1) % threads);
      own[at].complete(started, started + 30);
    }
  });
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::device_usage& device = usage(profile, "test GPU");
  CHECK(device.operations == threads * each);
  CHECK(device.queues == threads);
  CHECK(device.late == 0);
  CHECK(device.skipped == 0);
  CHECK(*device.work_ns == 30 * threads * each);
  CHECK(*device.busy_ns == 60 * each);
  CHECK(*device.kernel_ns == 60 * each);
  CHECK(support::find(profile, {"one of many"}).total_ns == 30 * threads * each);
}

TEST_CASE("a forked child that looks at itself has a device activity buffer of its own") {
  adaptyst::collector collector(support::options());
  const auto run = [](std::uint64_t operations) {
    const std::uint64_t begin = adaptyst::now_ns() + 1'000'000'000;
    for (std::uint64_t at = 0; at != operations; ++at)
      adaptyst::submit("in both", gpu, 0, adaptyst::operation_kind::kernel)
          .complete(begin + 20 * at, begin + 20 * at + 10);
  };
  run(1000);
  adaptyst::operation of_parent = adaptyst::submit("in both", gpu, 0, adaptyst::operation_kind::kernel);
  const pid_t child = fork();
  if (child == 0) {
    const std::uint64_t now = adaptyst::now_ns();
    of_parent.complete(now, now + 5);  // none of them here
    adaptyst::collector own("report=none,engine=inline");
    run(700);
    std::thread(run, 300).join();
    const adaptyst::profile profile = own.stop();
    const adaptyst::device_usage& device = usage(profile, "test GPU");
    _exit(device.operations == 1000 && device.work_ns == 10'000U && device.skipped == 0 && device.late == 0 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  const std::uint64_t now = adaptyst::now_ns();
  of_parent.complete(now, now + 5);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(usage(profile, "test GPU").operations == 1001);
  CHECK(*usage(profile, "test GPU").work_ns == 10'005);
}

TEST_CASE("a forked child writes nothing where the device activity of its parent was") {
  namespace detail = adaptyst::detail;
  adaptyst::collector collector(support::options());
  const auto run = [] {
    adaptyst::operation submitted = adaptyst::submit("in both", gpu, 0, adaptyst::operation_kind::kernel);
    const std::uint64_t now = adaptyst::now_ns();
    submitted.complete(now, now + 10);
  };
  run();
  std::vector<const detail::activity_block*> used;
  const detail::device_activity_buffer& activity = detail::get_process(adaptyst_object_v5)->store->activity;
  for (std::uint32_t number = 0; number != activity.block_count(); ++number)
    if (const auto* const head = activity.block(number).head; detail::load(head->count) != 0) used.push_back(head);
  CHECK_FALSE(used.empty());
  const pid_t child = fork();
  if (child == 0) {
    const adaptyst::collector own("report=none,engine=inline");
    run();
    bool is_unchanged = true;
    for (const detail::activity_block* block : used) is_unchanged = is_unchanged && detail::load(block->state) == 0;
    _exit(is_unchanged ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("what a thread had told when it ended counts, and what it left open another may complete") {
  adaptyst::collector collector(support::options());
  std::uint64_t at = adaptyst::now_ns() + 1'000'000'000;
  std::vector<adaptyst::operation> open(100);
  for (adaptyst::operation& left : open)
    std::thread([&] {
      adaptyst::submit("of its own", gpu, 0, adaptyst::operation_kind::kernel).complete(at, at + 10);
      static_cast<void>(left = adaptyst::submit("left open", gpu, 0, adaptyst::operation_kind::copy_to));
      at += 100;
    }).join();
  for (std::size_t number = open.size() / 2; number != 0; --number)
    open[number].complete(at - 100 * number, at - 100 * number + 30);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::device_usage& device = usage(profile, "test GPU");
  CHECK(device.operations == 150);
  CHECK(*device.kernel_ns == 1000);
  CHECK(*device.copy_ns == 50 * 30);
  CHECK(*device.busy_ns == 50 * 10 + 50 * 30);
  CHECK(profile.accounting.open == 50);
}

TEST_CASE("work that is learned of later belongs to the region that handed it over") {
  adaptyst::collector collector(support::options());
  adaptyst::submission launch;
  {
    ADAPTYST_REGION("launcher");
    launch = adaptyst::submitting();
  }
  REQUIRE(launch);
  std::thread([&] {
    ADAPTYST_REGION("elsewhere");
    for (const char* const name : {"first of a graph", "second of a graph"}) {
      adaptyst::operation operation =
          adaptyst::submit(launch, name, gpu, 3, adaptyst::operation_kind::kernel, adaptyst::work{0, 1000});
      CHECK(operation);
      const std::uint64_t now = adaptyst::now_ns();
      operation.complete(now, now + 500);
      CHECK_FALSE(operation);
    }
  }).join();
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::find(profile, {"launcher", "first of a graph"}).count == 1);
  CHECK(support::find(profile, {"launcher", "second of a graph"}).total_ns == 500);
  const adaptyst::device_usage& device = usage(profile, "test GPU");
  CHECK(device.flops->sum == 2000);
  CHECK(device.flops->time_ns == *device.kernel_ns);
}

TEST_CASE("what was handed over to an earlier collector is nothing to the next") {
  adaptyst::submission launch;
  {
    adaptyst::collector collector(support::options());
    launch = adaptyst::submitting();
  }
  adaptyst::collector collector(support::options());
  CHECK_FALSE(adaptyst::submit(launch, "late", gpu, 0, adaptyst::operation_kind::kernel, adaptyst::work{}));
  const adaptyst::profile profile = collector.stop();
  CHECK(profile.regions.empty());
  support::check_account(profile);
}

TEST_CASE("operations of which nothing will be known are lost under the reason's name") {
  adaptyst::collector collector(support::options());
  const auto submitted = [] { return adaptyst::submit("gone", gpu, 0, adaptyst::operation_kind::other); };
  submitted().abandon(adaptyst::operation_loss::device_lost);
  submitted().abandon(adaptyst::operation_loss::device_lost);
  submitted().abandon(adaptyst::operation_loss::no_times);
  adaptyst::operation once = submitted();
  once.abandon(adaptyst::operation_loss::unknown_clock);
  once.abandon(adaptyst::operation_loss::unknown_clock);  // does nothing
  once.complete(1, 2);                                    // nor does this
  const std::uint64_t now = adaptyst::now_ns();
  submitted().complete(0, 0);                // no times
  submitted().complete(now + 500, now + 1);  // ends before it starts
  submitted().complete(now - 1'000'000'000, now);
  submitted().complete(~std::uint64_t{0}, ~std::uint64_t{0} - 1);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::lost(profile, adaptyst::loss_reason::device_lost) == 2);
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::unknown_clock) == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::bad_times) == 4);
  CHECK(profile.accounting.ended == 0);
  CHECK(*usage(profile, "test GPU").busy_ns == 0);
}

TEST_CASE("millions of operations in flight take no memory, and are open", "[one_thread]") {
  adaptyst::collector collector(support::options());
#ifdef ADAPTYST_TEST_SANITIZED
  constexpr std::uint64_t many = 1'000'000;
#else
  constexpr std::uint64_t many = 10'000'000;
#endif
  adaptyst::operation last;
  for (std::uint64_t at = 0; at != many; ++at)
    last = adaptyst::submit("in flight", gpu, at % 1000, adaptyst::operation_kind::kernel);
  const std::uint64_t now = adaptyst::now_ns();
  last.complete(now, now + 10);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(profile.accounting.open == many - 1);
  CHECK(support::find(profile, {"in flight"}).count == 1);
}

TEST_CASE("more devices than there is room for are counted, not confused") {
  adaptyst::collector collector(support::options());
  for (std::uint32_t index = 0; index != 80; ++index) {
    const adaptyst::device device{adaptyst::device_kind::accelerator, index, "one of many"};
    adaptyst::operation op = adaptyst::submit("spread", device, 0, adaptyst::operation_kind::kernel);
    const std::uint64_t now = adaptyst::now_ns();
    op.complete(now, now + 10);
  }
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  CHECK(support::lost(profile, adaptyst::loss_reason::tables_full) >=
        17);  // tests before this one may have used some of the 63
  for (const adaptyst::device_usage& device : profile.devices)
    if (device.name == "one of many") CHECK(*device.busy_ns == 10);
}

TEST_CASE("the report tells how much a device did while the host waited, and while it did not") {
  adaptyst::collector collector(support::options());
  adaptyst::operation beside = adaptyst::submit("beside", gpu, 0, adaptyst::operation_kind::kernel);
  adaptyst::operation awaited = adaptyst::submit("awaited", gpu, 0, adaptyst::operation_kind::kernel);
  const std::uint64_t begin = adaptyst::now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::uint64_t middle = adaptyst::now_ns();
  {
    ADAPTYST_WAIT("wait for both");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const std::uint64_t end = adaptyst::now_ns();
  beside.complete(begin, middle);
  awaited.complete(middle, end);
  const adaptyst::profile profile = collector.stop();
  support::check_account(profile);
  const adaptyst::region& wait = support::find(profile, {"wait for both"});
  CHECK(wait.kind == adaptyst::region_kind::wait);
  CHECK(wait.device == 0);
  const adaptyst::device_usage& device = usage(profile, "test GPU");
  // The engine and the device read their clocks microseconds apart, with nothing in between for which the thread may
  // lose its core.
  const auto near = [](std::uint64_t found, std::uint64_t wanted) {
    return found <= wanted + 1'000'000 && found + 1'000'000 >= wanted;
  };
  CHECK(near(*profile.offload.waited_ns, wait.total_ns));
  CHECK(near(*device.host_waiting_ns, wait.total_ns));
  CHECK(*device.busy_ns == end - begin);
  CHECK(*device.busy_ns + *device.launch_idle_ns + *device.starved_ns() == device.observed_ns);
  CHECK(*adaptyst::compute_efficiencies(profile).device_offload < 1);
}

TEST_CASE("a wait that is left by an exception, or never, waits no longer") {
  adaptyst::collector collector(support::options());
  try {
    ADAPTYST_WAIT("thrown out of");
    throw 1;
  } catch (int) {}
  std::thread([] {
    ADAPTYST_REGION("thread");
    ADAPTYST_WAIT("inner");
  }).join();
  const std::uint64_t waited = *collector.snapshot().offload.waited_ns;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(*collector.stop().offload.waited_ns == waited);
}

TEST_CASE("a device's clock and what became of it stand in the report") {
  adaptyst::collector collector(support::options());
  adaptyst::device_clock clock{adaptyst::clock_id::monotonic_raw};
  clock.synchronise();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  clock.synchronise();
  adaptyst::report_clock(gpu, clock);
  const adaptyst::profile profile = collector.stop();
  const adaptyst::device_usage& device = usage(profile, "test GPU");
  REQUIRE(device.clock.has_value());
  CHECK(device.clock->clock == adaptyst::clock_id::monotonic_raw);
  CHECK(device.clock->sync_points == 2);
  CHECK(device.clock->offset_ns == clock.offset_ns());
}
