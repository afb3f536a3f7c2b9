// From a process's device activity buffer to what the profile says of its devices. The state is made for the purpose;
// no marker runs.
#include <adaptyst/detail/device_id.hpp>
#include <unistd.h>

#include <memory>

#include "catch.hpp"
#include "recorder/device_reader.hpp"
#include "recorder/other_memory.hpp"
#include "sanitized.hpp"

namespace {

namespace detail = adaptyst::detail;
using adaptyst::lib::read_devices;
using detail::device_work;

constexpr std::uint64_t epoch = 1;  // of a state that has just been made

struct unmaker {
  void operator()(detail::process* made) const { detail::unmake_process(made); }
};

class made_process {
 public:
  made_process() : state_(detail::make_process()) { REQUIRE(state_ != nullptr); }
  detail::process& operator*() const { return *state_; }
  adaptyst::lib::process_state state() const {
    return {&adaptyst::lib::own_memory(), reinterpret_cast<std::uint64_t>(state_->store), {}};
  }

  std::uint32_t device(std::uint32_t kind, std::uint32_t index, const char (&name)[5]) {
    char padded[detail::device_name_bytes] = {};
    std::copy(std::begin(name), std::end(name), padded);
    const std::uint32_t id = detail::find_device(*state_, kind, index, padded);
    REQUIRE(id >= 1);
    REQUIRE(id <= detail::max_devices);
    return id;
  }

  void book(std::uint32_t on, device_work what, std::uint64_t begin, std::uint64_t end, std::uint64_t submitted = 0) {
    REQUIRE(detail::book_entry(*state_->store, epoch, place_, {begin, end, submitted, 0, on, what}));
  }
  // What has been swept.
  detail::activity_sums& sums() const {
    detail::device_activity_buffer& all = state_->store->activity;
    if (all.sweep_buffer == nullptr)
      all.sweep_buffer =
          static_cast<detail::sweep_memory*>(state_->store->allocate_pages(sizeof(detail::sweep_memory)));
    REQUIRE(all.sweep_buffer != nullptr);
    return all.sweep_buffer->sums[all.commits & 1];
  }

 private:
  std::unique_ptr<detail::process, unmaker> state_;
  detail::activity_place place_{};
};

}  // namespace

TEST_CASE("the host's CPU is the first device, busy with its share of the process's time") {
  const made_process in;
  const adaptyst::lib::device_list list = read_devices(in.state(), 5000, 1000, 100);
  REQUIRE(list.devices.size() == 1);
  REQUIRE(list.index == std::vector<std::uint32_t>{0});
  const adaptyst::device_usage& cpu = list.devices[0];
  CHECK(cpu.kind == adaptyst::device_kind::cpu);
  CHECK(cpu.observed_ns == 1000);
  CHECK(cpu.busy_ns == 100U);
  CHECK_FALSE(cpu.kernel_ns.has_value());
  CHECK_FALSE(cpu.queue_wait.has_value());
  CHECK_FALSE(list.offload.waited_ns.has_value());
  CHECK_FALSE(list.offload.busy_ns.has_value());
}

TEST_CASE("the times of a device add up") {
  made_process in;
  const std::uint32_t gpu = in.device(1, 7, "H200");
  in.book(gpu, device_work::kernel, 1100, 1200, 1050);
  in.book(gpu, device_work::copy, 1150, 1300, 1140);
  in.book(gpu, device_work::other, 1300, 1310, 1300);
  in.book(0, device_work::wait_begin, 1180, 1180);
  in.book(0, device_work::wait_end, 1250, 1250);
  (*in).store->activity.skipped = 2;
  const adaptyst::lib::device_list list = read_devices(in.state(), 2000, 1000, 0);
  REQUIRE(list.devices.size() == 2);
  const adaptyst::device_usage& read = list.devices[1];
  CHECK(read.kind == adaptyst::device_kind::gpu);
  CHECK(read.index == 7);
  CHECK(read.name == "H200");
  CHECK(read.operations == 3);
  CHECK(read.busy_ns == 210U);
  CHECK(read.kernel_ns == 100U);
  CHECK(read.copy_ns == 150U);
  CHECK(read.exposed_copy_ns == 100U);
  CHECK(read.other_ns() == 10U);
  CHECK(read.work_ns == 260U);
  CHECK(read.launch_idle_ns == 50U);
  CHECK(read.starved_ns() == 740U);
  CHECK(read.unused_ns == 50U);  // the observation began at 1000
  CHECK(read.host_waiting_ns == 70U);
  REQUIRE(read.queue_wait.has_value());
  CHECK(read.queue_wait->total_ns == 60);
  CHECK(read.launch_latency->total_ns == 50);
  CHECK(read.skipped == 2);
  CHECK(read.idle_ns() == 790U);
  CHECK(read.utilisation() == 0.21);
  CHECK(*read.busy_ns + *read.launch_idle_ns + *read.starved_ns() == read.observed_ns);
  CHECK(list.offload.waited_ns == 70U);
  CHECK(list.offload.busy_ns == 210U);
}

