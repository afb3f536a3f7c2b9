// Threads of this library: the stack, the name and the signals of each.
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <dlfcn.h>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "threads.hpp"

namespace adaptyst::lib {

namespace {

// A heap adapter in this program must not count the allocations of this library's threads.
void leave_heap_uncounted() {
  if (void* const found = dlsym(RTLD_DEFAULT, "adaptyst_heap_exclude_thread")) reinterpret_cast<void (*)()>(found)();
}

std::array<std::atomic<pid_t>, 64> library_threads{};

// A thread of this library, in its work.
class library_thread {
 public:
  library_thread() noexcept {
    leave_heap_uncounted();
    const pid_t number = gettid();
    for (std::atomic<pid_t>& place : library_threads)
      if (pid_t free = 0; place.compare_exchange_strong(free, number)) {
        mine_ = &place;
        return;
      }
  }
  ~library_thread() {
    if (mine_ != nullptr) mine_->store(0);
  }
  library_thread(const library_thread&) = delete;
  library_thread& operator=(const library_thread&) = delete;

 private:
  std::atomic<pid_t>* mine_ = nullptr;
};

}  // namespace

bool is_library_thread(pid_t thread) noexcept {
  return std::any_of(library_threads.begin(), library_threads.end(),
                     [&](const std::atomic<pid_t>& place) { return place.load(std::memory_order_relaxed) == thread; });
}

void run_on_thread(const std::function<void()>& work, heap_room room) {
  std::exception_ptr thrown;
  std::thread worker;
  try {
    const all_signals_blocked meanwhile;  // the thread inherits the signal mask
    worker = std::thread([&] {
      const library_thread listed;
      const heap_reserve reserve(room);
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  } catch (const std::system_error&) {  // no further thread
  }
  if (worker.joinable()) worker.join();
  else work();
  if (thrown) std::rethrow_exception(thrown);
}

struct periodic::state {
  std::mutex mutex;
  std::condition_variable ends;
  bool ending = false;
  std::thread thread;
};

periodic::periodic(std::chrono::milliseconds interval, std::function<void()> work)
    : process_(getpid()), state_(std::make_unique<state>()) {
  const all_signals_blocked meanwhile;  // the thread inherits the signal mask
  state_->thread = std::thread([interval, work = std::move(work), &in = *state_] {
    pthread_setname_np(pthread_self(), "adaptyst");
    const library_thread listed;
    const heap_reserve room;
    std::unique_lock lock(in.mutex);
    while (!in.ends.wait_for(lock, interval, [&in] { return in.ending; })) {
      lock.unlock();
      work();
      lock.lock();
    }
  });
}

periodic::~periodic() {
  if (process_ != getpid()) {
    // Never freed: in this child, another thread may have its thread's number, and the thread that held the mutex does
    // not exist, so the mutex would never be released.
    static_cast<void>(state_.release());
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->ends.notify_all();
  state_->thread.join();
}

}  // namespace adaptyst::lib
