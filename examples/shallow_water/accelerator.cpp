// A device made of one thread, which does the work of a queue in its order and reports when each operation started and
// ended.
#include "accelerator.hpp"

#include <adaptyst/payload.hpp>

#include <time.h>

#include <utility>

namespace shallow_water {
namespace {

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

accelerator::accelerator() : worker_([this] { serve(); }) {}

accelerator::~accelerator() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void accelerator::copy_to(const char* name, const transfer& amount, std::function<void()> work) {
  push(std::move(work), adaptyst::submit(name, device_, this, adaptyst::operation_kind::copy_to, amount));
}

void accelerator::copy_from(const char* name, const transfer& amount, std::function<void()> work) {
  push(std::move(work), adaptyst::submit(name, device_, this, adaptyst::operation_kind::copy_from, amount));
}

void accelerator::kernel(const char* name, const load& amount, std::function<void()> work) {
  push(std::move(work), adaptyst::submit(name, device_, this, adaptyst::operation_kind::kernel, amount));
}

void accelerator::untold(std::function<void()> work) { push(std::move(work), {}); }

void accelerator::wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty(); });
}

void accelerator::push(std::function<void()> work, adaptyst::operation operation) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push({std::move(work), std::move(operation)});
  }
  changed_.notify_all();
}

void accelerator::serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || !queue_.empty(); });
    if (queue_.empty()) return;
    task& current = queue_.front();  // further ones may be pushed meanwhile: elements of a queue do not move
    lock.unlock();
    const std::uint64_t started = now_ns();
    current.work();
    current.tracked.complete(started, now_ns());
    lock.lock();
    queue_.pop();
    if (queue_.empty()) changed_.notify_all();
  }
}

}  // namespace shallow_water
