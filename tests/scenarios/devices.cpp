#include <adaptyst/detail/clock.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <adaptyst/payload.hpp>
#include <thread>

#include "collecting.hpp"

namespace {

const adaptyst::device gpu{adaptyst::device_kind::gpu, 0, "test GPU"};
const adaptyst::device fpga{adaptyst::device_kind::fpga, 3, "test FPGA"};

struct transfer {
  std::uint64_t bytes;
};

const adaptyst::device_usage& usage(const adaptyst::profile& in, const std::string& name) {
  for (const adaptyst::device_usage& one : in.devices)
    if (one.name == name) return one;
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
  CHECK(stencil.kind == "offload");
  CHECK(profile.devices.at(stencil.device).name == "test GPU");
  CHECK(profile.devices.at(support::find(profile, {"host", "filter"}).device).name == "test FPGA");
  CHECK(stencil.attributes.at("bytes").sum == 500);
  const adaptyst::device_usage& busy = usage(profile, "test GPU");
  CHECK(busy.kind == "gpu");
  CHECK(*busy.busy_ns == stencil.total_ns);
  CHECK(*busy.busy_ns + *busy.idle_ns() == busy.observed_ns);
  CHECK(*busy.utilisation() > 0);
  CHECK(usage(profile, "test FPGA").index == 3);
  CHECK(profile.devices.front().kind == "cpu");
}

TEST_CASE("work that starts as soon as it is submitted is not taken for work from the past") {
  adaptyst::collector collector(support::options());
  for (int i = 0; i != 20000; ++i) {
    adaptyst::operation one = adaptyst::submit("at once", gpu, 0, adaptyst::operation_kind::kernel);
    const std::uint64_t started = adaptyst::now_ns();
    one.complete(started, adaptyst::now_ns());
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
  CHECK(upload.kind == "copy_to");
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
  CHECK(support::lost(profile, "bad_times") == 1);
  CHECK(profile.accounting.open == 0);
}
