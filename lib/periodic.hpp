// Calls a function every so often, on a thread of its own.
#ifndef ADAPTYST_LIB_PERIODIC_HPP
#define ADAPTYST_LIB_PERIODIC_HPP

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace adaptyst::lib {

class periodic {
 public:
  // `work` must not throw. The thread takes none of the program's signals. Throws std::system_error.
  periodic(std::chrono::milliseconds interval, std::function<void()> work);
  // Waits until the work under way is done. In a forked child, where there is no such thread, it only lets go.
  ~periodic();
  periodic(const periodic&) = delete;
  periodic& operator=(const periodic&) = delete;

 private:
  pid_t process_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace adaptyst::lib

#endif