TEST_CASE("a new collector finds the devices, and nothing that they did before") {
  made_process in;
  const std::uint32_t gpu = in.device(1, 0, "over");
  in.book(gpu, device_work::kernel, 100, 200);
  (*in).store->head.epoch = 2;
  const adaptyst::lib::device_list list = read_devices(in.state(), 2000, 1000, 0);
  REQUIRE(list.devices.size() == 2);
  CHECK(list.devices[1].busy_ns == 0U);
  CHECK(list.devices[1].operations == 0);
  CHECK(list.devices[1].unused_ns == 1000U);
  // Nor does what an old one's thread still books enter the new account.
  in.book(gpu, device_work::kernel, 300, 400);
  CHECK(read_devices(in.state(), 2000, 1000, 0).devices.at(1).operations == 0);
}

namespace {

// As an observer sees it: what it reads is a copy, in which no thread begins anew.
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

}  // namespace

TEST_CASE("what a device did for an earlier collector is none of an observer's") {
  made_process in;
  const std::uint32_t gpu = in.device(1, 0, "over");
  in.book(gpu, device_work::kernel, 1000, 1200);
  const seen_from_outside memory;
  adaptyst::lib::process_state state = in.state();
  state.in = &memory;
  CHECK(read_devices(state, 2000, 1000, 0).devices.at(1).busy_ns == 200U);
  (*in).store->head.epoch = 2;
  CHECK(read_devices(state, 2000, 1000, 0).devices.at(1).busy_ns == 0U);
  CHECK(read_devices(state, 2000, 1000, 0).devices.at(1).operations == 0);
}

TEST_CASE("a wait that has not ended lasts until now") {
  made_process in;
  const std::uint32_t gpu = in.device(1, 0, "open");
  in.book(gpu, device_work::kernel, 1000, 1500);
  in.book(0, device_work::wait_begin, 1100, 1100);
  const adaptyst::lib::device_list list = read_devices(in.state(), 1600, 2000, 0);
  CHECK(list.offload.waited_ns == 500U);
  CHECK(list.devices.at(1).host_waiting_ns == 400U);
}

TEST_CASE("a device activity buffer with any content does no harm") {
  made_process in;
  in.book(in.device(1, 0, "liar"), device_work::kernel, 100, 200);
  detail::device_activity_buffer& activity = (*in).store->activity;
  detail::activity_chunk* const chunk = activity.chunks[0];
  static_cast<void>(in.sums());
  detail::sweep_memory* const sweep_buffer = activity.sweep_buffer;
  const detail::device_entry honest = activity.devices[0];
  const adaptyst::lib::other_memory outside(getpid(), false);  // where addresses may lead nowhere
  adaptyst::lib::process_state state = in.state();
  state.in = &outside;
  const auto fill = [](void* what, std::size_t bytes, unsigned value) {
    auto* const bytes_read = static_cast<unsigned char*>(what);
    for (std::size_t at = 0; at != bytes; ++at)
      bytes_read[at] = static_cast<unsigned char>(value + 7 * at * (value % 3));
  };
  // A quarter of the rounds has each remainder by 3 and by 4.
  for (unsigned value = 1; value != 1 + 5 * random_rounds(51U); value += 5) {
    fill(&activity, sizeof activity, value);
    fill(chunk, sizeof *chunk, value);
    fill(sweep_buffer, sizeof sweep_buffer->sums, value);
    activity.epoch = epoch;
    if (value % 3 != 0) activity.sweep_buffer = sweep_buffer;
    activity.devices[0] = honest;
    activity.devices[1].state = 0;
    if (value % 4 != 0)
      for (detail::activity_chunk*& slot : activity.chunks) slot = chunk;
    if (value % 2 != 0)
      for (detail::activity_block& block : chunk->blocks) block.epoch = epoch;
    CHECK(read_devices(state, 1600, 2000, 0).devices.size() == 2);
  }
}

