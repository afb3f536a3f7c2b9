// A made-up device, for docs/adding-a-device.md: SIMULATED. It computes nothing, and takes time as a real one would.
//
// It has queues, which run at the same time; a clock of its own, which began at another moment and runs 80 millionths too
// fast; and it tells that work is done from a thread of its own, not in the order in which it was handed over.
#ifndef FAKE_DEVICE_HPP
#define FAKE_DEVICE_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace fake {

// By the device's clock, in nanoseconds.
struct times {
  std::uint64_t started, ended;
};

class device {
 public:
  device() : worker_([this] { work(); }) {}
  ~device() {
    finish();
    {
      const std::lock_guard<std::mutex> held(lock_);
      ends_ = true;
    }
    worker_.join();
  }
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  // What its clock says.
  std::uint64_t clock() const {
    return static_cast<std::uint64_t>(static_cast<double>(host_ns()) * (1 + 80e-6)) + 3'000'000'000U;
  }

  // Work of a length for one of its queues; `done` is called when it has ended, on another thread.
  void enqueue(unsigned queue, std::chrono::nanoseconds length, std::function<void(times)> done) {
    constexpr std::uint64_t launch_ns = 20'000;
    const std::lock_guard<std::mutex> held(lock_);
    std::uint64_t& free = free_from_[queue];
    free = std::max(free, clock() + launch_ns);
    const times then{free, free + static_cast<std::uint64_t>(length.count())};
    free = then.ended;
    running_.push_back({then, std::move(done)});
  }

  // Waits until all of it is done, and reported.
  void finish() {
    for (;; std::this_thread::sleep_for(std::chrono::microseconds(200))) {
      const std::lock_guard<std::mutex> held(lock_);
      if (running_.empty() && reporting_ == 0) return;
    }
  }

 private:
  struct command {
    times when;
    std::function<void(times)> done;
  };

  static std::uint64_t host_ns() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
  }

  // Looks around from time to time, and tells what it finds done from the newest to the oldest.
  void work() {
    for (;; std::this_thread::sleep_for(std::chrono::microseconds(500))) {
      std::vector<command> done;
      {
        const std::lock_guard<std::mutex> held(lock_);
        if (ends_) return;
        for (std::size_t at = running_.size(); at-- != 0;) {
          if (running_[at].when.ended > clock()) continue;
          done.push_back(std::move(running_[at]));
          running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
        }
        reporting_ = done.size();
      }
      for (const command& each : done) each.done(each.when);
      const std::lock_guard<std::mutex> held(lock_);
      reporting_ = 0;
    }
  }

  std::mutex lock_;
  std::map<unsigned, std::uint64_t> free_from_;
  std::vector<command> running_;
  std::size_t reporting_ = 0;
  bool ends_ = false;
  std::thread worker_;
};

}  // namespace fake

#endif
