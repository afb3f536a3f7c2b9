// A second device for machines that have none: a worker thread with a queue, for whatever is handed to it.
//
// It behaves like the real thing where that matters to a program: work is submitted and done later, in order; the host
// goes on meanwhile and waits when it needs the result; data is copied to the device's own memory and back. All that it
// does is told to adaptyst as operations of this device.
#ifndef SHALLOW_WATER_ACCELERATOR_HPP
#define SHALLOW_WATER_ACCELERATOR_HPP

#include <adaptyst/offload.hpp>
#include <adaptyst/operation.hpp>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

namespace shallow_water {

// What work amounts to, for the report: the rates are made of it.
struct transfer {
  std::uint64_t bytes;
};
struct load {
  std::uint64_t bytes;
  double flops;
};

class accelerator {
 public:
  accelerator();
  ~accelerator();  // after all that was submitted
  accelerator(const accelerator&) = delete;
  accelerator& operator=(const accelerator&) = delete;

  // These return at once. `work` must not throw, and what it refers to must live until wait() returns.
  void copy_to(const char* name, const transfer& amount, std::function<void()> work);
  void copy_from(const char* name, const transfer& amount, std::function<void()> work);
  void kernel(const char* name, const load& amount, std::function<void()> work);

  // The same without an operation of its own, for use within ADAPTYST_OFFLOAD.
  void untold(std::function<void()> work);

  // Until all that was submitted is done.
  void wait();

  const adaptyst::device& device() const { return device_; }

 private:
  struct task {
    std::function<void()> work;
    adaptyst::operation tracked;
  };

  void push(std::function<void()> work, adaptyst::operation operation);
  void serve();

  adaptyst::device device_{adaptyst::device_kind::accelerator, 0, "worker thread (simulated accelerator)"};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<task> queue_;  // the task being done stays at its head
  bool closing_ = false;
  std::thread worker_;
};

}  // namespace shallow_water

#endif
