// Threads of this library: the stack, the name and the signals of each.
#include <adaptyst/detail/clock.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <dlfcn.h>
#include <exception>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "threads.hpp"

namespace adaptyst::lib {

namespace {

// A heap adapter in this program must not count the allocations of this library's threads. Searched by the thread that
// starts them: in a constructor of a library, this thread has the loader's lock.
using thread_call = void (*)();
thread_call find_heap_exclusion() {
  return reinterpret_cast<thread_call>(dlsym(RTLD_DEFAULT, "adaptyst_heap_exclude_thread"));
}

constexpr std::uint64_t still_runs = UINT64_MAX;

// Lock-free, because a forked child may inherit a lock that nothing opens.
struct listed_thread {
  std::atomic<pid_t> number{0};  // 0: free; -1: about to be written
  std::atomic<std::uint64_t> begun_ns{0}, ended_ns{0};
};
std::array<listed_thread, 64> library_threads;

// A free place, or that of the thread that ended first. Null: all threads run.
listed_thread* take_place() noexcept {
  for (int attempt = 0; attempt != 8; ++attempt) {
    listed_thread* const place =
        &*std::min_element(library_threads.begin(), library_threads.end(),
                           [](const listed_thread& a, const listed_thread& b) { return a.ended_ns < b.ended_ns; });
    pid_t before = place->number;
    if (place->ended_ns == still_runs) return nullptr;
    if (before != -1 && place->number.compare_exchange_strong(before, -1)) return place;
  }
  return nullptr;
}

// A thread of this library, in its work.
class library_thread {
 public:
  explicit library_thread(thread_call exclude_from_heap) noexcept : place_(take_place()) {
    if (exclude_from_heap != nullptr) exclude_from_heap();
    if (place_ == nullptr) return;
    place_->begun_ns = detail::monotonic_ns();
    place_->ended_ns = still_runs;
    place_->number = gettid();
  }
  ~library_thread() {
    if (place_ != nullptr) place_->ended_ns = detail::monotonic_ns();
  }
  library_thread(const library_thread&) = delete;
  library_thread& operator=(const library_thread&) = delete;

 private:
  listed_thread* const place_;
};

}  // namespace

bool is_library_thread(pid_t thread, std::uint64_t time_ns) noexcept {
  return std::any_of(library_threads.begin(), library_threads.end(), [&](const listed_thread& place) {
    return place.number == thread && place.begun_ns <= time_ns && time_ns <= place.ended_ns;
  });
}

std::thread start_thread(std::function<void()> work) {
  const all_signals_blocked meanwhile;  // the thread inherits the signal mask
  return std::thread([work = std::move(work), exclude_from_heap = find_heap_exclusion()] {
    const library_thread listed(exclude_from_heap);
    work();
  });
}

void run_on_thread(const std::function<void()>& work, heap_room room) {
  std::exception_ptr thrown;
  std::thread worker;
  try {
    worker = start_thread([&] {
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

periodic::periodic(std::chrono::milliseconds interval, std::function<void()> work, std::function<heap_room()> find_room)
    : process_(getpid()), state_(std::make_unique<state>()) {
  state_->thread = start_thread([interval, work = std::move(work), find_room = std::move(find_room), &in = *state_] {
    pthread_setname_np(pthread_self(), "adaptyst");
    heap_room room = find_room();
    std::optional<heap_reserve> reserve(room);
    std::unique_lock lock(in.mutex);
    while (!in.ends.wait_for(lock, interval, [&in] { return in.ending; })) {
      lock.unlock();
      if (const heap_room wanted = find_room(); wanted.bytes > room.bytes) {
        room = wanted;
        reserve.reset();
        reserve.emplace(room);
      }
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
