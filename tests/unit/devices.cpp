// From a device's unions to what the profile says of it. The state of a process is made for the purpose; no marker runs.
#include <sys/mman.h>

#include <adaptyst/detail/process.hpp>
#include <memory>
#include <type_traits>

#include "catch.hpp"
#include "record/device_reader.hpp"

namespace {

namespace detail = adaptyst::detail;

constexpr unsigned intervals_kept = std::extent_v<decltype(detail::device_entry::intervals::open)>;

struct unmapper {
  void operator()(detail::process* made) const { munmap(made, sizeof *made); }
};

class made_process {
 public:
  made_process() : state_(detail::make_process()) { REQUIRE(state_ != nullptr); }
  detail::process& operator*() const { return *state_; }
  adaptyst::lib::process_state state() const {
    return {&adaptyst::lib::own_memory(), reinterpret_cast<std::uint64_t>(state_.get()), {}};
  }

  detail::device_entry& device(std::uint32_t kind, std::uint32_t index, const char (&name)[5]) {
    char padded[detail::name_bytes_of_device] = {};
    std::copy(std::begin(name), std::end(name), padded);
    const std::uint32_t id = detail::find_device(*state_, kind, index, padded);
    REQUIRE(id >= 1);
    REQUIRE(id <= detail::most_devices);
    return state_->devices[id - 1];
  }

 private:
  std::unique_ptr<detail::process, unmapper> state_;
};

// As complete_operation() books them.
void book_kernel(detail::device_entry& on, std::uint64_t begin, std::uint64_t end) {
  on.busy.add(begin, end);
  on.kernels.add(begin, end);
  on.kernels_and_copies.add(begin, end);
}
void book_copy(detail::device_entry& on, std::uint64_t begin, std::uint64_t end) {
  on.busy.add(begin, end);
  on.copies.add(begin, end);
  on.kernels_and_copies.add(begin, end);
}

}  // namespace

TEST_CASE("the CPU is the first device, busy with its share of the process's time") {
  const made_process in;
  const adaptyst::lib::device_list list = adaptyst::lib::read_devices(in.state(), 1000, 100);
  REQUIRE(list.devices.size() == 1);
  REQUIRE(list.index == std::vector<std::uint32_t>{0});
  const adaptyst::device_usage& cpu = list.devices[0];
  CHECK(cpu.kind == "cpu");
  CHECK(cpu.observed_ns == 1000);
  REQUIRE(cpu.busy_ns.has_value());
  CHECK(*cpu.busy_ns <= 100);
  CHECK(*cpu.busy_ns > 0);
  CHECK_FALSE(cpu.kernel_ns.has_value());
  CHECK_FALSE(cpu.queue_wait_ns.has_value());
}

TEST_CASE("a device's times are those of its unions") {
  made_process in;
  detail::device_entry& gpu = in.device(1, 7, "H200");
  book_kernel(gpu, 100, 200);
  book_copy(gpu, 150, 300);
  gpu.queue_wait_ns = 17;
  gpu.skipped = 2;
  const adaptyst::lib::device_list list = adaptyst::lib::read_devices(in.state(), 1000, 0);
  REQUIRE(list.devices.size() == 2);
  const adaptyst::device_usage& read = list.devices[1];
  CHECK(read.kind == "gpu");
  CHECK(read.index == 7);
  CHECK(read.name == "H200");
  CHECK(read.busy_ns == 200U);
  CHECK(read.kernel_ns == 100U);
  CHECK(read.copy_ns == 150U);
  CHECK(read.exposed_copy_ns == 100U);
  CHECK(read.queue_wait_ns == 17U);
  CHECK(read.skipped == 2);
  CHECK(read.idle_ns() == 800U);
  CHECK(read.utilisation() == 0.2);

  adaptyst::lib::reset_devices(*in);
  const adaptyst::device_usage again = adaptyst::lib::read_devices(in.state(), 1000, 0).devices.at(1);
  CHECK(again.busy_ns == 0U);
  CHECK(again.queue_wait_ns == 0U);
  CHECK(again.skipped == 0);
}

TEST_CASE("what is late for one union and not for another still makes sense together") {
  made_process in;
  detail::device_entry& gpu = in.device(1, 0, "late");
  for (std::uint64_t i = 0; i != intervals_kept + 6; ++i) book_copy(gpu, 1000000 + 100 * i, 1000000 + 100 * i + 1);
  book_kernel(gpu, 0, 900000);  // before all that was folded, but not of its own kind
  const adaptyst::device_usage read = adaptyst::lib::read_devices(in.state(), 2000000, 0).devices.at(1);
  CHECK(read.late == 1);
  REQUIRE(read.exposed_copy_ns.has_value());
  CHECK(*read.exposed_copy_ns <= *read.copy_ns);
  CHECK(*read.kernel_ns <= *read.busy_ns);
}

TEST_CASE("what one union has merged and another has folded still makes sense together") {
  made_process in;
  detail::device_entry& gpu = in.device(1, 0, "fill");
  gpu.busy.add(1000000, 2000000);  // a fill, beside all of the copies: the device was busy in one go
  for (std::uint64_t i = 0; i != intervals_kept + 6; ++i) book_copy(gpu, 1000000 + 100 * i, 1000000 + 100 * i + 1);
  book_kernel(gpu, 0, 900000);  // too late beside the copies, in time for the others
  const adaptyst::device_usage read = adaptyst::lib::read_devices(in.state(), 2000000, 0).devices.at(1);
  CHECK(read.busy_ns == 1900000U);
  CHECK(read.kernel_ns == 900000U);
  CHECK(*read.exposed_copy_ns <= *read.copy_ns);
}

TEST_CASE("there is room for 63 devices, each once") {
  made_process in;
  char name[detail::name_bytes_of_device] = "d";
  for (std::uint32_t index = 0; index != detail::most_devices; ++index)
    for (int twice = 0; twice != 2; ++twice) REQUIRE(detail::find_device(*in, 1, index, name) == index + 1);
  CHECK(detail::find_device(*in, 1, 63, name) == detail::most_devices + 1);
  CHECK(detail::find_device(*in, 2, 0, name) == detail::most_devices + 1);
  CHECK(detail::find_device(*in, 1, 62, name) == detail::most_devices);
  CHECK(adaptyst::lib::read_devices(in.state(), 1, 1).devices.size() == 1 + detail::most_devices);
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
