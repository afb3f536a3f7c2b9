// Entry, life and end of libadaptyst-cuda.so.
//
// The driver calls InitializeInjection() of the library in CUDA_INJECTION64_PATH when a program first uses CUDA. If
// this library is preloaded, it sets that variable to itself. Programs without CUDA, such as shells and launchers,
// therefore never load CUPTI.
//
// CUPTI slows down the whole program: it is opened when a tool first attaches to the markers. Its records and callbacks
// are disabled when no tool is attached. A thread checks this ten times a second, and books finished work.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "calls.hpp"
#include "records.hpp"

namespace cuda_adapter { namespace {

constexpr cupti::activity kinds[] = {cupti::activity::concurrent_kernel, cupti::activity::memcpy,
                                     cupti::activity::peer_memcpy, cupti::activity::memset};

struct session {
  const pid_t process = getpid();
  std::mutex changing;               // protects listening_, and flushes
  std::atomic<bool> is_over{false};  // the program ends: calls no longer flush
  bool listening = false;
  bool failed = false;
  bool opened = false;
  bool initialising = true;  // the driver has called begin(), and no memory is allocated
  cupti::library library;
  calls launches_and_waits{library, [] { flush_now(); }};
  records done{library, launches_and_waits.launched()};

  static void flush_now() noexcept;

  // Returns the failure as text; empty: none.
  std::string open() noexcept;
  std::string start() noexcept;
  void follow() noexcept;
  void flush(std::uint32_t flags) noexcept;
};

session* the_session = nullptr;  // never freed: CUPTI's threads may call until the very end

// The thread with the lock may wait in CUPTI without end. Not timed_mutex: ThreadSanitizer does not know its way to
// wait.
bool lock_in_time(std::mutex& lock) noexcept {
  for (int tries = 0; tries != 2000; ++tries) {
    if (lock.try_lock()) return true;
    usleep(1000);
  }
  return false;
}

std::uint64_t monotonic() { return adaptyst::now_ns(); }
void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *max_records = 0;
  the_session->done.request(buffer, bytes);
}
void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  the_session->done.complete(buffer, valid_bytes);
}

void session::flush_now() noexcept {
  if (the_session->process != getpid() || the_session->is_over || !lock_in_time(the_session->changing)) return;
  the_session->flush(0);
  the_session->changing.unlock();
}

std::string session::open() noexcept {
  std::string missing = cupti::open(library);
  if (!missing.empty()) return missing;
  const auto failed_in = [&](const char* what, cupti::result how) {
    return std::string(what) + ": " + cupti::error_text(library, how) +
           (how == 39 ? "; another tool observes CUDA" : "; is there a driver, and a device?");
  };
  // First, since all records that are enabled earlier have times of the other clock.
  const bool ours = library.register_timestamp != nullptr && library.register_timestamp(monotonic) == cupti::success;
  done.set_clock(ours ? adaptyst::clock_id::monotonic : adaptyst::clock_id::realtime);
  if (const cupti::result how = library.register_buffers(request, complete); how != cupti::success)
    return failed_in("cuptiActivityRegisterCallbacks", how);
  if (const cupti::result how = launches_and_waits.subscribe(); how != cupti::success)
    return failed_in("cuptiSubscribe", how);
  opened = true;
  return {};
}

std::string session::start() noexcept {
  if (!opened)
    if (std::string why = open(); !why.empty()) return why;
  if (!initialising) launches_and_waits.memory().forget();
  launches_and_waits.listen(true);
  for (const cupti::activity kind : kinds) {
    const cupti::result how = library.enable(kind);
    if (how == cupti::success) continue;
    launches_and_waits.listen(false);
    return "cuptiActivityEnable: " + cupti::error_text(library, how) + "; is there a driver, and a device?";
  }
  listening = true;
  return {};
}

void session::flush(std::uint32_t flags) noexcept {
  if (!listening) return;
  library.flush_all(flags);
  done.book();
}

// Enables CUPTI while a tool is attached to the markers.
void session::follow() noexcept {
  if (failed) return;
  if (adaptyst::detail::is_enabled() == listening) return flush(0);
  if (listening) {
    flush(0);
    for (const cupti::activity kind : kinds) library.disable(kind);
    launches_and_waits.listen(false);
    listening = false;
    return;
  }
  const std::string why = start();
  failed = !why.empty();
  if (failed) std::fprintf(stderr, "adaptyst: CUDA is not observed: %s\n", why.c_str());
}

void* run(void*) {
  for (;;) {
    usleep(100'000);
    const std::lock_guard<std::mutex> changing(the_session->changing);
    if (the_session->listening) the_session->done.learn_devices();
    the_session->follow();
    if (the_session->listening) the_session->done.learn_devices();
    if (the_session->failed) return nullptr;
  }
}

void at_exit() {
  if (the_session->process != getpid()) return;  // a forked child has neither CUDA nor this thread
  // Also if the lock is not free in time: calls of the rest of the program's end must not wait for it again.
  the_session->is_over = true;
  the_session->launches_and_waits.memory().ignore_contexts();
  if (!lock_in_time(the_session->changing)) return;
  if (the_session->listening) the_session->done.learn_devices();
  the_session->flush(cupti::flush_forced);
  // The lock is never released, so that nothing happens during the rest of the program's end.
}

void begin() noexcept {
  the_session = new session;
  {
    const std::lock_guard<std::mutex> changing(the_session->changing);
    if (adaptyst::detail::is_enabled()) the_session->follow();
    the_session->initialising = false;
  }
  std::atexit(at_exit);
  // A thread that holds the lock of the memory at a fork does not exist in the child, which has no CUDA.
  pthread_atfork(nullptr, nullptr, [] { the_session->launches_and_waits.memory().close(); });
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // this library's thread takes no signals of the program
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, nullptr) == 0) {
    pthread_setname_np(thread, "adaptyst-cuda");
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

__attribute__((constructor)) void put_in_the_drivers_way() noexcept {
  Dl_info self{};
  char path[PATH_MAX];
  if (dladdr(reinterpret_cast<void*>(&begin), &self) != 0 && realpath(self.dli_fname, path) != nullptr)
    setenv("CUDA_INJECTION64_PATH", path, 0);
}

}}  // namespace cuda_adapter

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  static const bool once = (cuda_adapter::begin(), true);
  return once ? 1 : 0;
}