TEST_CASE("payloads of a device's regions are its amounts") {
  std::vector<adaptyst::device_usage> devices(2);
  devices[1].kernel_ns = 50;
  std::vector<adaptyst::region> rows(4);
  using kind = adaptyst::region_kind;
  const kind kinds[] = {kind::copy_to, kind::copy_from, kind::kernel, kind::copy_to};
  for (std::size_t at = 0; at != rows.size(); ++at) {
    rows[at].kind = kinds[at];
    rows[at].device = at == 3 ? 9 : 1;  // the last one's is unknown
    rows[at].total_ns = 100;
    rows[at].attributes["bytes"] = {1, 1000, 1000, 1000};
    rows[at].attributes["flops"] = {1, 2000, 2000, 2000};
  }
  adaptyst::lib::add_amounts(devices, rows);
  CHECK_FALSE(devices[0].to_device.has_value());
  REQUIRE(devices[1].to_device.has_value());
  CHECK(devices[1].to_device->sum == 1000);
  CHECK(devices[1].to_device->per_second() == 1e10);
  CHECK(devices[1].from_device->per_second() == 1e10);
  CHECK(devices[1].flops->per_second() == 4e10);
}

TEST_CASE("there is room for 63 devices, each once") {
  made_process in;
  char name[detail::device_name_bytes] = "d";
  for (std::uint32_t index = 0; index != detail::max_devices; ++index)
    for (int twice = 0; twice != 2; ++twice) REQUIRE(detail::find_device(*in, 1, index, name) == index + 1);
  CHECK(detail::find_device(*in, 1, 63, name) == detail::max_devices + 1);
  CHECK(detail::find_device(*in, 2, 0, name) == detail::max_devices + 1);
  CHECK(detail::find_device(*in, 1, 62, name) == detail::max_devices);
  CHECK(read_devices(in.state(), 1, 1, 1).devices.size() == 1 + detail::max_devices);
}

TEST_CASE("utilisation is a fraction, and absent where nothing was observed") {
  adaptyst::device_usage usage;
  CHECK_FALSE(usage.idle_ns().has_value());
  CHECK_FALSE(usage.utilisation().has_value());
  usage.busy_ns = 10;
  CHECK_FALSE(usage.utilisation().has_value());
  usage.observed_ns = 5;  // a device is read a moment after the clock
  CHECK(usage.utilisation() == 1.0);
  CHECK(usage.idle_ns() == 0U);
}

TEST_CASE("where it is not known what the host waited for, or what ran at once, nothing is told") {
  made_process in;
  const std::uint32_t gpu = in.device(1, 0, "late");
  in.book(gpu, device_work::kernel, 1100, 1200);
  CHECK(read_devices(in.state(), 2000, 1000, 0).devices.at(1).host_waiting_ns == 0U);
  in.sums().device_count = 1;
  in.sums().devices[0].unplaced = 1;
  CHECK_FALSE(read_devices(in.state(), 2000, 1000, 0).devices.at(1).host_waiting_ns.has_value());
  CHECK(read_devices(in.state(), 2000, 1000, 0).offload.busy_ns == 100U);
  in.sums().unplaced = 1;
  CHECK_FALSE(read_devices(in.state(), 2000, 1000, 0).offload.busy_ns.has_value());
}
