// <adaptyst/cuda.hpp> on a stub of the CUDA runtime, whose device has a clock of its own.
#include <adaptyst/adaptyst.hpp>
#include <adaptyst/cuda.hpp>

#include <chrono>
#include <thread>
#include <vector>

#include "collecting.hpp"
#include "cudart_stub.hpp"

namespace {

using adaptyst::operation_kind;
using clock_of_test = std::chrono::steady_clock;

cudaStream_t new_stream() {
  cudaStream_t made = nullptr;
  cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
  return made;
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

const adaptyst::device_usage& gpu(const adaptyst::profile& in, std::uint32_t index = 0) {
  for (const adaptyst::device_usage& device : in.devices)
    if (device.kind == adaptyst::device_kind::gpu && device.index == index) return device;
  FAIL("no GPU " << index);
  return in.devices.front();
}

adaptyst::profile stop(adaptyst::collector& collector) {
  adaptyst::profile all = collector.stop();
  support::check_account(all);
  return all;
}

}  // namespace

TEST_CASE("while nothing listens, the runtime is not called") {
  const cudaStream_t stream = new_stream();
  const std::uint64_t before = cudart_stub::calls();
  adaptyst::cuda::tracked t = adaptyst::cuda::track("idle", stream);
  CHECK_FALSE(t);
  t.end();
  adaptyst::cuda::collect();
  CHECK(cudart_stub::calls() == before);
}

TEST_CASE("work is booked where it was tracked, for as long as it took on the device") {
  const cudaStream_t stream = new_stream();
  adaptyst::collector collector(support::options());
  for (int step = 0; step != 20; ++step) {
    {
      ADAPTYST_REGION("step");
      adaptyst::cuda::tracked t =
          adaptyst::cuda::track("stencil", stream, operation_kind::kernel, adaptyst::work{1000, 2000});
      cudart_stub::launch(stream, 2'000'000);
      t.end();
      t.end();
      CHECK_FALSE(t);
    }
    sleep_ms(5);
  }
  adaptyst::cuda::collect();
  const adaptyst::profile profile = stop(collector);
  const adaptyst::region& stencil = support::find(profile, {"step", "stencil"});
  CHECK(stencil.count == 20);
  CHECK(stencil.kind == adaptyst::region_kind::kernel);
  CHECK(stencil.attributes.at("bytes").sum == 20'000);
  CHECK(stencil.attributes.at("flops").sum == 40'000);
  // The stub's launch latency, 5 us less the events' own 2 us, lies between the events.
  CHECK(stencil.min_ns > 1'998'000);
  // Half of the times: of the others, this thread may have been away between a call and the next.
  CHECK(static_cast<double>(*stencil.quantile_ns(0.5)) == Approx(2'003'000).epsilon(0.05));
  const adaptyst::device_usage& device = gpu(profile);
  CHECK(device.name == "stub of a GPU 0000:1B:00.0");
  REQUIRE(device.clock.has_value());
  CHECK(device.clock->clock == adaptyst::clock_id::device);
  CHECK(device.clock->sync_points >= 2);
  CHECK(device.clock->drift_ppm == Approx(-200).margin(150));
  CHECK(*device.queue_wait->durations.quantile(0.5) < 200'000);
  CHECK(profile.accounting.lost.empty());
}

TEST_CASE("a program that is done before the clock could be compared twice waits for that once") {
  const cudaStream_t stream = new_stream();
  cudart_stub::use_device(1);  // that has not been used yet
  adaptyst::collector collector(support::options());
  {
    const adaptyst::cuda::tracked t = adaptyst::cuda::track("short", stream);  // ends with its scope
    cudart_stub::launch(stream, 100'000);
  }
  sleep_ms(1);
  const auto begin = clock_of_test::now();
  adaptyst::cuda::collect();
  CHECK(clock_of_test::now() - begin > std::chrono::milliseconds(10));
  bool waits_again = true;
  for (int at = 0; at != 20 && waits_again; ++at) {
    const auto again = clock_of_test::now();
    adaptyst::cuda::collect();
    waits_again = clock_of_test::now() - again > std::chrono::milliseconds(10);
  }
  CHECK_FALSE(waits_again);
  cudart_stub::use_device(0);
  const adaptyst::profile profile = stop(collector);
  CHECK(support::find(profile, {"short"}).count == 1);
  CHECK(gpu(profile, 1).name == "stub of a GPU 0000:1C:00.0");
}

TEST_CASE("two streams at once keep the device busy once") {
  const cudaStream_t streams[] = {new_stream(), new_stream()};
  adaptyst::collector collector(support::options());
  for (const cudaStream_t stream : streams) {
    const adaptyst::cuda::tracked t = adaptyst::cuda::track("half", stream);
    cudart_stub::launch(stream, 200'000'000);
  }
  sleep_ms(250);
  adaptyst::cuda::collect();
  const adaptyst::profile profile = stop(collector);
  CHECK(support::find(profile, {"half"}).total_ns > 390'000'000);
  CHECK(*gpu(profile).busy_ns < 300'000'000);
  CHECK(gpu(profile).queues == 2);
}

TEST_CASE("nothing waits for a device that is busy") {
  const cudaStream_t busy = new_stream();
  const cudaStream_t other = new_stream();
  adaptyst::collector collector(support::options());
  adaptyst::cuda::tracked slow = adaptyst::cuda::track("slow", busy);
  cudart_stub::launch(busy, 60'000'000'000);
  slow.end();
  const auto begin = clock_of_test::now();
  for (int step = 0; step != 100; ++step) {
    adaptyst::cuda::tracked t = adaptyst::cuda::track("quick", other);
    cudart_stub::launch(other, 1000);
  }
  adaptyst::cuda::collect();
  CHECK(clock_of_test::now() - begin < std::chrono::seconds(2));
  sleep_ms(2);
  adaptyst::cuda::collect();
  const adaptyst::profile profile = stop(collector);
  CHECK(support::find(profile, {"quick"}).count == 100);
  CHECK(profile.accounting.open == 1);
}

TEST_CASE("a lost device is counted, and only that") {
  const cudaStream_t stream = new_stream();
  adaptyst::collector collector(support::options());
  for (int step = 0; step != 3; ++step) {
    const adaptyst::cuda::tracked t = adaptyst::cuda::track("lost", stream);
    cudart_stub::launch(stream, 1'000'000'000);
  }
  adaptyst::cuda::tracked open = adaptyst::cuda::track("lost", stream);
  cudart_stub::lose_devices(true);
  open.end();
  adaptyst::cuda::tracked late = adaptyst::cuda::track("lost", stream);
  CHECK_FALSE(late);
  adaptyst::cuda::collect();
  cudart_stub::lose_devices(false);
  const adaptyst::profile profile = stop(collector);
  CHECK(support::lost(profile, adaptyst::loss_reason::device_lost) == 5);
  CHECK(profile.accounting.open == 0);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("errors are the program's own: ours do not show, and its stay") {
  const cudaStream_t stream = new_stream();
  adaptyst::collector collector(support::options());
  {
    const adaptyst::cuda::tracked t = adaptyst::cuda::track("pending", stream);
    cudart_stub::launch(stream, 50'000'000);
  }
  adaptyst::cuda::collect();  // asks, and is told: not ready
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  cudart_stub::set_last_error(cudaErrorLaunchFailure);
  adaptyst::cuda::tracked t = adaptyst::cuda::track("after an error", stream);
  CHECK_FALSE(t);
  adaptyst::cuda::collect();
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  sleep_ms(60);
  adaptyst::cuda::collect();
  const adaptyst::profile profile = stop(collector);
  CHECK(support::find(profile, {"pending"}).count == 1);
  CHECK(support::lost(profile, adaptyst::loss_reason::device_lost) == 1);
}

TEST_CASE("a stream that is captured into a graph is left alone, and other threads' captures too") {
  const cudaStream_t captured = new_stream();
  const cudaStream_t other = new_stream();
  adaptyst::collector collector(support::options());
  cudart_stub::capture(captured, true);
  adaptyst::cuda::tracked t = adaptyst::cuda::track("captured", captured);
  CHECK_FALSE(t);
  {
    const adaptyst::cuda::tracked u = adaptyst::cuda::track("beside", other);
    CHECK(u);
    cudart_stub::launch(other, 1000);
  }
  sleep_ms(1);
  adaptyst::cuda::collect();
  cudart_stub::capture(captured, false);
  const adaptyst::profile profile = stop(collector);
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) == 1);
  CHECK(support::find(profile, {"beside"}).count == 1);
}

TEST_CASE("so many in flight and no more") {
  const cudaStream_t stream = new_stream();
  adaptyst::collector collector(support::options());
  cudart_stub::hold_devices(true);
  for (int at = 0; at != 6000; ++at) const adaptyst::cuda::tracked t = adaptyst::cuda::track("work", stream);
  cudart_stub::hold_devices(false);
  sleep_ms(1);
  adaptyst::cuda::collect();
  const adaptyst::profile profile = stop(collector);
  // Of what other tests have left in flight, one may still be.
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) >= 6000 - 4096);
  CHECK(support::lost(profile, adaptyst::loss_reason::no_times) <= 6000 - 4096 + 8);
  CHECK(profile.accounting.open == 0);
}

TEST_CASE("threads may track at once") {
  adaptyst::collector collector(support::options());
  std::vector<std::thread> threads;
  for (int thread = 0; thread != 4; ++thread) {
    threads.emplace_back([] {
      const cudaStream_t stream = new_stream();
      for (int at = 0; at != 500; ++at) {
        ADAPTYST_REGION("worker");
        const adaptyst::cuda::tracked t = adaptyst::cuda::track("piece", stream);
        cudart_stub::launch(stream, 1000);
        if (at % 100 == 99) adaptyst::cuda::collect();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  sleep_ms(10);
  adaptyst::cuda::collect();
  const adaptyst::profile profile = stop(collector);
  CHECK(support::find(profile, {"worker", "piece"}).count == 2000);
  CHECK(profile.accounting.lost.empty());
  CHECK(profile.accounting.open == 0);
}
