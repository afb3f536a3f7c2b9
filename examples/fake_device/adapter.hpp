// The adapter of docs/adding-a-device.md: what fake::device does, told to adaptyst.
#ifndef FAKE_DEVICE_ADAPTER_HPP
#define FAKE_DEVICE_ADAPTER_HPP

#include <adaptyst/adapter/device_clock.hpp>
#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>
#include <memory>
#include <mutex>

#include "fake_device.hpp"

// One for each device, for as long as the device is used.
class observed_device {
 public:
  explicit observed_device(fake::device& on) : on_(on) {
    synchronise();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    synchronise();
  }

  // Who it is: kind, number and name make the identity.
  // [identity]
  const adaptyst::device identity{adaptyst::device_kind::accelerator, 0, "SIMULATED device"};
  // [end]

  // Instead of on.enqueue(): the work belongs to the region in which this is called.
  // [enqueue]
  void enqueue(const char* name, unsigned queue, std::chrono::nanoseconds length, adaptyst::work amount) {
    adaptyst::operation operation = adaptyst::submit(name, identity, queue, adaptyst::operation_kind::kernel, amount);
    if (!operation) return on_.enqueue(queue, length, [](fake::times) {});  // nothing listens
    synchronise();
    // std::function wants a copy; an operation only moves.
    const auto kept = std::make_shared<adaptyst::operation>(std::move(operation));
    on_.enqueue(queue, length, [this, kept](fake::times when) { complete(*kept, when); });
  }
  // [end]

  // [wait]
  void finish() {
    ADAPTYST_WAIT("wait for the fake device");
    on_.finish();
    synchronise();
  }
  // [end]

 private:
  // [clock]
  // What its clock says, between two readings of ours: right to half of what lies between these, so the closest counts.
  void synchronise() {
    const std::lock_guard<std::mutex> held(lock_);
    if (adaptyst::now_ns() < next_sync_ns_) return;
    std::uint64_t there = 0, here = 0, least = ~std::uint64_t{0};
    for (int attempt = 0; attempt != 5; ++attempt) {
      const std::uint64_t before = adaptyst::now_ns();
      const std::uint64_t read = on_.clock();
      const std::uint64_t between = adaptyst::now_ns() - before;
      if (between < least) there = read, here = before + between / 2, least = between;
    }
    clock_.synchronise(there, here);
    adaptyst::report_clock(identity, clock_);
    next_sync_ns_ = clock_.sync_points() < 2 ? 0 : here + 10'000'000;
  }
  // [end]

  // [complete]
  // On the device's thread, in any order, long after the region has ended.
  void complete(adaptyst::operation& operation, fake::times when) {
    synchronise();
    const std::lock_guard<std::mutex> held(lock_);
    std::uint64_t started = 0;
    std::uint64_t ended = 0;
    if (clock_.to_monotonic(when.started, started) && clock_.to_monotonic(when.ended, ended)) {
      operation.complete(started, ended);
    } else {
      operation.abandon(adaptyst::operation_loss::unknown_clock);
    }
  }
  // [end]

  fake::device& on_;
  std::mutex lock_;  // a device_clock is for one thread
  adaptyst::device_clock clock_{adaptyst::clock_id::device};
  std::uint64_t next_sync_ns_ = 0;
};

#endif
